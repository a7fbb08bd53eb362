# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Names the folders of sources that only a checkout has, and runs commands there."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tcplearn.errors import FailedError, printable

ROOT = Path(__file__).resolve().parents[3]
LAB = ROOT / "linux" / "lab"


def output_of(command: Sequence[str]) -> str:
    """Return what `command` prints; if it fails, raise FailedError with the last line that it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = last_line(done.stderr) or last_line(done.stdout) or "no reason given"
        raise FailedError(f"{Path(command[0]).name} {command[1]}: {why}")
    return done.stdout


def last_line(text: str) -> str:
    return printable("".join(text.strip().splitlines()[-1:]))
