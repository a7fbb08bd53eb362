# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Gives the virtual machine the program of `tcplearn live` (linux/bpf/live.bpf.c)."""

from pathlib import Path

from tcplearn.bpf import build, floors

from .arm import LIVE, LIVE_BOUNDED

TICKS_PER_SECOND = 250  # CONFIG_HZ of Debian's kernels


def identity() -> str:
    """Return the program's source without comments and paths. Raise UserError or FailedError."""
    return build.preprocessed(floors.SOURCE)


def files(folder: Path) -> list[Path]:
    """Make the files of linux/lab/guest/live.sh in `folder`: the program, and its settings as words. Raise
    UserError or FailedError."""
    build.compiled(floors.SOURCE, folder / "live.o")
    for setting, bounds in ((LIVE, False), (LIVE_BOUNDED, True)):
        words = (f"{byte:#04x}" for byte in floors.settings(TICKS_PER_SECOND, bounds_backoff=bounds))
        (folder / f"{setting}.settings").write_text(" ".join(words))
    return sorted(folder.iterdir())
