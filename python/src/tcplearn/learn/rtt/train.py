# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Do the work of `tcplearn train rtt`: fit the RTT regression, train a first-RTO model, and test both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tcplearn import provenance
from tcplearn.errors import UserError
from tcplearn.learn.dataset import Ints
from tcplearn.learn.rtt import data, history, ladder, quantile, regression, trials
from tcplearn.learn.rtt.data import Handshakes, Table
from tcplearn.learn.rtt.history import Known
from tcplearn.learn.rtt.model import Model
from tcplearn.learn.rtt.regression import Coefficients
from tcplearn.learn.rtt.trials import Guess

Say = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Options:
    name: str = "own"
    miss_rate: float = 0.005  # intended share of spurious SYN retransmissions
    folds: int = 10  # 2: train on half of the destinations and test on the others
    floor_us: int = 20_000
    max_age_us: int = 7 * 86_400_000_000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    options: Options
    table: Table
    usable: Table  # the rows that the regression uses
    rows: Handshakes
    known: Known
    coefficients: Coefficients
    mape: float  # on the rows to which it was fitted, as the paper reports it
    bursts: list[Guess]
    rtts: list[Guess]
    timers: list[Guess]
    active: list[Guess]  # first RTOs without hops, as for active opens
    model: Model

    def of_first(self) -> Ints:
        """Return the indices of the handshakes with a destination whose RTT was not known from earlier."""
        return np.flatnonzero(self.known.place_last_us == 0)


def train(paths: Sequence[Path], options: Options, say: Say | None = None) -> Result:
    """Fit and test the RTT regression and a first-RTO model on the RTTs in the files `paths`, which `tcplearn
    collect` wrote. `say` is called with the progress. Raise UserError."""

    def step(share: float, what: str) -> None:
        if say:
            say(share, what)

    step(0.0, "reading")
    quantile.optimize()
    table, rows = data.read(paths)
    if len(table.destinations) < options.folds:
        raise UserError(
            f"{len(table.destinations)} destinations are fewer than {options.folds} folds; give --folds 2"
        )
    folds = trials.folds_of(len(table.destinations), options.folds, options.seed)
    usable = regression.usable(table)
    coefficients = regression.fit(usable)
    known = history.replay(rows, options.max_age_us)
    level = 1 - options.miss_rate
    step(0.1, "the regression")
    bursts = regression.tried(usable, folds)
    step(0.2, "RTTs")
    rtts = list(trials.rtts(rows, known, folds, options.seed))
    step(0.5, "first RTOs")
    timers, active = trials.timers(rows, known, folds, level, options.seed)
    step(0.9, "the model")
    model = ladder.fit(options.name, known, rows, np.unique(rows.destination), level, options.seed)
    model = replace(
        model,
        floor_us=options.floor_us,
        max_age_us=options.max_age_us,
        about={"version": provenance.made_by()["version"], "rows": len(table), "handshakes": len(rows)},
    )
    fitted = Guess("fitted", usable.avg_us, coefficients.predicted_us(usable), usable.destination)
    return Result(
        options, table, usable, rows, known, coefficients, fitted.mape, bursts, rtts, timers, active, model
    )
