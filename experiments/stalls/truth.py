# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds the true stalls of connections (times in which they wait) and the causes of these stalls, which
docs/explain.md defines. The sources are captures at both ends and a trace of the kernel's reasons for
retransmissions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from experiments.stalls.packets import Connection, Packet, Stream

#: Stalls shorter than this do not count, neither true stalls nor a tool's.
LEAST_US = 10_000
#: An ACK that is sent this much later than possible counts as a delayed ACK.
HELD_US = 20_000
#: The payload of a full segment with timestamps.
FULL_BYTES = 1448
#: The longest time between an ACK and the data that it triggers, and between trace and capture of a packet.
PROMPT_US = 5_000
#: Kernel functions that tell the reason of a retransmission; the first one in the stack trace counts.
_REASONS = {"tcp_send_loss_probe": "probe", "tcp_retransmit_timer": "timer"}
_EVENT = re.compile(r" (\d+)\.(\d{6}): tcp_retransmit_skb:.* sport=(\d+) dport=(\d+)")

Reasons = dict[tuple[int, int], list[tuple[int, str]]]


@dataclass
class Stall:
    connection: str
    by: str  # the end whose data or time the stall concerns: "client" or "server"
    causes: frozenset[str]  # one cause, or two that occurred together
    start_us: int
    end_us: int
    lost: tuple[Packet, ...] = ()
    seen_as: Packet | None = None  # the copy that arrived
    traced: frozenset[str] = frozenset()  # the capture points at which the stall leaves a trace
    slack_us: int = 0  # how much earlier or later the stall may appear in a capture
    covered: bool = False  # whether it is a spurious retransmission during a real stall of the other end

    @property
    def by_host(self) -> bool:
        return self.causes <= {"server", "client", "window_closed"}

    @property
    def duration_us(self) -> int:
        return self.end_us - self.start_us

    def common_us(self, other: Stall) -> int:
        """Returns for how long both stalls last at the same time, in us; negative if there is a gap between
        them."""
        return min(self.end_us, other.end_us) - max(self.start_us, other.start_us)


def reasons(trace: str, offset_us: int) -> Reasons:
    """Returns, by source and destination port, the times in us and the reasons of the retransmissions in the
    kernel's `trace`. `offset_us` is added to the times of the trace to get times on the clock of the
    captures."""
    out: Reasons = {}
    events: list[tuple[int, str]] = []
    for line in trace.splitlines():
        if found := _EVENT.search(line):
            seconds, micros, *ports = map(int, found.groups())
            events = out.setdefault((ports[0], ports[1]), [])
            events.append((seconds * 1_000_000 + micros + offset_us, "recovery"))
        elif (name := line.strip().removeprefix("=> ")) in _REASONS and events:
            events[-1] = (events[-1][0], _REASONS[name])
    return out


def stalls(found: Sequence[Connection], why: Reasons, request: int, answer: int) -> list[Stall]:
    """Returns the true stalls of the connections `found`. `why` has the kernel's reasons for retransmissions;
    `request` and `answer` are the sizes of a request and of an answer in bytes."""
    out: list[Stall] = []
    for one in found:
        losses: list[Stall] = []
        for by, stream in (("client", one.client), ("server", one.server)):
            _give_reasons(stream, why)
            losses += merged(_losses(one.name, by, stream))
        for stall in losses:
            stall.covered = any(_covers(other, stall) for other in losses)
        waits = [*_own_waits(one, request), *_servers(one, request, answer)]
        # a wait for the path or for an ACK during a loss belongs to the loss
        kept = [w for w in waits if w.by_host or all(w.common_us(loss) <= 0 for loss in losses)]
        out += [*_handshake(one), *losses, *kept]
    _name_silence(out, found)
    round_trips = {one.name: one.client.transit_us + one.server.transit_us for one in found}
    for stall in out:
        stall.slack_us = round_trips[stall.connection] + 2 * LEAST_US
    return [stall for stall in out if stall.duration_us >= LEAST_US]


def _covers(real: Stall, other: Stall) -> bool:
    overlaps = 2 * real.common_us(other) > other.duration_us
    return bool(real.lost) and not other.lost and real.by != other.by and overlaps


