# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define where tcplearn's source folders are (in an installed package, in its folder `data`), and run
commands."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tcplearn.errors import FailedError, printable

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[2]

#: Whether this package is the one in a checkout; otherwise it is installed, and nothing is written beside it.
IS_CHECKOUT = _PACKAGE == _CHECKOUT / "python" / "src" / "tcplearn" and (_CHECKOUT / "core").is_dir()
#: The checkout, or the folder with the part of it that python/CMakeLists.txt installs (TCPLEARN_DATA).
ROOT = _CHECKOUT if IS_CHECKOUT else _PACKAGE / "data"
LAB = ROOT / "linux" / "lab"


def no_such_file(path: Path) -> str:
    """Return the error message for a missing file `path`. If `path` is relative to the folder of tcplearn's
    sources, as in the documentation, and the file exists there, the message has the full path."""
    ours = ROOT / path
    return f"no such file here; use {printable(ours)}" if ours.is_file() else "no such file; check the path"


def output_of(command: Sequence[str]) -> str:
    """Return what `command` prints; if it fails, raise FailedError with the last line that it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = last_line(done.stderr) or last_line(done.stdout) or "no reason given"
        raise FailedError(f"{Path(command[0]).name} {command[1]}: {why}")
    return done.stdout


def last_line(text: str) -> str:
    return printable("".join(text.strip().splitlines()[-1:]))
