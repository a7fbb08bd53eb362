# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn watch`, which compares estimators on the live traffic of a network
interface."""

from typing import Annotated

import typer

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import Outputs, Work
from tcplearn.cli.groups import with_groups
from tcplearn.cli.run_replay import Replayed, run_replay


@with_groups
def watch(
    interface: Annotated[str, typer.Argument(metavar="IFACE", help="A network interface; any means all.")],
    *,
    asked: Replayed,
    duration: o.For = "",
    out: Outputs,
) -> Work:
    """Replay the live traffic of a network interface until Ctrl-C. On a terminal the table of results is
    refreshed."""
    duration_s = refresh.seconds(duration)

    def work(command: str) -> None:
        out.check()

        from tcplearn.traces import Interface

        run_replay(command, [Interface(interface)], "", duration_s, asked, out)

    return work