def _give_reasons(stream: Stream, why: Reasons) -> None:
    """Sets the kernel's reason for each retransmission of `stream`. A retransmission within a recovery gets
    the reason with which the recovery began."""
    most, until, began = 0, 0, ""
    events = iter(why.get((stream.sent[0].flow[1], stream.sent[0].flow[3]), []))
    event = next(events, None)
    for p in stream.data:
        if p.seq >= most:
            most = max(most, p.end)
            continue
        while event and event[0] < p.us - PROMPT_US:
            event = next(events, None)
        if event is None or event[0] > p.us + PROMPT_US:
            p.by = "unknown"  # the kernel's trace has no reason for it
            continue
        reason, event = event[1], next(events, None)
        if reason == "recovery" and stream.acked(p.us) < until:
            reason = began
        began, until = ("fast" if reason == "recovery" else reason), most
        p.by = began


def _losses(name: str, by: str, stream: Stream) -> Iterator[Stall]:
    """Yields a stall for each range of bytes that the end `by` (client or server) retransmitted, after a loss
    or spuriously. `stream` has the packets of this end."""
    most, again = 0, []
    for p in stream.data:
        if p.seq < most:
            again.append(p)
        most = max(most, p.end)
    cuts = sorted({at for p in again for at in (p.seq, p.end)})
    copies: dict[tuple[int, int], list[Packet]] = {}
    for p in stream.data:  # divide packets at the ends of retransmitted ranges
        inside = cuts[bisect_right(cuts, p.seq) : bisect_left(cuts, p.end)]
        for start, end in pairwise([p.seq, *inside, p.end]):
            copies.setdefault((start, end), []).append(p)
    for (start, end), sent in copies.items():
        if len(sent) > 1 and any(p.arrived_us >= 0 for p in sent):
            yield _loss(name, by, stream, start, end, sent)


def _loss(name: str, by: str, stream: Stream, start: int, end: int, sent: list[Packet]) -> Stall:
    if sent[0].arrived_us >= 0:
        due_us = sent[0].us + stream.transit_us + stream.back.transit_us
        told_us = stream.told_us(start, end, sent[0].us)
        return Stall(name, by, frozenset({"spurious"}), due_us, max(told_us, due_us), (), sent[0])
    k = min((k for k, p in enumerate(sent) if p.arrived_us >= 0), key=lambda k: sent[k].arrived_us)
    causes = {"timer": "tail_timer", "probe": "tail_probe", "fast": "lost_fast"}
    cause = "resend_lost" if k > 1 else causes.get(sent[1].by, "?")
    return Stall(name, by, frozenset({cause}), sent[0].us, sent[k].us, tuple(sent[:k]), sent[k])


def merged(losses: Iterable[Stall]) -> list[Stall]:
    """Returns the stalls `losses` of one end in order of time. Stalls that overlap become one stall with the
    cause of the longest of them."""
    out: list[Stall] = []
    longest = 0
    for one in sorted(losses, key=lambda s: s.start_us):
        if one.duration_us <= 0:
            continue
        if not out or one.start_us > out[-1].end_us:
            out.append(one)
            longest = one.duration_us
            continue
        last = out[-1]
        if one.duration_us > longest:
            longest, last.causes, last.seen_as = one.duration_us, one.causes, one.seen_as
        last.lost += one.lost
        last.end_us = max(last.end_us, one.end_us)
    return out


def _handshake(one: Connection) -> Iterator[Stall]:
    """Yields a stall if the connection `one` lost a SYN or SYN-ACK. If it lost both, the one stall has both
    causes."""
    kinds = (("syn_lost", "client", one.syns), ("syn_ack_lost", "server", one.syn_acks))
    lost: list[Stall] = []
    for cause, by, sent in kinds:
        through = next((k for k, p in enumerate(sent) if p.arrived_us >= 0), 0)
        if through:
            span = (sent[0].us, sent[through].us)
            lost.append(Stall(one.name, by, frozenset({cause}), *span, tuple(sent[:through]), sent[through]))
    if len(lost) == 2:
        both = lost[0].causes | lost[1].causes
        last = lost[1]
        yield Stall(one.name, "client", both, lost[0].start_us, last.end_us, last.lost, last.seen_as)
    else:
        yield from lost


