# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define options that several commands of `tcplearn live` share."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tcplearn.cli.options import flag, option
from tcplearn.errors import UserError

AsJson = Annotated[bool, flag("Write JSON.", "--json")]


@dataclass(frozen=True)
class Target:
    """The cgroup whose connections a command acts on; by default it is that of the whole machine."""

    cgroup: Annotated[
        Path | None,
        option("DIR", "Act on the connections of this cgroup2 folder.", show_default="the whole machine"),
    ] = None
    unit: Annotated[str, option("NAME", "Act on the connections of this running systemd unit.")] = ""
    pid: Annotated[
        int, option("PID", "Act on the cgroup (container, unit) of this process.", show_default=False)
    ] = 0

    def folder(self) -> Path:
        """Return the folder of the cgroup. Raise UserError."""
        from tcplearn.bpf.kernel import cgroups
        from tcplearn.live import targets

        if sum((self.cgroup is not None, bool(self.unit), bool(self.pid))) > 1:
            raise UserError("--cgroup, --unit and --pid: give one of them")
        if self.unit:
            return targets.of_unit(self.unit)
        if self.pid:
            return targets.of_process(self.pid)
        return self.cgroup.absolute() if self.cgroup else cgroups()

    def typed(self) -> str:
        """Return the option that was given, as it is typed, or ""."""
        if self.cgroup:
            return f"--cgroup {shlex.quote(str(self.cgroup))}"
        return f"--unit {shlex.quote(self.unit)}" if self.unit else f"--pid {self.pid}" if self.pid else ""
