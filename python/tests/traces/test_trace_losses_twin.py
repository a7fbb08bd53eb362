# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test losses in simulated captures with random drops, against the packets dropped and a simple reader."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
import wire
from wire import Wire

MS = 1000
SIZE = 1000


@dataclass
class Seen:
    """Holds one ACK as the sender saw it, with the segments that it reports as SACKed."""

    at_us: int
    upto: int
    sacked: frozenset[int]


@dataclass
class Simulated:
    wire: Wire
    sends: dict[int, list[int]] = field(default_factory=dict)  # segment: when it was sent
    acks: list[Seen] = field(default_factory=list)
    dropped: set[int] = field(default_factory=set)  # first copies


def simulate(seed: int, segments: int = 400) -> Simulated:
    """Simulate a window of ten segments over 30 to 34 ms. 5 % of segments are lost, retransmissions never;
    they follow three duplicate ACKs or, at the end, 300 ms. Every segment is acknowledged; nothing is
    reordered."""
    rng = random.Random(seed)
    w = Wire()
    out = Simulated(w)
    now = w.handshake(rtt_us=30 * MS, options=wire.SACK_PERMITTED) + MS
    arrivals: list[tuple[int, int]] = []  # at the sender as an ACK, segment
    received: set[int] = set()
    una = nxt = last_arrival = 0
    timer = now
    repaired: set[int] = set()

    def send(segment: int) -> None:
        nonlocal last_arrival
        first = segment not in out.sends
        out.sends.setdefault(segment, []).append(now)
        w.send(now, w.client, 1 + SIZE * segment, SIZE, ack=1)
        if first and rng.random() < 0.05:
            out.dropped.add(segment)
            return
        last_arrival = max(last_arrival + 1, now + rng.randrange(30 * MS, 34 * MS))
        arrivals.append((last_arrival, segment))

    while una < segments:
        above = sorted(received - set(range(una)))
        holes = [s for s in range(una, nxt) if s not in received and s not in repaired]
        if holes and sum(s > holes[0] for s in above) >= 3:
            repaired.add(holes[0])
            send(holes[0])
        elif nxt < min(segments, una + 10):
            if nxt == una:
                timer = now
            send(nxt)
            nxt += 1
        elif arrivals and arrivals[0][0] <= max(timer + 300 * MS, now):
            now, segment = max(now, arrivals[0][0]), arrivals.pop(0)[1]
            received.add(segment)
            before = una
            while una in received:
                una += 1
            timer = now if una > before else timer
            above = sorted(received - set(range(una)))
            runs: list[list[int]] = []
            for s in above:
                if runs and runs[-1][1] == s:
                    runs[-1][1] = s + 1
                else:
                    runs.append([s, s + 1])
            runs.sort(key=lambda r: not r[0] <= segment < r[1])
            shown = [(a, b) for a, b in runs[:4]]
            isn = w.client.isn + 1
            options = wire.sack(*((isn + SIZE * a, isn + SIZE * b) for a, b in shown)) if shown else b""
            w.send(now, w.server, 1, ack=1 + SIZE * una, options=options)
            out.acks.append(Seen(now, una, frozenset(s for a, b in shown for s in range(a, b))))
        else:
            now = max(now, timer + 300 * MS)
            timer = now
            repaired.add(holes[0])
            send(holes[0])
        now += 200
    return out


def plain(s: Simulated) -> list[dict[str, int]]:
    """Return each loss, found from the whole list of events without streaming and without a bound on
    memory."""
    acked_us: dict[int, int] = {}
    for ack in s.acks:
        for segment in range(len(acked_us), ack.upto):
            acked_us[segment] = ack.at_us
    repairs = [(times[1], acked_us[u]) for u, times in s.sends.items() if len(times) > 1]
    out = []
    for segment in sorted(s.dropped):
        sent, resent = s.sends[segment][:2]
        known: set[int] = set()
        upto, newest, least = 0, -1, 30 * MS
        delivered = rack = -1
        for ack in s.acks:
            if ack.at_us >= acked_us[segment]:
                break
            fresh = (set(range(upto, ack.upto)) | ack.sacked) - known
            known |= fresh
            upto = ack.upto
            fresh = {u for u in fresh if sum(t <= ack.at_us for t in s.sends[u]) == 1}
            if not fresh:
                continue
            latest = max(fresh)
            least = min(least, ack.at_us - s.sends[latest][0])
            if latest <= newest:
                continue
            newest = latest
            if latest <= segment:
                continue
            if delivered < 0:
                delivered = ack.at_us
            elif ack.at_us >= rack:
                break
            recovering = any(begun <= ack.at_us < ended for begun, ended in repairs)
            sacked = sum(u >= ack.upto for u in known)
            window = 0 if recovering or sacked >= 3 else least // 4
            rack = ack.at_us + max(window - (s.sends[latest][0] - sent), 0)
        newest_sent = max(u for u, times in s.sends.items() if times[0] <= resent)
        out.append(
            {
                "sent_us": sent,
                "resent_us": resent,
                "acked_us": acked_us[segment],
                "delivered_us": delivered,
                "rack_us": rack,
                "tail": int(segment == newest_sent),
            }
        )
    return sorted(out, key=lambda loss: loss["acked_us"])


@pytest.mark.parametrize("seed", range(6))
def test_losses_are_those_dropped_and_rack_calls_them_when_the_plain_one_does(read, seed):
    s = simulate(seed)
    got = read(s.wire.pcap()).lost_by("10.0.0.1:")
    want = plain(s)
    assert 10 < len(want) == len(s.dropped)
    assert sum(loss["rack_us"] >= 0 for loss in want) > len(want) // 2
    names = ("sent_us", "resent_us", "acked_us", "delivered_us", "rack_us", "tail")
    assert [{name: loss[name] for name in names} for loss in got] == want
