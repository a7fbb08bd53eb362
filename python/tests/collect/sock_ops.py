# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""linux/bpf/first_rto.bpf.c in a cgroup of its own, with a model. Needs root, cgroup2, clang and bpftool."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tcplearn.lab.sock_ops import Loaded, cgroups, missing, ticks_per_second
from tcplearn.learn.rtt.model import Model
from tcplearn.learn.rtt.settings import packed

__all__ = ["Group", "missing"]


class Group:
    """A cgroup whose connections have their first RTO from a model."""

    def __init__(self, folder: Path, model: Model) -> None:
        self._bpffs = folder / "bpf"
        self._loaded = Loaded(self._bpffs / "first-rto", folder / "note")
        self._model = model
        self.cgroup = cgroups() / f"tcplearn-{os.getpid()}"

    def __enter__(self) -> Group:
        self._bpffs.mkdir()
        subprocess.run(["mount", "-t", "bpf", "bpf", self._bpffs], check=True)
        self.cgroup.mkdir()
        self._loaded.load(packed(self._model, ticks_per_second()), self.cgroup)
        return self

    def __exit__(self, *_: object) -> None:
        self._loaded.unload()
        self.cgroup.rmdir()
        subprocess.run(["umount", str(self._bpffs)], check=False, capture_output=True)
        self._bpffs.rmdir()

    def join(self) -> None:
        """Of a child, before it becomes another program."""
        (self.cgroup / "cgroup.procs").write_text(str(os.getpid()))
