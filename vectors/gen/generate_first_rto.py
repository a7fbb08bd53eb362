# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the test vectors of first RTOs to vectors/first-rto, or with --check compare the existing files."""

import json
import random
from fractions import Fraction

from vector_files import VECTORS, main

CASES = {  # variants have the parameters that differ from the policy's model
    "rfc6298": (
        {"place_last": 2.25, "place_high": 0.5, "place_constant_us": 7000},
        {"place": 1, "prefix": 0, "prefix_high": 1.5, "prefix_constant_us": 10_000, "floor_us": 1000},
        {"hops": 0, "hops_constant_us": 20_000, "hops_each_us": 9000, "max_age_s": 1},
    ),
    "emulated": ({"nothing": 1}, {"cap_us": 300_000, "max_age_s": 4_294_967}),
}
PLACES = 4
LONGEST_US = 2**32


class Place:
    def __init__(self):
        self.last = self.high = self.seen = 0
        self.doubts = 0
        self.excused = False

    def report(self, rtt, now):
        rtt = max(1, min(rtt, LONGEST_US))
        self.high = max(rtt, self.high - (self.high - rtt) // 8)
        self.last, self.seen, self.doubts, self.excused = rtt, now, 0, False

    def doubt(self, now):
        self.seen, self.doubts = now, min(5, self.doubts + 1)

    def resent(self, rtt, rto, now):
        lost_answer = 0 < self.last <= rto and rtt - rto > self.last - self.last // 4
        if 0 < rtt <= rto:
            self.report(rtt, now)
        elif lost_answer and not self.excused:
            self.excused = True
        else:
            self.doubt(now)


def first_rto(model, place, prefix, hops, now):
    def fresh(what):
        return now - what.seen <= model["max_age_us"]

    def line(terms, what):
        weighted = Fraction(terms["last"]) * what.last + Fraction(terms["high"]) * what.high
        return int(terms["constant_us"]) + weighted.numerator // weighted.denominator

    steps = model["steps"]
    rto = int(steps["nothing"]["constant_us"]) if steps["nothing"] else model["cap_us"]
    if steps["place"] and place.last and fresh(place):
        rto = line(steps["place"], place)
    elif steps["prefix"] and prefix.last and fresh(prefix):
        rto = line(steps["prefix"], prefix)
    elif steps["hops"] and hops >= 0:
        terms = steps["hops"]
        rto = min(rto, int(terms["constant_us"]) + int(terms["hop_us"]) * min(hops, 255))
    rto = max(model["floor_us"], min(rto, model["cap_us"]))
    return min(rto * 4**place.doubts if fresh(place) else rto, model["cap_us"])


def changed_model(name, changed):
    """Return the model `name` of core/models/ with the parameters `changed`, named as in first_rto/list.h.
    The model has several ways to predict an RTO (`steps`). A parameter with the name of one of them is 0 if
    this way is used, and 1 if it is not."""
    model = json.loads((VECTORS.parent / "core" / "models" / f"rtt_{name}.json").read_text())
    terms = {"constant_us": 0, "last": 0, "high": 0, "hop_us": 0}
    steps = model["steps"]
    keys = {"constant_us": "constant_us", "last": "last", "high": "high", "each_us": "hop_us"}
    for key, value in changed.items():
        step, _, of = key.partition("_")
        if key in steps:
            steps[key] = (terms | (steps[key] or {})) if value == 0 else None
    for key, value in changed.items():
        step, _, of = key.partition("_")
        if of in keys and step in steps:
            steps[step][keys[of]] = value
        elif key == "max_age_s":
            model["max_age_us"] = value * 1_000_000
        elif key not in steps:
            model[key] = value
    return model


def events():
    """Yield random events at a few destinations: RTTs, retransmitted and unanswered SYNs, and queries of the
    first RTO. Some RTTs are near the limit that tells a lost SYN-ACK from a lost SYN."""
    dice = random.Random(14)
    places = [Place() for _ in range(PLACES)]
    now = 0
    for k in range(2000):
        now += dice.choice((1_000, 2_000_000, 600_000_000, 4_000_000_000, 700_000_000_000))
        which = dice.randrange(PLACES)
        rtt = dice.choice((0, 1, 3_000, 70_000, 333_333, 5_000_000, 2**32, 2**33)) + dice.randrange(1000)
        if k % 3 == 0:
            places[which].report(rtt, now)
            yield "report", which, rtt, now
        elif k % 11 == 1:
            places[which].doubt(now)
            yield "doubt", which, now
        elif k % 11 == 4:
            last = places[which].last
            rto = dice.choice((last, last + 1, last * 3 // 2, 20_000, 1_000_000))
            rtt = rto + dice.choice((-1, 0, 1, last - last // 4 - 1, last - last // 4, last, 2 * last, -rto))
            places[which].resent(rtt, rto, now)
            yield "resent", which, rtt, rto, now
        else:
            yield "query", which, dice.randrange(PLACES), now, dice.randrange(-1, 300), dice.randrange(2)


def answers(name, changed, series):
    """Yield the first RTO in us for each query in `series`, twice: it is equal in fixed point and in double
    precision."""
    model = changed_model(name, changed)
    places = [Place() for _ in range(PLACES)]
    for word, which, *numbers in series:
        if word == "query":
            prefix, now, hops, accepts = numbers
            rto = first_rto(model, places[which], places[prefix], hops, now)
            rto = min(rto + accepts * (rto // 8), model["cap_us"])
            yield (rto,), (rto,)
        else:
            getattr(places[which], word)(*numbers)


if __name__ == "__main__":
    policies = {name: (name, {}, cases) for name, cases in CASES.items()}
    main(__doc__, "first-rto", policies, {"places": list(events())}, answers)
