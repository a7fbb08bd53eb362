# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The model of a first RTO: the best that is known decides, by a line for each: the destination's history,
its prefix's, the hops, nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tcplearn.learn.dataset import Floats, Ints
from tcplearn.learn.rtt import history, quantile
from tcplearn.learn.rtt import model as models
from tcplearn.learn.rtt.data import Handshakes
from tcplearn.learn.rtt.history import Known
from tcplearn.learn.rtt.model import Model

#: A step that was learned from fewer destinations is left out: what is below it decides.
LEAST_DESTINATIONS = 8
FIRST_LEVEL = 0.9


def inputs(known: Known, step: int) -> Floats:
    """Of a step's terms, in their order."""
    ones = np.ones(len(known.hops))
    columns = {
        history.PLACE: [ones, known.place_last_us, known.place_high_us],
        history.PREFIX: [ones, known.prefix_last_us, known.prefix_high_us],
        history.HOPS: [ones, np.maximum(known.hops, 0).astype(np.float64)],
        history.NOTHING: [ones],
    }
    return np.stack(columns[step], axis=1)


def _rows_of(known: Known, rows: Handshakes, step: int) -> Ints:
    """What a step learns from: what it will be used for, or first handshakes, which know no more."""
    best = known.best()
    if step == history.PLACE:
        return np.flatnonzero(best == history.PLACE)
    first = np.unique(rows.destination, return_index=True)[1]
    unseen = known.place_last_us == 0
    if step == history.PREFIX:
        return np.flatnonzero(best == history.PREFIX)
    if step == history.HOPS:
        return np.flatnonzero(unseen & (known.hops >= 0))
    return np.sort(first)


def fit(
    name: str,
    known: Known,
    rows: Handshakes,
    train: Ints,
    level: float,
    seed: int = 1,
    *,
    margin: bool = True,
) -> Model:
    """Learned from the handshakes of these destinations; `known` is of all that came before. Without
    `margin`: an RTT's quantile, not a timer."""
    steps: dict[str, Mapping[str, float] | None] = dict.fromkeys(history.KNOWN)
    chosen = np.isin(rows.destination, train)
    for number in (history.NOTHING, history.HOPS, history.PREFIX, history.PLACE):
        at = _rows_of(known, rows, number)
        at = at[chosen[at]]
        group = rows.destination[at]
        if len(np.unique(group)) < _least(number, level if margin else 0.5):
            continue
        x = inputs(known, number)[at]
        line = _terms(number, _weights(number, x, rows.rtt_us[at], group, level, seed, margin))
        if not margin or _shortens(steps["nothing"], line, x, group):
            steps[history.KNOWN[number]] = line
    return Model(name, steps)


def _least(number: int, level: float) -> int:
    """Destinations that a step has to be learned from: where there is one handshake of each, the share that
    may be missed cannot be seen in fewer than its inverse."""
    if number == history.NOTHING:
        return 1
    return LEAST_DESTINATIONS if number == history.PLACE else max(LEAST_DESTINATIONS, round(1 / (1 - level)))


def _terms(number: int, weights: Floats) -> Mapping[str, float]:
    step = history.KNOWN[number]
    limits = models.STEPS[step]
    within = np.minimum(weights, list(limits.values()))
    return models.step(step, dict(zip(limits, map(float, within), strict=True)))


def _shortens(nothing: Mapping[str, float] | None, line: Mapping[str, float], x: Floats, group: Ints) -> bool:
    """Whether a timer by this line is no longer than the constant, in the mean of the destinations."""
    weight = 1 / np.bincount(group)[group]
    mean_us = np.average(x @ np.array(list(line.values())), weights=weight)
    return nothing is None or bool(mean_us <= nothing["constant_us"])


def _weights(number: int, x: Floats, y: Floats, group: Ints, level: float, seed: int, margin: bool) -> Floats:
    """One line of the history has many rows a destination; what is below has one, so its line is of a lower
    quantile first."""
    if not margin or number == history.NOTHING:
        return quantile.fit(x, y, group, level, seed)
    fitted = level if number == history.PLACE else min(level, FIRST_LEVEL)
    return quantile.fit_timer(x, y, group, fitted, level, seed)


def predicted_us(model: Model, known: Known, *, hops: bool = True) -> Floats:
    """Of each handshake, without floor and cap; the cap where no step applies. Without `hops`: as who opens a
    connection actively."""
    out = np.full(len(known.hops), float(model.cap_us))
    applies = {
        "nothing": np.ones(len(out), bool),
        "hops": (known.hops >= 0) & hops,
        "prefix": known.prefix_last_us > 0,
        "place": known.place_last_us > 0,
    }
    for step, at in applies.items():
        terms = model.steps[step]
        if terms is not None:
            line = inputs(known, history.KNOWN.index(step)) @ np.array(list(terms.values()))
            if step == "hops":  # they never say that a place is slower than the slowest
                line = np.minimum(line, out)
            out[at] = line[at]
    return out


def rto_us(model: Model, known: Known, *, hops: bool = True) -> Floats:
    """Within floor and cap."""
    out: Floats = np.clip(predicted_us(model, known, hops=hops), model.floor_us, model.cap_us)
    return out
