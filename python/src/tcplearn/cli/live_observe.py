# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn live observe`, which learns floors (lower limits) of the RTO, and sets
none."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import Work, print_lines
from tcplearn.cli.live_options import AsJson, Cgroup, Pid, Unit, folder_of

if TYPE_CHECKING:
    from tcplearn.explain import Explained
    from tcplearn.traces import CaptureTrace


def observe(
    cgroup: Cgroup = None,
    unit: Unit = "",
    pid: Pid = 0,
    interface: Annotated[
        str,
        typer.Option(
            "--interface",
            "-i",
            metavar="IFACE",
            help="Also read the packets of this interface, and forecast from them what response times would "
            "be with learned floors, as `tcplearn explain` does.",
            show_default=False,
        ),
    ] = "",
    duration: o.For = "",
    as_json: AsJson = False,
) -> Work:
    """Learn floors of the retransmission timer for the new connections of a cgroup, or of the machine, until
    Ctrl-C, but set none. Then show how much waiting these floors would have saved."""
    duration_s = refresh.seconds(duration)

    def work(_: str) -> None:
        from tcplearn.live import sessions

        captured: list[Explained] = []
        wait = _captures(interface, duration_s, captured) if interface else _waits(duration_s)
        counts = sessions.observe(folder_of(cgroup, unit, pid), wait)
        lines, document = [*sessions.counted(counts), sessions.would(counts)], dict[str, object](counts)
        if interface:
            from tcplearn.explain import floors

            outlooks = floors.of(captured[0]) if captured else floors.NOTHING
            lines += outlooks.lines()
            document["forecast"] = outlooks.as_json()
        print_lines([json.dumps(document, indent=1)] if as_json else lines)

    return work


def _captures(interface: str, duration_s: float, into: list[Explained]) -> Callable[[], None]:
    """Return a function that reads the packets of `interface` for `duration_s` seconds, or until Ctrl-C, and
    appends what `tcplearn explain` found in them to `into`; nothing if there were no packets."""

    def wait() -> None:
        from tcplearn import explain
        from tcplearn.traces import Interface, TraceError

        clock = refresh.Refresh(duration_s, None, None)
        packets: list[int] = []

        def watch(trace: CaptureTrace) -> None:
            packets.append(trace.packets)
            del packets[:-1]
            clock(trace, lambda: None)

        with clock.at_work():
            try:
                into.append(explain.run([Interface(interface)], watch=watch))
            except TraceError:
                if packets != [0]:
                    raise

    return wait


def _waits(duration_s: float) -> Callable[[], None]:
    def wait() -> None:
        end = time.monotonic() + duration_s
        with contextlib.suppress(KeyboardInterrupt):
            while (left := end - time.monotonic()) > 0:
                time.sleep(min(1.0, left))

    return wait
