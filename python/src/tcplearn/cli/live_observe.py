# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn live observe`, which learns floors of the RTO (a floor is the least time
that the RTO adds to SRTT) but does not set them. Also defines options that it shares with other commands of
`tcplearn live`."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import print_lines, say, warn
from tcplearn.cli.options import flag, option
from tcplearn.errors import UserError

if TYPE_CHECKING:
    from tcplearn.explain import Explained
    from tcplearn.explain.floors import Outlooks
    from tcplearn.traces import CaptureTrace

_BEGUN = "observing new connections; Ctrl-C ends this and prints the result"

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
        from tcplearn.bpf import kernel

        if sum((self.cgroup is not None, bool(self.unit), bool(self.pid))) > 1:
            raise UserError("--cgroup, --unit and --pid: give one of them")
        if self.unit:
            return kernel.cgroup_of_unit(self.unit)
        if self.pid:
            return kernel.cgroup_of_process(self.pid)
        return self.cgroup.absolute() if self.cgroup else kernel.cgroups()

    def typed(self) -> str:
        """Return the option that was given, as it is typed, or ""."""
        if self.cgroup:
            return f"--cgroup {shlex.quote(str(self.cgroup))}"
        return f"--unit {shlex.quote(self.unit)}" if self.unit else f"--pid {self.pid}" if self.pid else ""


def observe(
    _: str,
    *,
    target: Target,
    interface: Annotated[
        str,
        o.interface(
            "Also read the packets of this interface, and forecast what response times would be with learned "
            "floors on all connections of this machine over it, as `tcplearn explain` does."
        ),
    ] = "",
    duration: o.For = "",
    as_json: AsJson = False,
) -> None:
    """Learn floors of the retransmission timer for the new connections of a cgroup, or of the machine, until
    Ctrl-C, but set none. Then show how much waiting these floors would have saved."""
    duration_s = refresh.seconds(duration)
    from tcplearn.live import sessions

    reading = _Reading(interface, duration_s) if interface else None
    counts = sessions.observe(target.folder(), reading or _waits(duration_s))
    lines, document = [*sessions.counted(counts), sessions.would(counts)], dict[str, object](counts)
    if reading:
        outlooks = reading.outlooks()
        warn(reading.warnings)
        lines += outlooks.lines()
        document["forecast"] = outlooks.as_json()
    lines.append(sessions.advised(counts, target.typed()))
    print_lines([json.dumps(document, indent=1)] if as_json else lines)


class _Reading:
    """Reads the packets of an interface, as `tcplearn explain` does, until Ctrl-C or for a given time."""

    def __init__(self, interface: str, duration_s: float) -> None:
        """Raise UserError if the addresses of this machine cannot be listed."""
        from tcplearn.explain import floors

        self._own = floors.addresses()  # before the capture: an interface may go away in its time
        self._interface, self._duration_s = interface, duration_s
        self._found: Explained | None = None
        self.warnings: list[str] = []

    def __call__(self) -> None:
        """Read the packets. Raise TraceError if the interface cannot be opened, or if reading fails before
        the first packets; a later failure only becomes a warning."""
        from tcplearn import explain
        from tcplearn.traces import Interface, TraceError

        clock = refresh.Refresh(self._duration_s, None, None)
        begun = False

        def watch(trace: CaptureTrace) -> None:
            nonlocal begun
            if not begun:
                say(_BEGUN)
            begun = True
            clock(trace, lambda: None)

        with contextlib.suppress(KeyboardInterrupt), clock.at_work():
            try:
                self._found = explain.run([Interface(self._interface)], watch=watch)
                self.warnings = self._found.warnings
            except TraceError as error:
                if not begun:
                    raise
                self.warnings = [str(error)]  # the counts of the BPF program are shown all the same

    def outlooks(self) -> Outlooks:
        from tcplearn.explain import floors

        return floors.of(self._found, self._own) if self._found else floors.NOTHING


def _waits(duration_s: float) -> Callable[[], None]:
    def wait() -> None:
        say(_BEGUN)
        end = time.monotonic() + duration_s
        with contextlib.suppress(KeyboardInterrupt):
            while (left := end - time.monotonic()) > 0:
                time.sleep(min(1.0, left))

    return wait
