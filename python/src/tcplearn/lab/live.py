# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Prepare the BPF program of `tcplearn live` (linux/bpf/live.bpf.c) for the virtual machine of `tcplearn
lab`."""

from pathlib import Path

from tcplearn.bpf import build, floors

from .arm import LIVE, LIVE_BOUNDED

TICKS_PER_SECOND = 250  # CONFIG_HZ of Debian's kernels


def identity() -> str:
    """Return the preprocessed source of the BPF program, which is part of the key under which a run's result
    is stored. Raise UserError or FailedError."""
    return build.preprocessed(floors.SOURCE)


def files(folder: Path) -> list[Path]:
    """Make in `folder` the files that linux/lab/guest/live.sh reads: the compiled program, and its settings
    as text. Return their paths. Raise UserError or FailedError."""
    build.compiled(floors.SOURCE, folder / "live.o")
    for setting, bounds in ((LIVE, False), (LIVE_BOUNDED, True)):
        words = (f"{byte:#04x}" for byte in floors.settings(TICKS_PER_SECOND, bounds_backoff=bounds))
        (folder / f"{setting}.settings").write_text(" ".join(words))
    return sorted(folder.iterdir())
