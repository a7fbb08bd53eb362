# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds, builds, identifies and runs the simulation program, which is written in C++ for ns-3."""

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

from tcplearn import debian
from tcplearn.checkout import IS_CHECKOUT, ROOT
from tcplearn.errors import FailedError
from tcplearn.jobs import children
from tcplearn.output import temporary
from tcplearn.output.files import cache_folder

WEIGHTS = ROOT / "core" / "include" / "tcplearn" / "loss" / "mlp_models.h"
BUILD = ROOT / "build" / "ns3"  # in a checkout
PROGRAM = "tcplearn-ns3"
ASSUMED_NS3 = "3.37"  # the version of ns-3 that a plan of runs assumes if ns-3 is not installed
NS3_HEADER = Path("/usr/include/ns3/version-defines.h")
PACKAGES = {  # as debian.need takes them
    "libns3-dev": str(NS3_HEADER),
    "ns3": "/usr/libexec/ns3",
    "libgsl-dev": "/usr/include/gsl/gsl_version.h",
    "libsqlite3-dev": "/usr/include/sqlite3.h",
    "libxml2-dev": "/usr/include/libxml2/libxml/xmlversion.h",
    "nlohmann-json3-dev": "/usr/include/nlohmann/json.hpp",
    "python3-dev": "/usr/include/python3.*/Python.h",  # libns3-dev's CMake files name that folder
    "cmake": "cmake",
    "ninja-build": "ninja",
    "g++": "g++",
}

Json = dict[str, Any]


@cache
def folder() -> Path:
    """Return the folder in which the simulation program is built. For an installed package it is in the
    cache, and its name is a hash of the sources and of their folder's path."""
    if IS_CHECKOUT:
        return BUILD
    key = hashlib.sha256(f"{identity()} {weights()} {ROOT}".encode()).hexdigest()[:16]
    return cache_folder("ns3") / key


def program() -> Path:
    """Return the path of the simulation program: the environment's TCPLEARN_NS3, or a file in `folder()`."""
    named = os.environ.get("TCPLEARN_NS3")
    return Path(named) if named else folder() / PROGRAM


def build() -> None:
    """Build the simulation program if a source has changed, in one process at a time. Raise FailedError."""
    if os.environ.get("TCPLEARN_NS3"):
        return
    if not shutil.which("cmake") or not shutil.which("ninja"):
        debian.need("the simulation program", PACKAGES)
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder() / "build.ninja").exists():
            _step("cmake", "-S", str(ROOT / "ns3"), "-B", str(folder()), "-G", "Ninja")
        _step("ninja", "-C", str(folder()), PROGRAM)


def _step(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        log = folder() / "build.log"
        log.write_text(done.stdout + done.stderr)
        packages = debian.missing(PACKAGES)
        hint = f"; {debian.command(packages)}" if packages else ""
        raise FailedError(f"the simulation program does not build; see {log}{hint}")


@cache
def ns3_version() -> str:
    try:
        found = re.findall(r"#define NS3_VERSION_(?:MAJOR|MINOR) (\d+)", NS3_HEADER.read_text())
    except OSError:
        return ASSUMED_NS3
    return ".".join(found)


@cache
def identity() -> str:
    """Return a hash of ns-3's version and of the simulation program's sources, or of the program that the
    environment variable TCPLEARN_NS3 names."""
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
    """Return a hash of the loss classifiers' weights; "" without them, or if TCPLEARN_NS3 names a program."""
    if os.environ.get("TCPLEARN_NS3") or not WEIGHTS.exists():
        return ""
    return hashlib.sha256(WEIGHTS.read_bytes()).hexdigest()[:16]


def simulate(document: Json) -> Json:
    """Simulate the run that `document` describes. Return {"flows": [...], "run": {...}}, and "losses" if the
    program recorded losses. Raise FailedError."""
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
        losses = {x["kind"]: x for x in lines if x["kind"] == "losses"}
        return {"flows": [x for x in lines if x["kind"] == "flow"], "run": lines[-1], **losses}
    except (ValueError, IndexError, KeyError) as error:
        raise FailedError("the output of the simulation program is not a report") from error
