# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stores the output of guests in build/guests, and reuses it in later runs of the tests.

In virtual time a run repeats to the byte (a test of `make test-full` boots a guest twice to check this),
so the output depends only on the guest's inputs: image, module, QEMU, script, seed, files and command
line. If all of these are unchanged, the guest is not booted again; its stored output is read and judged
anew. A clean checkout has no stored output."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from samples import ROOT
from tcplearn.lab.machine import BUILT, ORDINARY, Boot, Machine, guest_files

FOLDER = ROOT / "build" / "guests"
Run = Callable[..., None]


def key(machine: Machine, script: str, seed: int, files: Sequence[Path], boot: Boot) -> str:
    """Return a hash of all inputs that determine the output of a guest."""
    total = hashlib.sha256(repr((machine.fingerprint, script, seed, boot)).encode())
    images = [machine.image / "guest.cpio", machine.image / "vmlinuz"]
    images += [machine.programs] if machine.programs else []
    for path in (
        *images,
        *guest_files(machine.programs is not None),
        *(machine.built / name for name in BUILT),
        *files,
    ):
        if path.exists():
            total.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return total.hexdigest()[:20]


def keeping(run: Run, folder: Path = FOLDER) -> Run:
    """Return `machine.run` with storage of the output of guests in virtual time that ended without an
    error."""

    def kept_or_run(machine: Machine, script: str, out: Path, **options: Any) -> None:
        boot: Boot = options.get("boot", ORDINARY)
        if boot.processors:
            run(machine, script, out, **options)
            return
        kept = folder / key(machine, script, options["seed"], options.get("files", ()), boot)
        if kept.exists():
            shutil.copytree(kept, out, dirs_exist_ok=True)
            return
        run(machine, script, out, **options)
        part = kept.with_name(f".{kept.name}.{os.getpid()}")
        shutil.copytree(out, part)
        with contextlib.suppress(OSError):  # another process kept the same run just now
            part.rename(kept)
        shutil.rmtree(part, ignore_errors=True)

    return kept_or_run
