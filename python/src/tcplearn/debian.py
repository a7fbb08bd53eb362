# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Names the packages of Debian that are missing of those that a verb needs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tcplearn.errors import UserError

_MORE_PATH = "/usr/sbin:/sbin"  # the folders in which Debian installs bpftool


def program(name: str) -> str | None:
    """Return the path of the program `name`, or None if it is missing."""
    return shutil.which(name) or shutil.which(name, path=_MORE_PATH)


def missing(packages: Mapping[str, str]) -> list[str]:
    """Return which of `packages` are missing. Each is known by a program, or by a file: a pattern below /."""
    return [package for package, known_by in packages.items() if not _found(known_by)]


def _found(known_by: str) -> bool:
    if not known_by.startswith("/"):
        return program(known_by) is not None
    return any(Path("/").glob(known_by.removeprefix("/")))


def command(packages: list[str]) -> str:
    """Return the command that installs `packages`."""
    return f"apt-get install --no-install-recommends {' '.join(packages)}"


def need(what: str, packages: Mapping[str, str]) -> None:
    """Raise UserError, which names `what` needs them, if any of `packages` are missing."""
    if names := missing(packages):
        raise UserError(f"{what} needs packages of Debian that are missing: {command(names)}")
