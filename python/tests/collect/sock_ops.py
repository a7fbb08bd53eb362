# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""linux/bpf/first_rto.bpf.c in a cgroup of its own, with a model. Needs root, cgroup2, clang and bpftool."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

from samples import ROOT
from tcplearn.learn.model import fixed
from tcplearn.learn.rtt.model import STEPS, WEIGHT_BITS, Model

COMPILER = shutil.which("clang-14") or shutil.which("clang") or ""
BPFTOOL = shutil.which("bpftool") or "/usr/sbin/bpftool"


def missing() -> str:
    """What is not there, in words."""
    if os.geteuid() != 0:
        return "a cgroup's BPF program needs root"
    if not COMPILER or not Path(BPFTOOL).exists():
        return "clang or bpftool is not installed"
    if not Path("/usr/include/bpf/bpf_helpers.h").exists():
        return "libbpf-dev is not installed"
    return "" if _cgroups() and ticks_per_second() else "no cgroup2, or CONFIG_HZ is not known"


def _cgroups() -> Path | None:
    for line in Path("/proc/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(folder)
    return None


def ticks_per_second() -> int:
    config = Path("/proc/config.gz")
    text = gzip.decompress(config.read_bytes()).decode() if config.exists() else ""
    found = re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def packed(model: Model, ticks: int) -> bytes:
    """struct settings."""
    out = b""
    for step in STEPS:
        terms = model.steps[step]
        given = terms or {}
        values = [round(given.get("constant_us", 0.0))]
        values += [fixed(given.get(term, 0.0), WEIGHT_BITS) for term in ("last", "high")]
        out += struct.pack("<qqqqI4x", *values, round(given.get("hop_us", 0.0)), terms is not None)
    return out + struct.pack("<qqqII", model.floor_us, model.cap_us, model.max_age_us, ticks, 0)


class Group:
    """A cgroup whose connections have their first RTO from a model."""

    def __init__(self, folder: Path, model: Model) -> None:
        self._pins = folder / "bpf"
        self._model = model
        self._folder = folder
        root = _cgroups()
        assert root
        self.cgroup = root / f"tcplearn-{os.getpid()}"

    def __enter__(self) -> Group:
        program = self._folder / "first_rto.o"
        source = ROOT / "linux" / "bpf" / "first_rto.bpf.c"
        words = ("-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", f"-I{ROOT}/core/include")
        _run(COMPILER, *words, "-I/usr/include/x86_64-linux-gnu", "-c", source, "-o", program)
        self._pins.mkdir()
        _run("mount", "-t", "bpf", "bpf", self._pins)
        _run(BPFTOOL, "prog", "load", program, self._pins / "prog", "type", "sockops", "pinmaps", self._pins)
        value = [f"{byte:#04x}" for byte in packed(self._model, ticks_per_second())]
        key = ("key", "0", "0", "0", "0")
        _run(BPFTOOL, "map", "update", "pinned", self._pins / "settings", *key, "value", *value)
        self.cgroup.mkdir()
        _run(BPFTOOL, "cgroup", "attach", self.cgroup, "sock_ops", "pinned", self._pins / "prog")
        return self

    def __exit__(self, *_: object) -> None:
        if self.cgroup.exists():
            self.cgroup.rmdir()
        subprocess.run(["umount", str(self._pins)], check=False, capture_output=True)
        self._pins.rmdir()

    def join(self) -> None:
        """Of a child, before it becomes another program."""
        (self.cgroup / "cgroup.procs").write_text(str(os.getpid()))


def _run(*words: object) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
