# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What guests left, kept between runs of the tests in build/guests.

In virtual time a run repeats to the byte (a test of `make test-full` boots one twice to see it), so it is a
matter of what enters the guest: image, module, QEMU, script, seed, files and command line. Where all of these
are the same as before, the guest is not booted again; what it left is read and judged anew. A clean checkout
has nothing kept.
"""

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
    """Returns a hash of all that determines what a guest leaves."""
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
    """Returns `machine.run` with what it left kept, for guests in virtual time that ended well."""

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
