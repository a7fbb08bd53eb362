# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define options that several commands of `tcplearn live` share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tcplearn.errors import UserError

Cgroup = Annotated[
    Path | None,
    typer.Option(
        "--cgroup",
        metavar="DIR",
        help="Act on the connections of this cgroup2 folder.",
        show_default="the whole machine",
    ),
]
Unit = Annotated[
    str,
    typer.Option(
        "--unit",
        metavar="NAME",
        help="Act on the connections of this running systemd unit.",
        show_default=False,
    ),
]
Pid = Annotated[
    int,
    typer.Option(
        "--pid",
        metavar="PID",
        help="Act on the cgroup (container, unit) of this process.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def folder_of(cgroup: Path | None, unit: str = "", pid: int = 0) -> Path:
    """Return the folder of the cgroup that the options --cgroup, --unit and --pid (`cgroup`, `unit` and
    `pid`) select: by default that of the whole machine. Raise UserError."""
    from tcplearn.bpf.kernel import cgroups
    from tcplearn.live import targets

    if sum((cgroup is not None, bool(unit), bool(pid))) > 1:
        raise UserError("--cgroup, --unit and --pid: give one of them")
    if unit:
        return targets.of_unit(unit)
    if pid:
        return targets.of_process(pid)
    return cgroup.absolute() if cgroup else cgroups()


def chosen(cgroup: Path | None, unit: str, pid: int) -> str:
    """Return the one of the options --cgroup, --unit and --pid that was given, as it is typed, or ""."""
    if cgroup:
        return f"--cgroup {shlex.quote(str(cgroup))}"
    return f"--unit {shlex.quote(unit)}" if unit else f"--pid {pid}" if pid else ""
