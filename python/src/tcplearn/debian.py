# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find the Debian packages that a command of tcplearn needs and that are not installed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tcplearn.errors import UserError

_MORE_PATH = "/usr/sbin:/sbin"  # the folders in which Debian installs bpftool


def program(name: str) -> str | None:
    """Return the path of the program `name`, or None if it is missing."""
    return shutil.which(name) or shutil.which(name, path=_MORE_PATH)


def to_start(name: str) -> str:
    """Return the path of the program `name`, or `name` itself if it is missing, so that starting it fails."""
    return program(name) or name


def missing(packages: Mapping[str, str]) -> list[str]:
    """Return those Debian packages in `packages` that are not installed. `packages` maps each package's name
    to what shows that it is installed: a program's name or, if it begins with /, a pattern for the path of
    one of the package's files."""
    return [package for package, known_by in packages.items() if not _found(known_by)]


def _found(known_by: str) -> bool:
    if not known_by.startswith("/"):
        return program(known_by) is not None
    return any(Path("/").glob(known_by.removeprefix("/")))


def command(packages: list[str]) -> str:
    """Return the command that installs the Debian packages `packages`."""
    return f"apt-get install --no-install-recommends {' '.join(packages)}"


def need(what: str, packages: Mapping[str, str]) -> None:
    """Raise UserError, which says what `what` needs, unless all Debian packages in `packages` (see missing())
    are installed."""
    if names := missing(packages):
        raise UserError(f"{what} needs packages of Debian that are missing: {command(names)}")
