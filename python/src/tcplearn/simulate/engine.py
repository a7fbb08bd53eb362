# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The simulation program: where it is, what it is made of, and one run of it."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tcplearn import estimators
from tcplearn.errors import FailedError, UserError, printable
from tcplearn.scenario import link_trace
from tcplearn.simulate.scenario import Run

ROOT = Path(__file__).resolve().parents[4]
BUILD = ROOT / "build" / "ns3"
PROGRAM = "tcplearn-ns3"
PACKAGES = "libns3-dev ns3 libgsl-dev libsqlite3-dev libxml2-dev nlohmann-json3-dev cmake ninja-build g++"

#: ns-3's own estimator in our sockets: what `jacobson` is tested against.
STOCK = "ns3"

Json = dict[str, Any]


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tcplearn"


def program() -> Path:
    """The program, built on first use. TCPLEARN_NS3 names another."""
    named = os.environ.get("TCPLEARN_NS3")
    if named:
        return Path(named)
    if not (ROOT / "ns3" / "CMakeLists.txt").exists():
        raise FailedError("the simulation program comes with a checkout; set TCPLEARN_NS3 to where it is")
    return BUILD / PROGRAM


def build() -> None:
    if os.environ.get("TCPLEARN_NS3"):
        return
    program()
    if not shutil.which("cmake") or not shutil.which("ninja"):
        raise FailedError(f"the simulation program is not built: run `make ns3` (Debian: {PACKAGES})")
    configure = ["cmake", "-S", str(ROOT / "ns3"), "-B", str(BUILD), "-G", "Ninja"]
    steps = [["ninja", "-C", str(BUILD), PROGRAM]]
    if not (BUILD / "build.ninja").exists():
        steps.insert(0, configure)
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            log = BUILD / "build.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(done.stdout + done.stderr)
            raise FailedError(f"the simulation program does not build; see {log} (Debian: {PACKAGES})")


@cache
def identity() -> str:
    """A hash of all the sources that a run depends on; of the program itself where TCPLEARN_NS3 names one."""
    named = os.environ.get("TCPLEARN_NS3")
    if named:
        return hashlib.sha256(Path(named).read_bytes()).hexdigest()[:16]
    total = hashlib.sha256(b"ns-3.37")
    for folder in ("core/include", "core/src", "ns3/src"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".c", ".cc"):
                total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


@dataclass(frozen=True)
class Job:
    """A run as the program reads it, and the key that names its result."""

    key: str
    document: Json


def job(run: Run) -> Job:
    document = _document(run)
    known = json.loads(json.dumps(document))  # what the key is made of: contents, not paths
    known["estimator"].pop("command")
    if run.algorithm != STOCK:
        known["user_code"] = _user_code(run.algorithm)
    topology = known["topology"]
    if topology.get("trace"):
        topology["trace"] = hashlib.sha256(Path(topology["trace"]).read_bytes()).hexdigest()
    text = json.dumps([known, identity()], sort_keys=True)
    return Job(hashlib.sha256(text.encode()).hexdigest()[:24], document)


def _document(run: Run) -> Json:
    tree = run.scenario.model_dump()
    tree["tick_s"] = tree.pop("tick_ms") / 1000
    tree["load"] = {"flows": 0, "every_s": 0, **tree["load"]}
    if tree["topology"].get("trace"):
        tree["topology"]["trace"] = str(_plain_trace(run.file, Path(tree["topology"]["trace"])))
    sampling, _, quantum = run.timing.partition("/")
    tree["sampling"], tree["quantum_us"] = sampling, int(quantum.removesuffix("ms") or 0) * 1000
    tree["estimator"] = _estimator(run)
    tree["seed"] = run.seed
    return tree


def _estimator(run: Run) -> Json:
    if run.algorithm == STOCK:
        return {"name": STOCK, "params": {}, "arithmetic": "double", "command": ""}
    name, _, arithmetic = run.algorithm.partition("@")
    if arithmetic not in ("", "fixed"):
        raise UserError(
            f"{printable(run.file)}: {run.algorithm}: after @ only fixed is known, as jacobson@fixed"
        )
    try:
        spec = estimators.parse(name)
    except UserError as error:
        raise UserError(f"{printable(run.file)}: grid.algorithms: {error}") from None
    if spec.core:
        return {
            "name": spec.name,
            "params": dict(spec.params),
            "arithmetic": arithmetic or "double",
            "command": "",
        }
    command = f'"{sys.executable}" -m tcplearn.simulate.bridge "{spec.text}"'
    return {"name": "pipe", "params": {}, "arithmetic": "double", "command": command, "spec": spec.text}


def _user_code(algorithm: str) -> str:
    spec = estimators.parse(algorithm.partition("@")[0])
    if spec.core:
        return ""
    try:
        return inspect.getsource(type(estimators.create(spec).inner))  # type: ignore[union-attr]
    except (OSError, TypeError):
        return os.urandom(8).hex()  # not to be known: run each time


def _plain_trace(file: Path, trace: Path) -> Path:
    """Checked, and unpacked where it is gzipped."""
    try:
        data = link_trace.unpacked(trace)
        link_trace.times_ms(data)
    except ValueError as error:
        raise UserError(
            f"{printable(file)}: topology.trace: {printable(trace)}: {error}; give a Mahimahi link trace"
        ) from error
    if trace.suffix != ".gz":
        return trace
    out = cache_folder() / "links" / f"{hashlib.sha256(data).hexdigest()[:24]}.trace"
    if not out.exists():
        from tcplearn.output.files import write_atomically

        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, data)
    return out


_running: set[subprocess.Popen[str]] = set()


def stop() -> None:
    """Ends every run that this process began: an interrupted sweep leaves nothing behind."""
    for process in list(_running):
        process.kill()


def simulate(document: Json) -> Json:
    """One run: {"flows": [...], "run": {...}} as the program wrote it, or {"error": ...}."""
    with tempfile.TemporaryDirectory(prefix="tcplearn-") as folder:
        file = Path(folder) / "run.json"
        file.write_text(json.dumps(document))
        try:
            process = subprocess.Popen(
                [str(program()), "--with-parent", str(file)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            return {"error": f"{program()}: {error.strerror or error}"}
        _running.add(process)
        out, complaint = process.communicate()
        _running.discard(process)
    if process.returncode:
        last = (complaint.strip().splitlines() or ["no message"])[-1]
        how = f"signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        return {"error": f"{how}: {last}"}
    try:
        lines = [json.loads(line) for line in out.splitlines()]
        return {"flows": [x for x in lines if x["kind"] == "flow"], "run": lines[-1]}
    except (ValueError, IndexError, KeyError):
        return {"error": "what it wrote is not its report"}
