# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generate the series of RTT samples on which the estimators are tested, from fixed random seeds."""

import random
from typing import NamedTuple


class Sample(NamedTuple):
    time_us: int
    sent_us: int
    rtt_us: int
    ack_delay_us: int = 0
    flight_segments: int = 1
    ttl: int = 0
    hops: int = 0


class Series(NamedTuple):
    rows: list
    repeat: int = 1  # number of times that the rows are repeated
    period_us: int = 0  # by how much the times of each repetition are shifted
    every: int = 1  # an answer is written after this many samples

    def samples(self):
        for k in range(self.repeat):
            shift = k * self.period_us
            for s in self.rows:
                yield s._replace(time_us=s.time_us + shift, sent_us=s.sent_us + shift)


def paced(rtts, gap_us, **columns):
    """Return a list with a sample every `gap_us` microseconds, with the RTTs `rtts` and the values in
    `columns`."""
    rows, now = [], 1_000_000
    for k, rtt in enumerate(rtts):
        now += gap_us
        extra = {name: values[k % len(values)] for name, values in columns.items()}
        rows.append(Sample(now, now - rtt, rtt, **extra))
    return rows


def wan():
    r = random.Random(1)
    rtts = [
        43_000 + int(sum(r.random() for _ in range(3)) * 4000) + (90_000 if r.random() < 0.02 else 0)
        for _ in range(200)
    ]
    return Series(
        paced(
            rtts,
            11_000,
            ack_delay_us=[int(r.random() * 30_000) for _ in range(200)],
            flight_segments=[1 + int(r.random() * 40) for _ in range(200)],
            ttl=[52] * 100 + [0, 116, 243, 64],
            hops=[12] * 50 + [0] * 50,
        )
    )


def tiny():
    r = random.Random(2)
    rtts = [1 + int(r.random() * 60) for _ in range(150)]
    return Series(paced(rtts, 40, flight_segments=[0, 1, 2, 3, 4], ttl=[64]))


def large():
    r = random.Random(3)
    rtts = [int(2 ** (22 + r.random() * 12)) for _ in range(100)] + [2**32 - 1, 2**32, 2**32 + 1, 2**40]
    return Series(
        paced(
            rtts, 3_000_000, flight_segments=[1, 1000, 1 << 19, 1 << 20, (1 << 21) + 1, 2**32 - 1], ttl=[200]
        )
    )


def equal():
    return Series(paced([50_000] * 60, 10_000, flight_segments=[5], ttl=[57], hops=[7]))


def falling():
    r = random.Random(4)
    rtts = [(400_000 if k < 50 else 40_000) + int(r.random() * 3000) for k in range(100)]
    return Series(paced(rtts, 20_000, flight_segments=[10], ack_delay_us=[0, 4000], ttl=[240]))


def rising():
    r = random.Random(5)
    rtts = [(2_000 if k < 50 else 200_000) + int(r.random() * 100) for k in range(100)]
    return Series(paced(rtts, 20_000, flight_segments=[2, 3, 30], ttl=[120]))


def extremes():
    return Series(paced([100, 10_000_000] * 40, 5_000_000, flight_segments=[1, 100], ttl=[1, 255]))


def sawtooth():
    rtts = [20_000 + 4_000 * (k % 25) for k in range(150)]
    return Series(paced(rtts, 8_000, flight_segments=[4 + k % 25 for k in range(25)], ttl=[50]))


def hour():
    r = random.Random(6)
    queue, rtts = 0.0, []
    for k in range(360):
        queue = max(0.0, queue * 0.9 + (r.random() - 0.45) * 20_000)
        rtts.append(30_000 + int(queue) + (250_000 if 200 <= k < 210 else 0))
    rows = paced(rtts, 100_000, flight_segments=[1, 6, 20], ttl=[55])
    return Series(rows, repeat=100, period_us=360 * 100_000, every=100)


def flights():
    """Return a series in which eight segments per round trip are sent together and wait in a queue."""
    r = random.Random(7)
    rows, now = [], 0
    for _ in range(25):
        base = 40_000 + int(r.random() * 20_000)
        for k in range(8):
            rtt = base + k * 1_200
            rows.append(
                Sample(now + rtt, now, rtt, ack_delay_us=500 * (k % 2), flight_segments=8 - k, ttl=49)
            )
        now += base
    return Series(sorted(rows))


def stairs():
    """Return a series in which the level of the RTT rises over several samples, has spikes, and falls."""
    r, rtts, level = random.Random(8), [], 20_000.0
    for block in range(12):
        up = block % 3 != 2
        for k in range(5 if block == 0 else 40):
            climbed = min(k, 9) if up and block % 2 else 9
            spike = 1 + 5 * (r.random() < 0.06) * r.random()
            rtts.append(int(level * 1.7 ** (climbed - 9) * (1 + 0.05 * r.random()) * spike) + 1)
        level = level * (6 if up else 1 / 30)
    return Series(paced(rtts, 15_000, flight_segments=[3, 9]))


ALL = {
    f.__name__: f()
    for f in (wan, tiny, large, equal, falling, rising, extremes, sawtooth, hour, flights, stairs)
}
