# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/expected/first_rto.csv; with --check compares it with what is there.

    python3 vectors/gen/generate_first_rto.py [--check]

The first RTO again, from docs/algorithms/first-rto.md and the files in core/models/, in plain integers."""

import json
import random
import sys
from fractions import Fraction

from vector_files import VECTORS, parser, write_or_check

OUT = VECTORS / "expected" / "first_rto.csv"
#: In the order of enum tl_first_rto_choice.
NAMES = ("rfc6298", "emulated")
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


def lines():
    models = [
        json.loads((VECTORS.parent / "core" / "models" / f"rtt_{name}.json").read_text()) for name in NAMES
    ]
    dice = random.Random(14)
    places = [Place() for _ in range(PLACES)]
    now = 0
    for k in range(2000):
        now += dice.choice((1_000, 2_000_000, 600_000_000, 4_000_000_000, 700_000_000_000))
        which = dice.randrange(PLACES)
        rtt = dice.choice((0, 1, 3_000, 70_000, 333_333, 5_000_000, 2**32, 2**33)) + dice.randrange(1000)
        if k % 3 == 0:
            places[which].report(rtt, now)
            yield f"report,{which},{rtt},{now}"
        elif k % 11 == 1:
            places[which].doubt(now)
            yield f"doubt,{which},0,{now}"
        elif k % 11 == 4:
            last = places[which].last
            rto = dice.choice((last, last + 1, last * 3 // 2, 20_000, 1_000_000))
            rtt = rto + dice.choice((-1, 0, 1, last - last // 4 - 1, last - last // 4, last, 2 * last, -rto))
            places[which].resent(rtt, rto, now)
            yield f"resent,{which},{rtt},{now},{rto}"
        else:
            model, prefix, hops = dice.randrange(len(models)), dice.randrange(PLACES), dice.randrange(-1, 300)
            rto = first_rto(models[model], places[which], places[prefix], hops, now)
            yield f"query,{which},{prefix},{now},{model},{hops},{rto}"


if __name__ == "__main__":
    sys.exit(write_or_check(parser(__doc__).parse_args().check, {OUT: "\n".join(lines()) + "\n"}))
