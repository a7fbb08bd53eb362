# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find the cgroup of a systemd unit, and of a process or the container in which it runs."""

from __future__ import annotations

import os
from pathlib import Path

from tcplearn.bpf.kernel import cgroup_of, cgroups
from tcplearn.errors import UserError, printable

_ENDINGS = (".service", ".slice", ".scope")


def of_unit(name: str) -> Path:
    """Return the cgroup of the systemd unit `name`: the only folder of a cgroup that has this name. Raise
    UserError."""
    wanted = {name} if name.endswith(_ENDINGS) else {name, f"{name}.service"}
    found = [Path(folder) for folder, _, _ in os.walk(cgroups()) if Path(folder).name in wanted]
    if not found:
        raise UserError(f"--unit {printable(name)}: no such cgroup; does the unit run? (systemctl status)")
    if len(found) > 1:
        raise UserError(f"--unit {printable(name)}: {len(found)} cgroups have this name; use --cgroup")
    return found[0]


def of_process(pid: int) -> Path:
    """Return the cgroup of the process `pid`. Raise UserError."""
    try:
        found = cgroup_of(pid)
    except OSError as error:
        raise UserError(f"--pid {pid}: no such process") from error
    if found is None:
        raise UserError(f"--pid {pid}: it is in no cgroup of version 2")
    return found
