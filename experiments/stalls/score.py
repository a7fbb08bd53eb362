# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Holds what `tcplearn explain` says of a capture against the truth: each true stall has at most one row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from experiments.stalls.packets import SYN, Connection, Flow, Packet, connections, read
from experiments.stalls.truth import LEAST_US, Stall, reasons, stalls
from tcplearn import explain

#: A true stall that nothing is said of, and a row that is of none.
NONE = "none"
#: A row begins and ends so much before or after the truth at most, beside a round trip.
SLACK_US = 20_000
HANDSHAKE = frozenset({"syn_lost", "syn_ack_lost"})


@dataclass(frozen=True)
class Verdict:
    """A true stall beside what is said of it."""

    true: str
    said: str
    true_ms: float
    said_ms: float
    by: str
    traced: bool  # the capture has a packet that was lost, or the gap that it left
    connection: str = ""
    at_s: float = 0.0  # since the capture began

    @property
    def counts(self) -> bool:
        """Whether there was something to see, or something was claimed."""
        return self.traced or self.said != NONE


def of_run(
    folder: Path, client: str, server: str, request: int, answer: int
) -> tuple[list[Connection], list[Stall]]:
    """Returns the connections and stalls of a run, from the captures `client` and `server` at its ends."""
    ends = [read(folder / "pcap" / f"{name}.pcap")[0] for name in (client, server)]
    found = list(connections(*ends))
    why = reasons((folder / "resends").read_text(), int((folder / "clocks").read_text()))
    return found, stalls(found, why, request, answer)


def verdicts(
    file: Path, found: Sequence[Connection], true: Sequence[Stall], *, at_client: bool
) -> list[Verdict]:
    """Returns each true stall, and each row that is of none, of a capture of these connections."""
    packets, begins_us = read(file)
    said = _said(file, begins_us)
    slack = {one.name: one.client.transit_us + one.server.transit_us + SLACK_US for one in found}
    passed: dict[Flow, list[Packet]] = defaultdict(list)
    for p in packets:
        passed[p.flow].append(p)
    out = []
    of = lambda s: s.connection  # noqa: E731
    truth = {name: list(some) for name, some in groupby(sorted(true, key=of), of)}
    rows = {name: list(some) for name, some in groupby(sorted(said, key=of), of)}
    for one in found:
        mine, theirs = truth.get(one.name, []), rows.get(one.name, [])
        for stall, row in _pairs(mine, theirs, slack[one.name]):
            verdict = _verdict(stall, row, begins_us)
            if stall and not row and not _traced(stall, passed, at_client):
                verdict = replace(verdict, traced=False)
            out.append(verdict)
    return out


def _said(file: Path, begins_us: int) -> list[Stall]:
    told = explain.run([file])
    client = dict(told.connections.select("connection", "client").iter_rows())
    columns = told.stalls.select("connection", "by", "cause", "start_s", "duration_ms").iter_rows()
    out = []
    for number, by, cause, start_s, duration_ms in columns:
        start_us = begins_us + round(1e6 * start_s)
        out.append(
            Stall(client[number], by, frozenset({cause}), start_us, start_us + round(1e3 * duration_ms))
        )
    return out


def _pairs(true: list[Stall], said: list[Stall], slack: int) -> Iterator[tuple[Stall | None, Stall | None]]:
    """Yields the truth with the row of the same end that overlaps most, then with one of the other end."""
    near = []
    for i, a in enumerate(true):
        for j, b in enumerate(said):
            common = min(a.end_us, b.end_us) - max(a.start_us, b.start_us)
            if common > -slack:
                near.append((a.by != b.by and not (a.causes | b.causes) & HANDSHAKE, -common, i, j))
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, _, i, j in sorted(near):
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            yield true[i], said[j]
    yield from ((a, None) for i, a in enumerate(true) if i not in taken[0])
    yield from ((None, b) for j, b in enumerate(said) if j not in taken[1] and b.duration_us >= LEAST_US)


def _verdict(true: Stall | None, said: Stall | None, begins_us: int) -> Verdict:
    one = true or said
    assert one
    words = min(said.causes) if said else NONE
    right = words if true and words in true.causes else min(true.causes) if true else NONE
    true_ms, said_ms = (s.duration_us / 1e3 if s else 0.0 for s in (true, said))
    at_s = (one.start_us - begins_us) / 1e6
    return Verdict(right, words, true_ms, said_ms, one.by, True, one.connection, at_s)


def _traced(stall: Stall, passed: dict[Flow, list[Packet]], at_client: bool) -> bool:
    """Returns whether a capture saw something of a stall: a copy that was lost, or what follows the gap.
    What the path adds is seen at the client alone."""
    if stall.covered:
        return False
    if not stall.lost or stall.seen_as is None:
        return at_client or "slow_path" not in stall.causes
    first, last = stall.lost[0], stall.seen_as
    own = passed[first.flow]
    if stall.causes & HANDSHAKE:
        flows = (first.flow, first.flow[2:] + first.flow[:2])
        return any(sum(bool(p.flags & SYN) for p in passed[flow]) > 1 for flow in flows)
    lost = {p.identity for p in stall.lost}
    if any(p.identity in lost for p in own):
        return True
    until = next((p.us for p in own if p.identity == last.identity), last.us)
    return any(first.us < p.us < until and 0 < p.seq - first.identity[1] < 1 << 31 for p in own)
