# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn watch`, which compares estimators on the live traffic of a network
interface."""

from typing import Annotated

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import Outputs
from tcplearn.cli.options import argument
from tcplearn.cli.run_replay import Replayed, run_replay


def watch(
    command: str,
    interface: Annotated[str, argument("IFACE", "A network interface; any means all.")],
    *,
    asked: Replayed,
    duration: o.For = "",
    out: Outputs,
) -> None:
    """Replay the live traffic of a network interface until Ctrl-C. On a terminal the table of results is
    refreshed."""
    duration_s = refresh.seconds(duration)
    out.check()

    from tcplearn.traces import Interface

    run_replay(command, [Interface(interface)], "", duration_s, asked, out)
