# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compiles, loads, shows and unloads the BPF program that sets the first RTO of a cgroup's connections."""

import contextlib
import gzip
import os
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tcplearn.checkout import ROOT, output_of
from tcplearn.errors import UserError, printable
from tcplearn.output import temporary

SOURCE = ROOT / "linux" / "bpf" / "first_rto.bpf.c"
HEADERS = Path("/usr/include/bpf/bpf_helpers.h")
BTF = Path("/sys/kernel/btf/vmlinux")  # the types of the kernel, which the program's loader needs
PINS = Path("/sys/fs/bpf/tcplearn-first-rto")
NOTE = Path("/run/tcplearn-first-rto")  # the file with the name of the cgroup that uses the program
_MORE_PATH = "/usr/sbin:/sbin"  # the folders in which Debian installs bpftool
KEY = ("key", "0", "0", "0", "0")


def tool(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=_MORE_PATH)
    if not found:
        raise UserError(f"{name} is missing: apt-get install --no-install-recommends {name}, or make install")
    return found


def missing() -> str:
    """Return why the BPF program cannot be loaded on this machine, or "" if it can."""
    if os.geteuid() != 0:
        return "a cgroup's BPF program needs root"
    try:
        _headers()
        _ = tool("clang"), tool("bpftool"), cgroups(), ticks_per_second()
        if not BTF.exists():
            raise UserError(f"this kernel has no BTF (CONFIG_DEBUG_INFO_BTF): there is no {BTF}")
    except UserError as error:
        return str(error)
    return ""


def shipped(model: Path) -> Path:
    """Return the file of the model `model` in a checkout; if there is none, return the path `model`."""
    file = ROOT / "core" / "models" / f"rtt_{model}.json"
    return file if model.name == str(model) and file.exists() and not model.exists() else model


def _headers() -> None:
    if not HEADERS.exists():
        raise UserError("libbpf's headers are missing: apt-get install --no-install-recommends libbpf-dev")


def cgroups() -> Path:
    for line in Path("/proc/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(folder)
    raise UserError("no cgroup2 is mounted here")


def ticks_per_second() -> int:
    """Return the kernel's CONFIG_HZ, because it takes RTOs in timer ticks. Raise UserError if unknown."""
    packed, plain = Path("/proc/config.gz"), Path(f"/boot/config-{platform.release()}")
    text = gzip.decompress(packed.read_bytes()).decode() if packed.exists() else ""
    text = text or (plain.read_text() if plain.exists() else "")
    found = re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
    if not found:
        raise UserError(f"CONFIG_HZ is not known: neither {packed} nor {plain} has it")
    return int(found[1])


def compiled(folder: Path) -> Path:
    """Return the object file compiled in `folder` for any kernel with BTF; raise UserError or FailedError."""
    out = folder / "first_rto.o"
    _clang("-g", "-Wall", "-Werror", f"-ffile-prefix-map={ROOT}=.", "-c", "-o", out)
    return out


def source() -> str:
    """Return the source without comments and paths, to identify a run. Raise UserError or FailedError."""
    return _clang("-E", "-P")


def _clang(*words: object) -> str:
    if not SOURCE.exists():
        raise UserError(f"the first RTO needs a checkout of tcplearn: there is no {SOURCE}")
    _headers()
    includes = (f"-I{ROOT}/core/include", "-I/usr/include/x86_64-linux-gnu")
    return _run(tool("clang"), "-O2", "-target", "bpf", "-mcpu=v3", *includes, *words, SOURCE)


@dataclass(frozen=True)
class Loaded:
    pins: Path = PINS  # the folder of pinned maps
    note: Path = NOTE  # the file with the cgroup's name

    def load(self, settings: bytes, cgroup: Path) -> None:
        """Load the program for `cgroup`, or, if a step fails, nothing. Raise UserError or FailedError."""
        if self.pins.exists():
            raise UserError("a first RTO is loaded already: `tcplearn first-rto unload` takes it out")
        if not (cgroup / "cgroup.procs").exists():
            raise UserError(f"{printable(cgroup)}: no cgroup of version 2")
        bpftool = tool("bpftool")
        with contextlib.ExitStack() as undo, temporary.folder() as folder:
            undo.callback(self._remove)
            program = compiled(folder)
            self.pins.mkdir(exist_ok=True)
            _run(
                bpftool, "prog", "load", program, self.pins / "prog", "type", "sockops", "pinmaps", self.pins
            )
            value = [f"{byte:#04x}" for byte in settings]
            _run(bpftool, "map", "update", "pinned", self.pins / "settings", *KEY, "value", *value)
            _run(bpftool, "cgroup", "attach", cgroup, "sock_ops", "pinned", self.pins / "prog", "multi")
            self.note.write_text(f"{cgroup}\n")
            undo.pop_all()

    def _remove(self) -> None:
        shutil.rmtree(self.pins, ignore_errors=True)
        self.note.unlink(missing_ok=True)

    def status(self) -> list[str]:
        if not self.pins.exists():
            return ["no first RTO is loaded: each connection begins with one second"]
        cgroup = self.note.read_text().strip() if self.note.exists() else "?"
        lines = [f"loaded: new connections of {cgroup}"]
        for name in ("places", "prefixes"):
            dumped = _run(tool("bpftool"), "-j", "map", "dump", "pinned", self.pins / name)
            count = dumped.count('"key":')
            lines.append(f"{name} known: {count}")
        return lines

    def unload(self) -> None:
        """Unload the program; existing connections keep their RTO. Raise UserError or FailedError."""
        if not self.pins.exists():
            raise UserError("no first RTO is loaded")
        cgroup = Path(self.note.read_text().strip()) if self.note.exists() else None
        if cgroup and cgroup.exists():
            _run(tool("bpftool"), "cgroup", "detach", cgroup, "sock_ops", "pinned", self.pins / "prog")
        self._remove()


def _run(*words: object) -> str:
    return output_of([str(word) for word in words])
