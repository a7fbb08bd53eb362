# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the decisions of the guard of `tcplearn live` when floors do no harm, and on a virtual day:

    PYTHONPATH=python/tests .venv/bin/python python/tests/live/guard_trial.py    # five minutes

For false alarms, connections that were recorded under the stock kernel (record_rounds.py) are drawn again
and again, so that the connections that the guard takes for those with learned floors are stock too. The
virtual day has 200,000 rounds to 300 places: half of them calm, a tenth harmful, the others lossy.
guard_trial.py COUNT sets another number of draws. guard_trial.py report FILE.html writes the report of
the first virtual day, as `tcplearn live report` writes that of a machine."""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from statistics import fmean
from typing import Any

from tcplearn.live import arms, by_place
from tcplearn.live.arms import CONTROL, EPOCHS, OURS, WHOLE
from tcplearn.live.guard import Guard, Plan
from tcplearn.live.simulated import Effect, Fleet, guarded
from tcplearn.live.simulated import Path as Connections
from tcplearn.live.simulated import count as count_connection
from tcplearn.output.markdown import table_of
from tcplearn.report import live as page

ROUNDS = Path(__file__).with_name("rounds.csv")
COUNT = 200
PLANS = {"1 % to 95 %, in seven": Plan(least_s=0.0), "50 %, 95 %": Plan(steps=(0.5,), least_s=0.0)}
CONNECTIONS = 5000
_LOOK_EVERY = 20  # connections
CALM = Connections(loss=0.0005)
HARMFUL = Connections(loss=0.001, spurious=(0.0, 0.02))
LOSSY = Connections(loss=0.02, spurious=(0.0002, 0.0006))
DAY_S, DAY_ROUNDS = 86_400.0, 200_000
DAYS = 10
DAY_PATHS = [CALM] * 150 + [HARMFUL] * 30 + [LOSSY] * 120
DAY_BEGINS_S = 1_767_225_600.0  # 2026-01-01
_CHUNK = 500  # rounds


@dataclass(frozen=True)
class Recorded:
    rounds: int
    lost: int
    spurious: int


def recorded() -> list[Recorded]:
    with ROUNDS.open() as file:
        rows = [*csv.DictReader(file)]
    return [Recorded(int(row["rounds"]), int(row["lost"]), int(row["spurious"])) for row in rows]


def played(rows: Sequence[Recorded], seed: int, plan: Plan, connections: int) -> Guard:
    """Return a guard that has compared recorded stock connections with recorded stock connections."""
    draw, fleet = random.Random(seed), Fleet([CALM], seed)
    guard = guarded(fleet, plan)
    for number in range(connections):
        row = draw.choice(rows)
        arm = OURS if draw.random() * WHOLE < guard.share else CONTROL
        element = fleet.seen.arms[guard.epoch % EPOCHS][arm]
        count_connection(element, row.rounds, row.spurious, [230.0] * row.lost, arm == OURS)
        if number % _LOOK_EVERY == 0:
            guard.look(float(number), fleet.seen)
            if guard.step is None:
                break
    return guard


def day(seed: int) -> tuple[Fleet, Guard]:
    fleet = Fleet(DAY_PATHS, seed, rounds_per_s=DAY_ROUNDS / DAY_S)
    guard = guarded(fleet, Plan())
    return fleet.play(DAY_ROUNDS, guard), guard


def session_of_day(seed: int) -> dict[str, Any]:
    """Return a virtual day as `tcplearn live status --json` shows a machine's."""
    fleet = Fleet(DAY_PATHS, seed, rounds_per_s=DAY_ROUNDS / DAY_S)
    guard, epoch, before = guarded(fleet, Plan()), -1, dict[bytes, arms.Place]()
    while fleet.rounds < DAY_ROUNDS:
        stopped = guard.places.stopped(fleet.now_s)
        before = deepcopy(by_place.renewed(before, fleet.seen.places, stopped))
        if epoch != guard.epoch:
            epoch, before = guard.epoch, deepcopy(dict(fleet.seen.places))
        fleet.play(fleet.rounds + _CHUNK, guard)
    return {
        "host": "virtual day",
        "cgroup": "/",
        "observe": False,
        "since": DAY_BEGINS_S,
        "until": DAY_BEGINS_S + fleet.now_s,
        "places": len(fleet.seen.places),
        "arms": list(arms.pooled(guard.epochs.by_share(fleet.seen.arms))),
        "compared": by_place.compared(fleet.seen.places, before),
        "guard": {
            "share": guard.share / WHOLE,
            "since": DAY_BEGINS_S,
            "places": [{"place": arms.name_of(key)} for key in guard.places.stopped(fleet.now_s)],
            "journal": [{"at_s": DAY_BEGINS_S + entry.at_s, "text": entry.text} for entry in guard.journal],
        },
    }


def _alarms(count: int) -> list[list[str]]:
    rows = recorded()
    out = []
    for name, plan in PLANS.items():
        guards = [played(rows, seed, plan, CONNECTIONS) for seed in range(count)]
        stopped = sum(guard.step is None for guard in guards)
        reached = sum(guard.step == len(plan.steps) for guard in guards)
        out.append([name, str(count), str(stopped), str(reached)])
    return out


def whole(fleet: Fleet) -> Effect:
    return reduce(add, fleet.effects.values())


def parts(effect: Effect) -> tuple[float, float]:
    """Return the parts of the gain and of the harm of learned floors on all connections."""
    return effect.saved_ms / effect.could_save_ms, effect.harm / effect.could_harm


def _days(count: int) -> list[list[str]]:
    out = []
    for seed in range(count):
        fleet, guard = day(seed)
        every = whole(fleet)
        gain, harm = parts(every)
        on_lossy, at_harmful = parts(fleet.effects[LOSSY])[0], parts(fleet.effects[HARMFUL])[1]
        reached = [entry.at_s / 3600 for entry in guard.journal if entry.text.startswith("95 %")]
        seconds = (f"{ms / 1000:.0f}" for ms in (every.could_save_ms, every.saved_ms))
        gains = (f"{part:.2f}" for part in (gain, on_lossy))
        harms = (f"{every.could_harm:.0f}", str(every.harm), f"{harm:.2f}", f"{at_harmful:.2f}")
        stock = str(len(guard.places.stopped(fleet.now_s)))
        out.append([str(seed), *seconds, *gains, *harms, stock, f"{reached[0]:.1f}" if reached else "-"])
    means = {at: f"{fmean(float(row[at]) for row in out):.2f}" for at in (3, 4, 7, 8)}
    return [*out, ["mean", *(means.get(at, "") for at in range(1, 11))]]


def main(count: int) -> None:
    print(table_of(["steps", "draws", "stopped", "reached all but the control group"], _alarms(count)))
    head = [
        "day",
        "s that floors on all connections would have saved",
        "saved",
        "part",
        "part on lossy places",
    ]
    head += ["spurious that they would have added", "added", "part", "part at harmful places"]
    print(table_of([*head, "places stock", "95 % after, h"], _days(min(DAYS, count))))


if __name__ == "__main__":
    if sys.argv[1:2] == ["report"]:
        page.write([session_of_day(0)], Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
