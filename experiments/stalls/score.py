# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pairs the stalls (waits of a connection) that a tool finds in a capture with the true stalls, and compares
their causes. A stall that the tool finds is called a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from experiments.stalls.packets import SYN, Flow, Packet, by_flow, connections, read
from experiments.stalls.truth import LEAST_US, Stall, reasons, stalls
from tcplearn import explain

#: Stands for the missing side: a true stall without a row, or a row without a true stall.
NONE = "none"
#: The capture points of a run, in the order of the path, and the names of the capture files.
CAPTURES = {"client": "sender", "middle": "near", "server": "far"}
HANDSHAKE = frozenset({"syn_lost", "syn_ack_lost"})


@dataclass(frozen=True)
class Verdict:
    """The true cause and duration of a stall, and the cause and duration that a tool names."""

    true: str
    said: str
    true_ms: float
    said_ms: float
    stall: Stall  # the true stall or, if there is none, the stall that the tool found
    counts: bool  # whether the stall leaves a trace in the capture, or the tool named it


def capture_of(folder: Path, place: str) -> Path:
    return folder / "pcap" / f"{CAPTURES[place]}.pcap"


def true_of(folder: Path, request: int, answer: int) -> list[Stall]:
    """Returns the true stalls of a run, each with the capture points at which it can be seen. `request` and
    `answer` are the sizes of a request and of an answer in bytes."""
    passed = {place: read(capture_of(folder, place)) for place in CAPTURES}
    found = list(connections(passed["client"], passed["server"]))
    why = reasons((folder / "resends").read_text(), int((folder / "clocks").read_text()))
    out = stalls(found, why, request, answer)
    for place, packets in passed.items():
        flows = by_flow(packets)
        for stall in out:
            if _is_traced(stall, flows, place):
                stall.traced |= {place}
    return out


def said_of(file: Path, begins_us: int) -> list[Stall]:
    """Returns the stalls that `tcplearn explain` finds in the capture `file`. The first packet of the capture
    is from the time `begins_us`, in us since 1970."""
    told = explain.run([file])
    client = dict(told.connections.select("connection", "client").iter_rows())
    rows = told.stalls.select("connection", "by", "cause", "start_s", "duration_ms").iter_rows()
    out = []
    for connection, by, cause, start_s, duration_ms in rows:
        start_us = begins_us + round(1e6 * start_s)
        end_us = start_us + round(1e3 * duration_ms)
        out.append(Stall(client[connection], by, frozenset({cause}), start_us, end_us))
    return out


def verdicts(true: Sequence[Stall], said: Sequence[Stall], place: str) -> list[Verdict]:
    """Returns a verdict on each pair of a true stall and a stall that the tool found (`said`), and on each
    stall without a partner. `place` is the capture point: "client", "middle" or "server"."""
    out = []
    truth, rows = _by_connection(true), _by_connection(said)
    for name in truth | rows:
        for stall, row in _pairs(truth.get(name, []), rows.get(name, [])):
            one = stall or row
            assert one
            words = min(row.causes) if row else NONE
            right = NONE if not stall else words if words in stall.causes else min(stall.causes)
            true_ms, said_ms = (s.duration_us / 1e3 if s else 0.0 for s in (stall, row))
            counts = row is not None or place in one.traced
            out.append(Verdict(right, words, true_ms, said_ms, one, counts))
    return out


def _by_connection(some: Sequence[Stall]) -> dict[str, list[Stall]]:
    ordered = sorted(some, key=lambda s: s.connection)
    return {name: list(own) for name, own in groupby(ordered, key=lambda s: s.connection)}


def _pairs(true: list[Stall], said: list[Stall]) -> Iterator[tuple[Stall | None, Stall | None]]:
    """Yields pairs of a true stall and a stall that the tool found, which overlap in time; a missing partner
    is None. Stalls of the same sender (client or server) are paired first, those with the largest overlap
    before others."""
    near = []
    for i, a in enumerate(true):
        for j, b in enumerate(said):
            common_us = a.common_us(b)
            if common_us > -a.slack_us:
                near.append((a.by != b.by and not (a.causes | b.causes) & HANDSHAKE, -common_us, i, j))
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, _, i, j in sorted(near):
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            yield true[i], said[j]
    yield from ((a, None) for i, a in enumerate(true) if i not in taken[0])
    yield from ((None, b) for j, b in enumerate(said) if j not in taken[1] and b.duration_us >= LEAST_US)


def _is_traced(stall: Stall, passed: dict[Flow, list[Packet]], place: str) -> bool:
    """Returns whether the capture at `place` shows the stall (a wait of a connection). The capture shows a
    loss if the lost packet passed `place`, or if later data passed `place` before the retransmission."""
    if stall.covered:
        return False
    if not stall.lost or stall.seen_as is None:
        return place == "client" or "slow_path" not in stall.causes
    first, last = stall.lost[0], stall.seen_as
    own = passed[first.flow]
    if stall.causes & HANDSHAKE:
        flows = (first.flow, first.flow[2:] + first.flow[:2])
        return any(sum(bool(p.flags & SYN) for p in passed[flow]) > 1 for flow in flows)
    lost = {p.identity for p in stall.lost}
    if any(p.identity in lost for p in own):
        return True
    until = next((p.us for p in own if p.identity == last.identity), last.us)
    return any(p.size and first.us < p.us < until and 0 < p.seq - first.identity[1] < 1 << 31 for p in own)
