# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generate series of events to test loss classifiers, which decide at a fast retransmit whether congestion or
chance lost the packet. The events are ACKs, fast retransmits, and what follows these: the recovery begins,
ends or is undone because nothing was lost, or the retransmission timer expires."""

import random
from typing import NamedTuple

CONGESTION, RANDOM, UNKNOWN = 0, 1, 2
BEGUN, ENDED, UNDONE, TIMEOUT = 0, 1, 2, 3
AS_DECIDED = 9  # as the cause of a change: the cause of the last decision


class Ack(NamedTuple):
    time_us: int
    rtt_us: int = 0
    delivered: int = 1
    duplicate: int = 0


class Moment(NamedTuple):
    """A decision at a fast retransmit if `change` is None, otherwise the report of a change of the
    connection's state."""

    time_us: int
    flight: int
    cwnd: int
    ssthresh: int
    truth: int = UNKNOWN
    change: int | None = None
    cause: int = AS_DECIDED


def recovery(at, *after):
    """Yield the events of one recovery: the decision `at`, then the beginning of the recovery, then the later
    changes of state `after`."""
    yield at
    for change in (BEGUN, *after):
        yield at._replace(change=change, cause=CONGESTION if change == TIMEOUT else AS_DECIDED)


def lossy(seed, base_us, packet_us, queue, loss, rounds, keeps=(), timeouts=()):
    """Yield the events of a sender whose bottleneck has a queue. The window grows by one segment per round
    trip, and every loss halves it, except in the recoveries whose numbers are in `keeps`. The recoveries
    whose numbers are in `timeouts` end with a timeout."""
    r = random.Random(seed)
    now, cwnd, ssthresh, seen = 1_000_000, 10, 1 << 31, 0
    for _ in range(rounds):
        waiting = max(0, cwnd - base_us // packet_us)
        rtt_us = base_us + min(waiting, queue) * packet_us
        full, lost = waiting > queue, r.random() < 1 - (1 - loss) ** cwnd
        gap_us = max(rtt_us // cwnd, 1)
        for k in range(cwnd):
            now += max(0, gap_us + r.randrange(-gap_us // 2, gap_us // 2 + 1))
            yield Ack(
                now,
                0 if r.random() < 0.1 else rtt_us + r.randrange(0, base_us // 10 + 1),
                r.choice((1, 1, 2)),
            )
            if (full or lost) and k == cwnd // 2:
                for _ in range(3):
                    now += gap_us
                    yield Ack(now, delivered=1, duplicate=1)
                at = Moment(now, cwnd + r.randrange(3), cwnd, ssthresh, CONGESTION if full else RANDOM)
                seen += 1
                end = ENDED if r.random() < 0.8 else UNDONE
                yield from recovery(at, TIMEOUT if seen in timeouts else end)
                if seen not in keeps:
                    ssthresh = cwnd = max(2, cwnd // 2)
                    break
        else:
            cwnd += 1


def tiny():
    """Yield events with RTTs of 1 to 50 us, simultaneous ACKs, no packet in flight, cwnd 0, and huge numbers
    of packets."""
    r = random.Random(2)
    now = 5
    for k in range(300):
        now += r.choice((0, 0, 1, 3))
        yield Ack(now, r.randrange(1, 50), r.choice((0, 1, 4_294_967_295 if k > 280 else 3)), int(k % 7 == 0))
        if k % 23 == 22:
            counts = (0, 1, 7, 1 << 20, (1 << 20) + 1, (1 << 32) - 1)
            yield from recovery(
                Moment(now + r.choice((0, 9)), r.choice(counts), r.choice(counts), r.choice(counts))
            )


def large():
    """Yield events with RTTs of seconds or above 2^32 us, hours between ACKs, and times that decrease."""
    r = random.Random(3)
    now = -(1 << 61)
    for k in range(160):
        now += r.choice((1_000_000, 1 << 31, 1 << 33, 1 << 50, -5_000_000))
        yield Ack(
            now, r.choice((1, 1 << 20, 4_000_000_000, 1 << 32, (1 << 32) + 1, 1 << 62)), 1, int(k % 5 == 0)
        )
        if k % 11 == 10:
            yield from recovery(Moment(now, 1 + k, 1 + k, 2 + k), TIMEOUT if k % 2 else ENDED)


def early():
    """Yield decisions about losses before the first ACK, before the first RTT sample, and with RTTs that are
    all equal."""
    at = Moment(1000, 10, 10, 1 << 31, RANDOM)
    yield from recovery(at)
    yield Ack(2000, 0, 1, 0)
    yield from recovery(at._replace(time_us=2500), ENDED)
    for k in range(8):
        yield Ack(10_000 + 1000 * k, 40_000, 1, int(k > 4))
        yield from recovery(at._replace(time_us=10_500 + 1000 * k, flight=k, cwnd=k), UNDONE, TIMEOUT)


def relapses():
    """Yield the events of a sender that loses a packet every third of a window, and later every ten windows,
    while the RTT is that of an empty queue."""
    now = 0
    for k in range(24):
        for _ in range(10 if k < 12 else 300):
            now += 1000
            yield Ack(now, 30_000 + (k * 37) % 500)
        for _ in range(3):
            now += 1000
            yield Ack(now, 0, 1, 1)
        yield from recovery(Moment(now, 30, 30, 20, RANDOM), TIMEOUT if k == 20 else ENDED)


ALL = {
    "shallow": list(lossy(1, 40_000, 1000, 20, 0.003, 120)),
    "deep": list(lossy(4, 30_000, 500, 150, 0.002, 160, keeps=(2, 3, 5, 7, 8, 9))),
    "fast": list(lossy(5, 2000, 12, 30, 0.001, 40, keeps=range(1, 40, 2))),
    "random": list(lossy(6, 40_000, 2000, 60, 0.02, 200, keeps=range(12, 99, 2), timeouts=(9, 20, 40))),
    "tiny": list(tiny()),
    "large": list(large()),
    "early": list(early()),
    "relapses": list(relapses()),
}