def _own_waits(one: Connection, request: int) -> Iterator[Stall]:
    """Yields the client's stalls that are due to processing, to the server's closed window or to delayed
    ACKs, not to a loss. `request` is a size in bytes."""
    me, server = one.client, one.server
    ends_at = {p.end: p for p in reversed(me.arrivals) if p.size}
    room = min(FULL_BYTES, max((p.size for p in me.data), default=1))
    most = 0
    for p in me.data:
        new, most = p.seq >= most, max(most, p.end)
        if not new or p.seq % request == 0 or (told := me.told_of(p.seq)) is None or told.arrived_us > p.us:
            continue
        opened = told
        if _window(told, server) < room:
            later = (q for q in server.arrivals if q.arrived_us > told.arrived_us)
            opened = next(q for q in later if _window(q, server) >= room)
        last = ends_at.get(p.seq, told)
        # after a segment that is not full the client had no more data to send
        start_us = last.us if 0 < last.size < FULL_BYTES else told.arrived_us
        cause, end_us = "client", p.us
        if opened is not told:
            cause, start_us, end_us = "window_closed", told.arrived_us, opened.arrived_us
        elif p.us - told.arrived_us <= PROMPT_US:
            alone = 0 < last.size < FULL_BYTES and me.acked(told.arrived_us - 1) >= last.seq
            if not alone or told.us - last.arrived_us < HELD_US or told.size:
                continue
            held_us = told.us - last.arrived_us
            cause, start_us, end_us = "delayed_ack", told.arrived_us - held_us, told.arrived_us
        yield Stall(one.name, "client", frozenset({cause}), start_us, end_us)


def _window(ack: Packet, by: Stream) -> int:
    return ack.window << max(by.scale, 0)


def _servers(one: Connection, request: int, answer: int) -> Iterator[Stall]:
    """Yields the server's stalls that are due to processing or to a delay added by the path, not to a loss.
    `request` and `answer` are sizes in bytes."""
    there_and_back_us = one.client.transit_us + one.server.transit_us
    whole, asked = _in_order(one.client), (0, one.syns[0])
    n = most = 0
    for p in one.server.data:
        while p.seq >= most and p.seq <= n * answer < p.end:
            n += 1
            while asked[0] < n * request:
                if (following := next(whole, None)) is None:
                    return
                asked = following
            last = asked[1]
            took_us = p.us - last.arrived_us
            late_us = p.arrived_us - last.us - there_and_back_us - took_us
            if took_us >= max(LEAST_US, late_us):
                yield Stall(one.name, "server", frozenset({"server"}), last.arrived_us, p.us)
            elif late_us >= LEAST_US:
                end_us = p.arrived_us
                yield Stall(one.name, "server", frozenset({"slow_path"}), end_us - late_us, end_us)
        most = max(most, p.end)


def _in_order(stream: Stream) -> Iterator[tuple[int, Packet]]:
    """Yields, for each packet of `stream` whose arrival lengthened the received data before the first gap:
    the number of bytes before that gap, and this packet."""
    early: dict[int, int] = {}
    reached = 0
    for p in stream.arrivals:
        if p.size:
            early[p.seq] = max(p.end, early.get(p.seq, 0))
        before = reached
        while inside := [start for start in early if start <= reached]:
            reached = max(reached, *(early.pop(start) for start in inside))
        if reached > before:
            yield reached, p


def _name_silence(found: Sequence[Stall], connections: Sequence[Connection]) -> None:
    """Sets the cause "path_silent" for those of the stalls `found` that several connections have at the same
    time, while every packet that is sent is lost."""
    sent = [(p.us, one.name, p) for one in connections for s in (one.client, one.server) for p in s.sent]
    sent.sort(key=lambda of: of[0])
    timed = [s for s in found if s.lost and s.causes <= {"tail_timer", "tail_probe", "resend_lost"}]
    for is_lost, run in groupby(sent, key=lambda of: of[2].arrived_us < 0):
        if not is_lost:
            continue
        inside = list(run)
        if len({name for _, name, _ in inside}) < 2:
            continue
        first_us, last_us = inside[0][0], inside[-1][0]
        silent = [s for s in timed if all(first_us <= p.us <= last_us for p in s.lost)]
        if len({s.connection for s in silent}) > 1:
            for stall in silent:
                stall.causes = frozenset({"path_silent"})
