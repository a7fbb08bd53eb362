# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Make rows of results, as `tcplearn collect` does, from output of hping3, traceroute and tcptraceroute."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tcplearn.collect import hping, traceroute
from tcplearn.collect.hping import HpingFile
from tcplearn.collect.printed import Printed, Run
from tcplearn.collect.rows import Row
from tcplearn.collect.traceroute import TraceFile


def read(paths: Sequence[Path]) -> list[Row]:
    """Return a row of results for each address and port in the files `paths`, which contain output of hping3,
    traceroute or tcptraceroute. Raise UserError."""
    pings: list[tuple[Printed, HpingFile]] = []
    traces: list[TraceFile] = []
    for path in paths:
        printed = Printed(path)
        lines = list(printed.lines())
        ping = HpingFile(printed, lines)
        trace = TraceFile(printed)
        for at, line in lines:
            if not trace.line(at, line):
                ping.line(at, line)
        trace.finish()
        ping.finish()
        if not ping.runs and not ping.statistics and not trace.found:
            printed.refuse_all("no output of hping3, traceroute or tcptraceroute")
        pings.append((printed, ping))
        traces.append(trace)
    return _rows([*hping.runs_of(pings), *traceroute.runs_of(traces)])


def _rows(runs: Sequence[Run]) -> list[Row]:
    by_address: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_address[run.address].append(run)
    return [row for of_address in by_address.values() for row in _of_address(of_address)]


def _of_address(runs: Sequence[Run]) -> list[Row]:
    """Return a row of results for each port in `runs`, which all have the same address. If only one port is
    known, the runs without a port are taken to have it too."""
    ports = list(dict.fromkeys(run.port for run in runs if run.port))
    other = ports[0] if len(ports) == 1 else 0
    by_port: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        by_port[run.port or other].append(run)
    hops = _first(run.hops for run in runs)  # the path is the same for all ports
    return [_row(port, of_port, hops) for port, of_port in by_port.items()]


def _first(values: Iterable[int | None]) -> int | None:
    return next((value for value in values if value is not None), None)


def _row(port: int, runs: Sequence[Run], hops: int | None) -> Row:
    """Return the row with the results of `runs`, which are all for the same port of the same address. `hops`
    is the number of hops to this address, used if none of the runs has one."""
    whole = Run(runs[0].host, runs[0].address, "")
    for run in runs:
        whole.found(run.state)
    methods = "+".join(dict.fromkeys(run.method for run in runs))
    row = Row(host=whole.host, address=whole.address, port=port, method=methods, state=whole.state)
    row.hops = _first([*(run.hops for run in runs), hops])
    row.ttl = _first(run.ttl for run in runs)
    sent = [run.sent for run in runs if run.sent is not None]
    row.measured(
        [rtt_us for run in runs for rtt_us in run.rtts_us],
        sent=sum(sent) if len(sent) == len(runs) else None,
        samples=sum(run.samples for run in runs),
        summaries=[(run.summary_us, run.samples) for run in runs if run.summary_us],
    )
    return row
