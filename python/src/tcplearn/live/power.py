# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compute, by formulas and with simulated connections, how many connections `tcplearn live` needs to show an
effect of learned minimum RTOs (floors), and how soon its guard stops those that do harm. A round is a round
trip; a lossy one has a loss that needs a retransmission by timer."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, sqrt
from statistics import median

import numpy as np

from .arms import OURS
from .effect import LEAST_ROUNDS, boundary, effect_of
from .guard import Plan
from .simulated import Fleet, Path, guarded, lossy_counts

ROUNDS = 20.0  # round trips of a connection, on average
CONTROL = 0.05  # share of the connections in the control group
CONNECTIONS = (1_000, 10_000, 100_000, 1_000_000)
LOSSES = (0.001, 0.003, 0.01, 0.03)  # probabilities of a loss in a round trip
HARMS = (0.005, 0.01, 0.02, 0.05)  # probabilities of a spurious retransmission in a round trip
#: Mean number of round trips of a connection, and number of connections that are open at a time.
CONNECTED = ((5.0, 1), (20.0, 1), (100.0, 1), (100.0, 50))
_STOCK_MS = 230.0  # mean time of a round trip with a loss under the kernel's own timer
_FOUND = 0.84  # an effect this many standard errors above the limit is found in four of five cases
#: Standard deviation of the time of a round trip with a loss, divided by its mean, as in `simulated`.
_VARIES = 0.6
_MOST_ROUNDS = 60_000
_PLACES = 1000  # destination prefixes, too many for stops of single prefixes to help


def least_effect(connections: int, loss: float, control: float = CONTROL) -> float | None:
    """Return the smallest share by which lossy rounds (round trips with a loss that needs a retransmission by
    timer) must become shorter for the effect to be seen in four of five cases, or None. `loss` is the
    probability that a round trip is lossy, and `control` the share of the `connections` that keep the
    kernel's timer for comparison."""
    lossy = connections * ROUNDS * loss
    rounds = control * lossy, (1 - control) * lossy
    if min(rounds) < 1.5 * LEAST_ROUNDS:  # fewer may be too few by chance
        return None

    def seen(effect: float) -> bool:
        error = _VARIES * sqrt(1 / rounds[0] + (1 - effect) ** 2 / rounds[1])
        return effect >= (boundary(int(min(rounds))) + _FOUND) * error

    for percent in range(1, 100):
        if seen(percent / 100):
            return percent / 100
    return None


def found_share(connections: int, loss: float, effect: float, runs: int) -> float:
    """Return the share of `runs` simulations of `connections` connections in which the effect of learned
    minimum RTOs is seen: its interval is above 0. The effect is that round trips with a loss (probability
    `loss`) take the share `effect` less time."""
    path = Path(loss, (0.0, 0.0), (_STOCK_MS, _STOCK_MS * (1 - effect)), ROUNDS, unlike=0.0)
    found = 0
    for seed in range(runs):
        draw = np.random.default_rng(seed)
        ours = int(draw.binomial(connections, 1 - CONTROL))
        control = lossy_counts(path, connections - ours, False, draw)
        effect_seen = effect_of([{"control": control, "ours": lossy_counts(path, ours, True, draw)}])
        found += effect_seen is not None and effect_seen.less_ms.low > 0
    return found / runs


def effects(runs: int) -> Iterator[list[str]]:
    """Yield a table row for each number in CONNECTIONS: for each loss rate, the least effect of learned
    minimum RTOs that can be seen, in percent of the time of a round trip with a loss, and how often `runs`
    simulations find it."""
    for connections in CONNECTIONS:
        row = [f"{connections:,}"]
        for loss in LOSSES:
            least = least_effect(connections, loss)
            cell = "nothing" if least is None else f"{100 * least:.0f} %"
            if least is not None:
                cell += f" ({100 * found_share(connections, loss, least, runs):.0f} % found)"
            row.append(cell)
        yield row


def rounds_to_stop(harm: float, length: float, at_once: int, seed: int) -> tuple[int, int] | None:
    """Return the numbers of rounds (round trips) with learned minimum RTOs (floors), and of all rounds, until
    the guard finds that floors do harm and stops them, or None if this takes more than `_MOST_ROUNDS`. `harm`
    is the probability of a spurious retransmission in a round with a floor; `length` is the mean number of
    rounds of a connection, and `at_once` the number of connections that are open at any time. In the guard's
    first step half of the connections get floors."""
    plan = Plan(steps=(0.5,))
    fleet = Fleet([Path(0.01, (0.0, harm), rounds=length)] * _PLACES, seed, at_once=at_once)
    guard = guarded(fleet, plan)
    while guard.step is not None and fleet.rounds < _MOST_ROUNDS:
        fleet.play(fleet.rounds + 50, guard)
    if guard.step is not None:
        return None
    return sum(element[OURS]["rounds"] for element in fleet.seen.arms), fleet.rounds


def harms(runs: int) -> Iterator[list[str]]:
    """Yield a table row for each rate of harm (spurious retransmissions in 1,000 round trips with learned
    minimum RTOs, also called floors). A cell for each element of CONNECTED has the number of round trips with
    floors until the guard stops floors, which half of the connections get at first: the median and the ninth
    decile of `runs` simulations."""
    for harm in HARMS:
        row = [f"{1000 * harm:.0f}"]
        for length, at_once in CONNECTED:
            found = [rounds_to_stop(harm, length, at_once, seed) for seed in range(runs)]
            counts = sorted(one[0] if one else _MOST_ROUNDS for one in found)
            row.append(f"{median(counts):,.0f} ({counts[ceil(0.9 * runs) - 1]:,})")
        yield row
