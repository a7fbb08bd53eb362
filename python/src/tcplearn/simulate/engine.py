# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The simulation program: where it is, what it is made of, and one run of it."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tcplearn.errors import FailedError
from tcplearn.jobs import children
from tcplearn.output import temporary

ROOT = Path(__file__).resolve().parents[4]
WEIGHTS = ROOT / "core" / "include" / "tcplearn" / "loss" / "mlp_models.h"
BUILD = ROOT / "build" / "ns3"
PROGRAM = "tcplearn-ns3"
NS3_HEADER = Path("/usr/include/ns3/version-defines.h")
#: Of a plan where ns-3 is not installed.
ASSUMED_NS3 = "3.37"
PACKAGES = "libns3-dev ns3 libgsl-dev libsqlite3-dev libxml2-dev nlohmann-json3-dev cmake ninja-build g++"

Json = dict[str, Any]


def program() -> Path:
    """The program, built on first use. TCPLEARN_NS3 names another."""
    named = os.environ.get("TCPLEARN_NS3")
    if named:
        return Path(named)
    if not (ROOT / "ns3" / "CMakeLists.txt").exists():
        raise FailedError("the simulation program comes with a checkout; set TCPLEARN_NS3 to where it is")
    return BUILD / PROGRAM


def build() -> None:
    """Builds the program where a source has changed. Of several processes one builds and the others wait.
    Raises FailedError."""
    if os.environ.get("TCPLEARN_NS3"):
        return
    program()
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build()


def _build() -> None:
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
def ns3_version() -> str:
    """Of the ns-3 that the program is built with."""
    try:
        found = re.findall(r"#define NS3_VERSION_(?:MAJOR|MINOR) (\d+)", NS3_HEADER.read_text())
    except OSError:
        return ASSUMED_NS3
    return ".".join(found)


@cache
def identity() -> str:
    """A hash of ns-3's version and of all the sources that every run depends on; where TCPLEARN_NS3 names
    a program, of that."""
    named = os.environ.get("TCPLEARN_NS3")
    if named:
        return hashlib.sha256(Path(named).read_bytes()).hexdigest()[:16]
    total = hashlib.sha256(f"ns-{ns3_version()}".encode())
    for folder in ("core/include", "core/src", "ns3/src"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".c", ".cc") and path != WEIGHTS:
                total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


@cache
def weights() -> str:
    """A hash of the trained weights, on which runs with a learned classifier of losses depend. They are in
    the program itself where TCPLEARN_NS3 names one."""
    if os.environ.get("TCPLEARN_NS3") or not WEIGHTS.exists():
        return ""
    return hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()[:16]


def simulate(document: Json) -> Json:
    """One run: {"flows": [...], "run": {...}} as the program wrote it, and "losses" where any are
    reported. Raises FailedError."""
    with temporary.folder() as folder:
        file = folder / "run.json"
        file.write_text(json.dumps(document))
        try:
            done = children.run([str(program()), "--with-parent", str(file)])
        except OSError as error:
            raise FailedError(f"{program()}: {error.strerror or error}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        raise FailedError(f"{how}: {last}")
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        out = {"flows": [x for x in lines if x["kind"] == "flow"], "run": lines[-1]}
        for losses in (x for x in lines if x["kind"] == "losses"):
            out["losses"] = losses
        return out
    except (ValueError, IndexError, KeyError) as error:
        raise FailedError("what it wrote is not its report") from error
