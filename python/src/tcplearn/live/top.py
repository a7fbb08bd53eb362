# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Show the tables of `tcplearn live top`: destination prefixes in order of their round trips, connections in
order of the waiting saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tcplearn.errors import FailedError, UserError, printable

from . import arms, notes
from .connections import Connection, Reader

_PLACES, _CONNECTIONS = 10, 20
_PLACE_HEAD = ("place", "rounds", "RTT", "floor", "lost", "stock took", "ours took", "spurious")
_PEER_HEAD = ("peer", "port", "arm", "rounds", "RTT", "least", "RTO", "floor", "lost", "spurious", "saved")


def read(reader: Reader) -> list[dict[str, Any]]:
    """Return a dict of the settings, counts and connections of each BPF program that `tcplearn live` has
    started. The connections are read by `reader`. Raise UserError."""
    found = []
    for note in notes.living():
        try:
            connections = reader.read(note.maps["connections"])
            found.append({**note.read(), "connections": [asdict(one) for one in connections]})
        except FailedError:  # it ended just now
            continue
    if not found:
        raise UserError("live is not started: see `tcplearn live start --help`")
    return found


def lines(session: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of two tables: the destination prefixes and the connections of `session`, a result of
    read(). Times are in ms."""
    yield f"{printable(session['cgroup'])}: {len(session['connections'])} connections; times in ms"
    yield ""
    yield from _table(_PLACE_HEAD, [_place(place) for place in session["traffic"][:_PLACES]])
    yield ""
    connections = [Connection(**one) for one in session["connections"]]
    connections.sort(key=lambda one: (-one.saved_ms, -one.rounds))
    yield from _table(_PEER_HEAD, [_connection(one) for one in connections[:_CONNECTIONS]])


def _place(place: dict[str, Any]) -> list[str]:
    stock, ours = place["stock"], place["ours"]
    return [
        place["place"],
        str(stock["rounds"] + ours["rounds"]),
        f"{place['srtt_us'] / 1000:.1f}",
        f"{place['floor_us'] / 1000:.0f}",
        str(stock["needed"] + ours["needed"]),
        *(_mean(side) for side in (stock, ours)),
        str(stock["spurious"] + ours["spurious"]),
    ]


def _mean(side: dict[str, int]) -> str:
    """Return, as text, the mean time in ms of the round trips in which a loss needed a retransmission by
    timer, from the counts `side`. Return "-" if there was no such round trip."""
    return f"{side['wait'] * arms.UNIT_US / 1000 / side['needed']:.0f}" if side["needed"] else "-"


def _connection(of: Connection) -> list[str]:
    times = f"{of.rtt_ms:.1f}", f"{of.least_rtt_ms:.1f}", f"{of.rto_ms:.0f}", f"{of.chosen_ms:.0f}"
    counts = f"{of.lost}", f"{of.spurious}", f"{of.saved_ms:.0f}"
    return [of.peer, f"{of.own_port}", of.arm, f"{of.rounds}", *times, *counts]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    for row in (head, *rows):
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join((first.strip().ljust(widths[0]), *others))
