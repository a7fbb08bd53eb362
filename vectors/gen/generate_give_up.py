# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write vectors/give_up.csv, or with --check compare the existing file. The file has the time after which
Linux gives up an unanswered handshake (net/ipv4/tcp_timer.c). It also has the shortest first RTO with which
this time stays as long as docs/algorithms/first-rto.md demands, found by trying all values."""

import random
from dataclasses import dataclass

from vector_files import main_of_file

MOST_RETRIES, MORE_SYNS = 127, 7


@dataclass(frozen=True)
class Handshake:
    second: int
    longest: int
    linear: int
    retries: int


def model_timeout(h, first, retries):
    """Return the sum of a handshake's timeouts, in ticks, as tcp_model_timeout() of Linux computes it.
    `first` is the first RTO in ticks."""
    rto, total = first, 0
    for _ in range(retries + 1):
        total += rto
        rto = min(2 * rto, h.longest)
    return total


def unanswered(h, first, retries):
    """Return the number of ticks after which Linux gives up the handshake `h` with a first RTO of `first`
    ticks, and the number of packets sent until then."""
    elapsed, rto, resent, goal = 0, first, 0, model_timeout(h, first, retries)
    while True:
        elapsed += rto
        if resent >= retries + h.linear or (resent and elapsed >= goal):
            return elapsed, resent + 1
        resent += 1
        if resent > h.linear:
            rto = min(2 * rto, h.longest)


def allowed(h, ticks):
    """Return whether the time `ticks` is 9/8 to 16/9 of the time after which stock Linux gives up the
    handshake `h`."""
    stock = unanswered(h, h.second, h.retries)[0]
    return 8 * ticks >= 9 * stock and 9 * ticks <= 16 * stock


def plan_syn(h, learned):
    most = unanswered(h, h.second, h.retries)[1] + MORE_SYNS
    for first in range(max(2, learned), h.second):
        for retries in range(h.retries, min(h.retries + MORE_SYNS, MOST_RETRIES) + 1):
            ticks, packets = unanswered(h, first, retries)
            if allowed(h, ticks) and packets <= most:
                return first, retries
    return h.second, h.retries


def plan_listener(h):
    firsts = [f for f in range(2, h.second) if allowed(h, unanswered(h, f, h.retries + 1)[0])]
    return (firsts[0], firsts[-1]) if firsts else (0, 0)


def rows():
    dice = random.Random(6)
    for k in range(400):
        second = (100, 250, 250, 300, 1000)[k % 5]
        h = Handshake(
            second,
            second * dice.choice((120, 120, 60)),
            dice.choice((0, 0, 4, 4, 1, 2, 8)),
            dice.choice((1, 2, 3, 4, 5, 6, 6, 7, 8, 10, 15)),
        )
        learned = int(second * 150 ** (dice.random() - 1)) + dice.randrange(2)
        first, retries = plan_syn(h, learned)
        end = unanswered(h, first, retries)
        yield "syn", second, h.longest, h.linear, h.retries, learned, first, retries, *end
    for second in (100, 250, 1000):
        for retries in (1, 2, 3, 5, 6, 7, 9, 12, 15, 40):
            h = Handshake(second, 120 * second, 0, retries)
            yield "listener", second, h.longest, 0, retries, 0, *plan_listener(h), 0, 0


if __name__ == "__main__":
    main_of_file(__doc__, "give_up.csv", rows())
