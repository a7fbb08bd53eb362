# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Loads linux/bpf/first_rto.bpf.c with a model, in a cgroup of its own. Needs root, cgroup2, clang and
bpftool."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from own_cgroup import own_cgroup
from tcplearn.bpf.kernel import ticks_per_second
from tcplearn.lab.sock_ops import Loaded, missing
from tcplearn.learn.rtt.model import Model, packed

__all__ = ["Group", "bpffs", "missing"]


@contextlib.contextmanager
def bpffs(folder: Path) -> Iterator[Path]:
    """Mount a BPF file system in `folder`, in which a test alone pins its programs, and yield its path."""
    mounted = folder / "bpf"
    mounted.mkdir()
    subprocess.run(["mount", "-t", "bpf", "bpf", mounted], check=True)
    try:
        yield mounted
    finally:
        subprocess.run(["umount", mounted], check=True)
        mounted.rmdir()


class Group:
    """Represents a cgroup whose connections have the first RTO of a model."""

    def __init__(self, folder: Path, model: Model) -> None:
        self._folder = folder
        self._model = model
        self._undo = contextlib.ExitStack()
        self.cgroup = Path()

    def __enter__(self) -> Group:
        with contextlib.ExitStack() as undo:
            self.cgroup = undo.enter_context(own_cgroup())
            loaded = Loaded(undo.enter_context(bpffs(self._folder)) / "first-rto", self._folder / "note")
            loaded.load(packed(self._model, ticks_per_second()), self.cgroup)
            undo.callback(loaded.unload)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def join(self) -> None:
        """Move the calling process into the cgroup. A child process calls this before it executes its
        program."""
        (self.cgroup / "cgroup.procs").write_text(str(os.getpid()))
