# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fit the weights of the loss classifier `history` by logistic regression, and test them on held-out
scenarios. docs/algorithms/loss/history.md has the equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tcplearn import algorithms
from tcplearn.errors import UserError
from tcplearn.learn import perceptron, scores, trials
from tcplearn.learn.dataset import Dataset, Floats, Ints
from tcplearn.learn.trials import Outcome
from tcplearn.loss_model import Model

WEIGHTS = ("answer", "past", "bias")
ODDS_MAX = 32.0  # the core's limit of log odds
RESAMPLES = 200


@dataclass(frozen=True, slots=True)
class Fitted:
    """The fitted weights of the loss classifier `history` (in the order of `WEIGHTS`), and its scores and
    decisions on held-out scenarios. `shipped` are the C core's default weights. `intervals`, those of the
    fitted weights, are from a bootstrap over scenarios."""

    weights: Floats
    intervals: list[tuple[float, float]]
    shipped: Floats
    deployed: Outcome  # the core's weights and threshold
    best: Outcome  # the core's weights, the best threshold of the other folds
    refitted: Outcome  # weights and threshold of the other folds
    connections: int


def defaults() -> dict[str, float]:
    return {p.key: p.default for p in algorithms.by_name(algorithms.LOSS)["history"].params}


def earlier(odds: Floats, connection: Ints, memory: float, most: float) -> Floats:
    """Return, for each fast recovery, the mean log odds of congestion in its connection's earlier recoveries,
    or 0 if it is the first. `odds` has the log odds of all recoveries in order of time. They are limited to ±
    `most`, and each has a weight of at least 1 / `memory` when it enters the mean."""
    out, state = np.zeros(len(odds)), dict[int, tuple[float, int]]()
    for k, (own, of) in enumerate(zip(np.clip(odds, -most, most), connection, strict=True)):
        mean, losses = state.get(of, (0.0, 1))
        out[k] = mean
        state[of] = mean + (own - mean) / min(losses + 1, memory), losses + 1
    return out


def held_out_odds(
    frame: pl.DataFrame,
    data: Dataset,
    inputs: Sequence[str],
    folds: Sequence[Ints],
    models: Sequence[Model],
    where: str,
) -> tuple[Floats, int]:
    """Return an array and the number of connections. The array has a row for each loss in `data`: its log
    odds of congestion, by the model trained without the loss's cross-validation fold; the mean log odds of
    its connection's earlier fast recoveries, with those that `data` leaves out; and 1 for the intercept.
    Raise UserError if `frame` does not name the flows."""
    if frame["flow"].null_count():
        raise UserError(f"{where}: no column flow; `history` needs to know each connection")
    numbers = {name: k for k, name in enumerate(data.scenarios)}
    group = np.array([numbers.get(name, -1) for name in frame["scenario"]])
    connection = frame.select(pl.struct("scenario", "flow").rank("dense")).to_series().to_numpy()
    x = frame.select(inputs).to_numpy()
    odds = np.zeros(len(frame))
    for held_out, model in zip(folds, models, strict=True):
        rows = np.isin(group, np.unique(data.group[held_out]))
        odds[rows] = np.clip(perceptron.log_odds(model, x[rows]), -ODDS_MAX, ODDS_MAX)
    core = defaults()
    means = earlier(odds, connection.astype(np.int64), core["memory"], core["most"])
    columns = np.stack([odds, means, np.ones(len(frame))], axis=1)[data.row]
    return columns, len(np.unique(connection[data.row]))


def fit(columns: Floats, congested: Ints, times: Ints | None = None) -> Floats:
    """Return the weights of `columns` in a logistic regression of `congested`. Row k counts `times[k]` times
    (None: once)."""
    regression = perceptron.sklearn("linear_model").LogisticRegression(C=np.inf, max_iter=1000)
    regression.fit(columns[:, :2], congested, sample_weight=times)
    return np.append(regression.coef_[0], regression.intercept_[0])


def fitted(data: Dataset, folds: Sequence[Ints], columns: Floats, connections: int) -> Fitted:
    """Return the weights fitted to `data`, and the scores and decisions with them and with the C core's
    weights. `columns` and `connections` are the result of held_out_odds()."""
    core = defaults()
    shipped = np.array([core[name] for name in WEIGHTS])
    draw, groups = np.random.default_rng(1), int(data.group.max()) + 1
    there = np.unique(data.group)

    def resampled() -> Floats:
        times = np.bincount(draw.choice(there, len(there)), minlength=groups)
        return fit(columns, data.congested, times[data.group])

    tail = (100 - scores.INTERVAL) / 2
    ends = np.percentile([resampled() for _ in range(RESAMPLES)], [tail, 100 - tail], axis=0).T

    def outcome(score: Floats, name: str) -> Outcome:
        return Outcome(name, data, score, trials.called(data.congested, score, folds), True)

    refitted = np.zeros(len(data))
    for held_out in folds:
        rest = np.setdiff1d(np.arange(len(data)), held_out)
        refitted[held_out] = columns[held_out] @ fit(columns[rest], data.congested[rest])
    by_core = outcome(perceptron.logistic(columns @ shipped), "history, best threshold")
    return Fitted(
        weights=fit(columns, data.congested),
        intervals=[(float(low), float(high)) for low, high in ends],
        shipped=shipped,
        deployed=by_core.limited(core["threshold"], f"history, deployed threshold {core['threshold']:g}"),
        best=by_core,
        refitted=outcome(perceptron.logistic(refitted), "history, weights fitted on the other folds"),
        connections=connections,
    )
