# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The origin of a result: version, commit, command."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import tcplearn


@cache
def commit() -> str:
    """Return the checkout's commit, with "+changes" if a file of it differs; "" outside a checkout."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return ""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def made_by(**parameters: str) -> dict[str, str]:
    """Return version, commit and command of this process, and the given parameters."""
    command = " ".join(["tcplearn", *sys.argv[1:]])
    return {"version": tcplearn.__version__, "commit": commit(), "command": command, **parameters}
