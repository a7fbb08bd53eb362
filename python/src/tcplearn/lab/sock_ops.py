# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compiles, loads, shows and unloads the BPF program that sets the first RTO of a cgroup's connections."""

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tcplearn import debian
from tcplearn.bpf import build
from tcplearn.bpf.build import tool
from tcplearn.bpf.kernel import cgroups, need_btf, ticks_per_second
from tcplearn.checkout import ROOT, output_of
from tcplearn.errors import UserError, printable
from tcplearn.output import temporary

SOURCE = build.SOURCES / "first_rto.bpf.c"
PINS = Path("/sys/fs/bpf/tcplearn-first-rto")
NOTE = Path("/run/tcplearn-first-rto")  # the file with the name of the cgroup that uses the program
BPFTOOL = {"bpftool": "bpftool"}
KEY = ("key", "0", "0", "0", "0")


def missing() -> str:
    """Return why the BPF program cannot be loaded on this machine, or "" if it can."""
    if os.geteuid() != 0:
        return "a cgroup's BPF program needs root"
    try:
        build.need_compiler()
        debian.need("its BPF program", BPFTOOL)
        _ = cgroups(), ticks_per_second()
        need_btf()
    except UserError as error:
        return str(error)
    return ""


def shipped(model: Path) -> Path:
    """Return the file `model` or, if there is none, that of tcplearn's first-RTO model of this name."""
    file = ROOT / "core" / "models" / f"rtt_{model}.json"
    return file if model.name == str(model) and file.exists() and not model.exists() else model


@dataclass(frozen=True)
class Loaded:
    pins: Path = PINS  # the folder of pinned maps
    note: Path = NOTE  # the file with the cgroup's name

    def load(self, settings: bytes, cgroup: Path) -> None:
        """Load the program and attach it to `cgroup`; undo both on failure. Raise UserError or
        FailedError."""
        if self.pins.exists():
            raise UserError("a first-RTO model is loaded already: unload it with `tcplearn first-rto unload`")
        if not (cgroup / "cgroup.procs").exists():
            raise UserError(f"{printable(cgroup)}: no cgroup of version 2")
        bpftool = tool("bpftool")
        with contextlib.ExitStack() as undo, temporary.folder() as folder:
            undo.callback(self._remove)
            try:
                self.pins.mkdir(exist_ok=True)
            except OSError as error:
                raise UserError(f"no BPF file system: mount -t bpf bpf {self.pins.parent}") from error
            program = build.compiled(SOURCE, folder / "first_rto.o")
            pinned = ("type", "sockops", "pinmaps", self.pins)
            _run(bpftool, "prog", "load", program, self.pins / "prog", *pinned)
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
            return ["no model of the first RTO is loaded: connections begin with an RTO of one second"]
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
            raise UserError("no model of the first RTO is loaded")
        cgroup = Path(self.note.read_text().strip()) if self.note.exists() else None
        if cgroup and cgroup.exists():
            _run(tool("bpftool"), "cgroup", "detach", cgroup, "sock_ops", "pinned", self.pins / "prog")
        self._remove()


def _run(*words: object) -> str:
    return output_of([str(word) for word in words])
