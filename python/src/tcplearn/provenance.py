# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Record where a result comes from: version, commit and command line."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import tcplearn


@cache
def commit() -> str:
    """Return the checkout's commit, with "+changes" appended if a tracked file differs from it. Return ""
    outside a checkout."""
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
    """Return a dict with the version, the commit, the command line of this process and `parameters`."""
    command = " ".join(["tcplearn", *sys.argv[1:]])
    return {"version": tcplearn.__version__, "commit": commit(), "command": command, **parameters}
