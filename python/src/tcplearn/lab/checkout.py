# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Names the folders of the lab's sources, which only a checkout has, and runs commands there."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tcplearn.errors import FailedError, printable

ROOT = Path(__file__).resolve().parents[4]
LAB = ROOT / "linux" / "lab"


def output_of(command: Sequence[str]) -> str:
    """Return what `command` prints; if it fails, raise FailedError with the last line that it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no reason given"]
        raise FailedError(f"{Path(command[0]).name} {command[1]}: {printable(said[-1])}")
    return done.stdout
