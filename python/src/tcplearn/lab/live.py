# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Gives the virtual machine the program of `tcplearn live` (linux/bpf/live.bpf.c)."""

from pathlib import Path

from tcplearn.bpf import build, floors

from .arm import LIVE, LIVE_CAP

TICKS_PER_SECOND = 250  # CONFIG_HZ of Debian's kernels
CAP_MS = 1000  # the shortest that the kernel takes


def identity() -> str:
    """Return the program's source without comments and paths. Raise UserError or FailedError."""
    return build.preprocessed(floors.SOURCE)


def files(folder: Path) -> list[Path]:
    """Make the files of linux/lab/guest/live.sh in `folder`: the program, and its settings as words. Raise
    UserError or FailedError."""
    build.compiled(floors.SOURCE, folder / "live.o")
    for setting, cap_ms in ((LIVE, 0), (LIVE_CAP, CAP_MS)):
        words = (f"{byte:#04x}" for byte in floors.settings(TICKS_PER_SECOND, cap_ms=cap_ms))
        (folder / f"{setting}.settings").write_text(" ".join(words))
    return sorted(folder.iterdir())
