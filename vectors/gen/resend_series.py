# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generate series of events (kind, values) to test resend policies, the rules for when TCP retransmits. The
times at which timers fire are part of a series, so that all policies are asked at the same times."""

import random

FIRST, LATER, UNCLEAR = range(3)


def requests(seed, count, rtt_us, loss, fade=0, clear=True, late=0.01):
    """Yield the events of requests of one segment. A lost segment is retransmitted after 2 RTT, then after
    3/2 of the previous wait. `late` is the share of ACKs that arrive only after the first retransmission. At
    every `fade`-th request, everything is lost for up to 8 s with probability 1/4. If `clear` is false, ACKs
    do not show which transmission they answer."""
    dice = random.Random(seed)
    now = 0
    for k in range(count):
        now += dice.randrange(1, 20 * rtt_us)
        sent, rtt = now, rtt_us + dice.randrange(1 + rtt_us // 4)
        yield "send", (now, 1)
        gone = sum(dice.random() < 0.3 for _ in range(6)) + 1 if dice.random() < loss else 0
        until = now + dice.randrange(8_000_000) if fade and k % fade == 0 and dice.random() < 0.25 else 0
        wait, n, copies = 2 * rtt_us, 0, [now]
        while n < gone or copies[-1] < until:
            now += wait
            yield "timer", (now, 1)
            copies.append(now)
            wait, n = wait * 3 // 2, n + 1
        if n == 0 and dice.random() < late:
            now += 2 * rtt_us
            yield "timer", (now, 1)
            rtt, n = 3 * rtt_us, 1
            copies = [sent]
        now = max(copies[-1] + rtt, now)
        answers = (LATER if len(copies) > 1 else FIRST) if clear or n == 0 else UNCLEAR
        yield "ack", (now, now - copies[-1] if answers < UNCLEAR else 0, 0, answers)


def flights(seed, count, rtt_us, loss):
    """Yield the events of flights of eight segments. The flights are 0.5 to 1.5 RTT apart. In the share
    `loss` of the flights, the timer retransmits the last segment."""
    dice = random.Random(seed)
    now, out, events = 10**12, 0, []
    for _ in range(count):
        now += rtt_us // 2 + dice.randrange(1 + rtt_us)
        tail = dice.random() < loss
        for k in range(8):
            at = now + 200 * k
            rtt = rtt_us + dice.randrange(1 + rtt_us // 8)
            events.append((at, 1, "send", at))
            if tail and k == 7:
                events.append((at + 2 * rtt_us, 2, "timer", at))
                events.append((at + 3 * rtt_us, 0, "ack", at + 2 * rtt_us))
            else:
                events.append((at + rtt, 0, "ack", at))
    for at, _, kind, sent in sorted(events):
        out += {"send": 1, "ack": -1, "timer": 0}[kind]
        if kind == "ack":
            yield kind, (at, at - sent, out, LATER if at - sent == rtt_us else FIRST)
        else:
            yield kind, (at, max(out, 1))


def bulk(seed, count, rtt_us):
    """Yield the events of windows of 2 to 12 segments, with ACKs and transmissions in turn. Some windows end
    with retransmissions: a tail loss probe or a timeout, and then further ones, each after twice the previous
    wait."""
    dice = random.Random(seed)
    now = 10**9
    yield "ack", (now - 1, rtt_us, 0, FIRST)
    for _ in range(count):
        out = dice.choice((2, 3, 4, 5, 12))
        for k in range(out):
            yield "send", (now, k + 1)
        for _ in range(dice.randrange(1, 12)):
            now += rtt_us // out
            yield "ack", (now, rtt_us + dice.randrange(1 + rtt_us // 8), out - 1, FIRST)
            yield "send", (now, out)
        resends, wait = dice.choice((0, 0, 1, 2, 4, 7)), dice.choice((2 * rtt_us + 8000, 250_000))
        for k in range(resends):
            now += wait << k
            yield "timer", (now, out)
        now += rtt_us
        if resends:
            clear = dice.random() < 0.5
            yield "ack", (now, rtt_us if clear else 0, out, LATER if clear else UNCLEAR)
        now += rtt_us
        yield "ack", (now, rtt_us, 0, FIRST)
        now += dice.randrange(10 * rtt_us)


def places(seed, rtt_us, loss, counts):
    """Yield the events of connections to one destination. The k-th connection has `counts[k]` requests."""
    for k, count in enumerate(counts):
        if k:
            yield "next", ()
        at = 10**10 * (k + 1)
        yield "ack", (at - 1, rtt_us, 0, FIRST)
        for kind, (time, *values) in requests(seed + k, count, rtt_us, loss, late=0.02):
            yield kind, (time + at, *values)


def queue(seed, rtt_us):
    """Yield the events of a connection whose RTT doubles for some time. From its doubling on, about one
    segment in twelve is lost."""
    after = 0
    for k, (count, times) in enumerate(((90, 1), (60, 2), (60, 1))):
        start = after
        for kind, (time, *values) in requests(seed + k, count, times * rtt_us, 0.08 if k else 0.01, late=0):
            after = start + time
            yield kind, (after, *values)


def extremes(seed, count):
    """Yield events that no correct caller reports, such as decreasing times and very many segments."""
    dice = random.Random(seed)
    times = (0, 1, -1, 50_000, 10**15, 10**15 + 1, -(2**62), 2**62, 2**63 - 1, -(2**63), 2**32, 2**32 + 1)
    counts = (0, 1, 2, 1000, 2**31, 2**32 - 1)
    for _ in range(count):
        kind = dice.choice(("send", "timer", "timer", "ack"))
        values = (dice.choice(times),)
        values += (dice.choice(times),) if kind == "ack" else ()
        values += (dice.choice(counts),)
        yield kind, values + ((dice.choice((0, 1, 2, 3, 2**32 - 1)),) if kind == "ack" else ())


SERIES = {
    "thin": list(requests(1, 900, 30_000, 0.03)),
    "unclear": list(requests(2, 500, 60_000, 0.05, clear=False)),
    "fades": list(requests(3, 250, 20_000, 0.02, fade=5)),
    "lan": list(requests(4, 300, 150, 0.02)),
    "flights": list(flights(5, 40, 40_000, 0.2)),
    "bulk": list(bulk(8, 120, 30_000)),
    "queue": list(queue(9, 30_000)),
    "extremes": list(extremes(6, 300)),
    "places": list(places(7, 25_000, 0.04, (120, 5, 0, 31, 33, *(1,) * 60, 150))),
}
