# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read a capture a second time, to show the packets of the slowest requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from tcplearn.explain.model import Explained, slowest_first
from tcplearn.traces import CaptureTrace, TraceOptions, open_trace

#: The number of requests whose packets are shown, and the largest number of points of each.
WORST, MOST_POINTS = 10, 600
#: The time before a request whose packets are shown too, in ms.
_BEFORE_MS = 5.0


class Point(NamedTuple):
    """A packet. `byte` is the position after its `bytes` of data or, for an ACK, up to which it
    acknowledges."""

    ms: float  # since the request began
    byte: int
    bytes: int
    end: str  # the sender: "client" or "server"; of an ACK "client, ACK" or "server, ACK"
    again: bool = False  # it is a retransmission


@dataclass
class Sequence:
    """The packets of one request."""

    title: str
    points: list[Point] = field(default_factory=list)


def of(found: Explained) -> list[Sequence]:
    """Return the packets of the slowest requests, the slowest first, if their files can be read again."""
    times = found.requests["response_ms"].to_numpy()
    chosen = [found.requests.row(row, named=True) for row in slowest_first(times)[:WORST].tolist()]
    out = [Sequence(f"{r['response_ms']:,.0f} ms at {r['start_s']:.3f} s, {r['server']}") for r in chosen]
    for source in {request["source"] for request in chosen}:
        path = found.paths[source]
        if path is None:
            continue
        mine = [k for k, request in enumerate(chosen) if request["source"] == source]
        windows = [_window(chosen[k]) for k in mine]
        trace = open_trace(path, options=TraceOptions(windows=tuple(windows)))
        assert isinstance(trace, CaptureTrace)
        for batch in trace.batches():
            _add(cast("dict[str, Any]", batch["packets"]), [(out[k], chosen[k]) for k in mine])
    return [one for one in out if one.points]


def _window(request: Mapping[str, Any]) -> tuple[int, int, int]:
    start_us = request["start_s"] * 1e6
    return (
        request["connection"],
        int(start_us - _BEFORE_MS * 1e3),
        int(start_us + (1.02 * request["response_ms"] + _BEFORE_MS) * 1e3),
    )


def _add(packets: Mapping[str, Any], to: list[tuple[Sequence, Mapping[str, Any]]]) -> None:
    rows = zip(
        *(packets[name].tolist() for name in ("window", "time_us", "by_server", "kind", "byte", "bytes")),
        strict=True,
    )
    for window, time_us, by_server, kind, byte, of_data in rows:
        sequence, request = to[window]
        if len(sequence.points) < MOST_POINTS:
            end = "server" if by_server else "client"
            ms = time_us / 1e3 - request["start_s"] * 1e3
            shown = f"{end}, ACK" if kind == 0 else end
            sequence.points.append(Point(ms, byte, of_data, shown, kind == 2))
