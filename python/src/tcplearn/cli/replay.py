# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn replay`, which compares estimators on captures and tables of RTT
samples."""

from typing import Annotated

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import Outputs, check_readable, say, warn_of_repeats
from tcplearn.cli.options import option
from tcplearn.cli.run_replay import Replayed, run_replay
from tcplearn.errors import UserError, printable


def replay(
    command: str,
    files: o.Traces,
    *,
    asked: Replayed,
    unit: o.Unit = "",
    duration: Annotated[str, option("TIME", "Read a pipe for this time: 30s, 5m or 1h.", "--for")] = "",
    out: Outputs,
) -> None:
    """Replay captures through RTT estimators and retransmission timers, and compare them."""
    if duration and not any(map(refresh.is_pipe, files)):
        raise UserError("--for: no pipe is read; leave it out, or see `tcplearn watch --help`")
    duration_s = refresh.seconds(duration)
    for path in files:
        check_readable([path])
        if path.is_fifo() and not out.quiet:
            say(f"{printable(path)}: a pipe: it is read until it ends")
    warn_of_repeats(files)
    out.check(files)
    run_replay(command, files, unit, duration_s, asked, out)
