# SPDX-License-Identifier: GPL-2.0-only
"""Tries `tcplearn module` with the real DKMS, as root on a disposable machine with the headers of KERNEL.

PYTHONPATH=python/src python3 linux/lab/checks/dkms_install.py KERNEL    # needs no build
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tcplearn.checkout import output_of
from tcplearn.errors import FailedError, UserError
from tcplearn.lab import install

TOPS = ("usr", "etc", "var", "lib")
OF_THE_RUNNING_KERNEL = ("modprobe", "rmmod", "sysctl")


def files() -> set[str]:
    found = set()
    for top in TOPS:
        for folder, folders, names in os.walk(f"/{top}"):
            if not folder.endswith("__pycache__"):
                found.update(f"{folder}/{name}" for name in (*names, *folders) if name != "__pycache__")
    return found


def run(command: Sequence[str]) -> str:
    if command[0] in OF_THE_RUNNING_KERNEL:
        print("  not run:", " ".join(command))
        return ""
    print("  run:", " ".join(command), flush=True)
    return output_of(command)


def machine(kernel: str) -> install.System:
    root = Path(tempfile.mkdtemp())
    for top in TOPS:
        (root / top).symlink_to(f"/{top}")
    (root / "proc").mkdir()
    (root / "proc/modules").write_text("")
    return install.System(root, run, kernel)


def main(kernel: str) -> int:
    system = machine(kernel)
    for wanted in ("6.6.6-none", "5.10.0-amd64"):
        try:
            install.install(machine(wanted))
        except UserError as error:
            print(f"{wanted}: {error}")
    before = files()
    try:
        print("install:", *install.install(system), sep="\n  ")
    except (UserError, FailedError) as error:
        print(f"install: {error}")
        return 1
    print("status:", *install.status(system), sep="\n  ")
    new = sorted(files() - before)
    built = [name for name in new if "/updates/dkms/tcplearn.ko" in name]
    print(f"{len(new)} files more, of them", *built, sep="\n  ")
    print("remove:", *install.remove(system), sep="\n  ")
    left = sorted(files() - before)
    print(f"{len(left)} files are left", *left, sep="\n  ")
    return int(not built or any("tcplearn" in name for name in left))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
