# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write vectors/retry.csv, or with --check compare the existing file. A line has a call of the retry timer,
its arguments, and the results: the code, the request that is due, and the time when the next wait ends."""

import random

from retry_reference import DEFAULTS, PLACES, Retry
from vector_files import main_of_file

ANY = -1
#: Values in place of a share of losses. `OUTAGES`: all transmissions in the server's pauses are lost.
#: `RISING`: nothing is lost, but in the last third of the requests each latency is longer than the one
#: before.
OUTAGES, RISING = -1.0, -2.0
#: Settings that differ from the defaults; requests per second; share of lost transmissions; whether an answer
#: says which transmission it answers.
CASES = (
    ({}, 20, 0.03, True),
    ({"price_us": 5000}, 200, 0.01, False),
    ({"budget": 3}, 50, 0.3, True),
    ({"rate_ppm": 10_000}, 20, 0.02, True),
    ({"rate_ppm": 50_000, "min_wait_us": 1}, 2000, 0.01, True),
    ({"rate_ppm": 50_000}, 100, 0.05, False),
    ({"rate_ppm": 500_000, "max_wait_us": 60_000, "budget": 2}, 300, 0.1, True),
    ({"rate_ppm": 100, "first_wait_us": 3_000_000, "min_wait_us": 30_000}, 10, 0.02, True),
    ({"rate_ppm": 20_000}, 300, OUTAGES, True),
    ({"rate_ppm": 10_000}, 20, RISING, True),
    ({"rate_ppm": 10_000}, 20, 0.02, True),
)
REQUESTS = 220
#: The server pauses for PAUSE_US at the beginning of each PERIOD_US.
PERIOD_US, PAUSE_US = 900_000, 250_000


def latency(dice, n, loss):
    """Return a random latency in us of the answer to request number `n`. The last third of the requests has a
    higher level, or, if `loss` is RISING, a rising one; otherwise some latencies are ten times longer."""
    after = n - REQUESTS * 2 // 3
    if loss == RISING:
        return 20_000 + n if after < 0 else int(20_000 * 1.04**after)
    level = 20_000 if after < 0 else 90_000
    slow = 10 if dice.random() < 0.02 else 1
    return int(slow * level * (0.8 + dice.expovariate(4))) + 1


def answered_at(dice, n, now, loss):
    """Return the time of the answer to a transmission of request number `n` at `now`. If the answer falls
    into a pause of the server, it comes after the pause."""
    at = now + latency(dice, n, loss)
    pauses = at % PERIOD_US < PAUSE_US and loss != RISING
    return at - at % PERIOD_US + PAUSE_US + dice.randrange(3000) if pauses else at


def is_lost(dice, loss, now):
    """Return whether a transmission at `now` is lost: with probability `loss`, or, if `loss` is OUTAGES,
    during the server's pauses."""
    return now % PERIOD_US < PAUSE_US if loss == OUTAGES else dice.random() < loss


def hostile(dice, now, number):
    """Yield calls that the retry timer refuses, and requests with the greatest possible numbers and times."""
    yield "sent", number, now - 1
    yield "sent", number, 2**62 + 1
    yield "answered", number + 10**9, 0, now
    yield "cancelled", number + 10**9
    yield "fired", -(2**63)
    yield ("inherit",)
    for k in range(PLACES + 2):
        yield "sent", 2**64 - 1 - k % (PLACES + 1), now
    yield "answered", 2**64 - 1, 7, now
    for k in range(PLACES + 1):
        yield ("answered", 2**64 - 1 - k, 0, now + 5000) if k % 3 else ("cancelled", 2**64 - 1 - k)


def run(timer, earlier, dice, rate, loss, clear):
    """Yield the calls of `timer`, with their results, by a client with `rate` requests a second. The share
    `loss` of transmissions is lost. If `clear` is false, the client does not say which transmission was
    answered. `earlier` is a timer to inherit from, or None."""
    events, now, sent = [], 1_000_000, 0
    next_us = now

    def call(name, *values):
        if name == "fired":
            answer = timer.fired(*values)
        elif name == "inherit":
            answer = (timer.inherit(earlier),)
        else:
            answer = (getattr(timer, name)(*values),)
        return name, *values, *answer, timer.deadline()

    if earlier:
        yield call("inherit")
    while sent < REQUESTS or timer.out:
        due = timer.deadline()
        when = (next_us if sent < REQUESTS else -1, due, min(events)[0] if events else -1)
        now = max(now, min(t for t in when if t >= 0))
        if sent < REQUESTS and next_us <= now:
            yield call("sent", sent, now)
            flown = sent
            sent += 1
            next_us += int(dice.expovariate(rate) * 1e6)
            copy = 0
        elif events and min(events)[0] <= now:
            _, number, copy = events.pop(events.index(min(events)))
            if number in timer.out:
                if number % 50 == 49:
                    yield call("cancelled", number)
                else:
                    yield call("answered", number, copy if clear else ANY, now)
                    if number % 8 == 0:
                        yield "paused", timer.paused
            continue
        else:
            now += dice.randrange(3000) if dice.random() < 0.1 else 0
            while (line := call("fired", now))[2] == 1:
                yield line
                if not is_lost(dice, loss, now):
                    events.append((answered_at(dice, line[3], now, loss), *line[3:5]))
            yield line
            continue
        if not is_lost(dice, loss, now):
            events.append((answered_at(dice, flown, now, loss), flown, copy))
    for name, *values in hostile(dice, now, sent):
        yield call(name, *values)
    yield "sums", *timer.sums.values()


def rows():
    dice = random.Random(39)
    earlier = None
    for n, (changed, rate, loss, clear) in enumerate(CASES):
        timer = Retry(**changed)
        yield "settings", *{**DEFAULTS, **changed}.values()
        yield from run(timer, earlier if n in (2, 5, len(CASES) - 1) else None, dice, rate, loss, clear)
        earlier = timer


if __name__ == "__main__":
    main_of_file(__doc__, "retry.csv", rows())
