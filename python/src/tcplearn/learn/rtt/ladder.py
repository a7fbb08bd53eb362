# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Train a model of the first RTO. It has four linear functions, called steps: of earlier RTTs of the
destination, of earlier RTTs of its address prefix (/24 or /48), of the number of hops, and a constant. The
first step whose inputs are known gives the RTO."""

from collections.abc import Mapping

import numpy as np

from tcplearn.learn.dataset import Floats, Ints
from tcplearn.learn.rtt import history, quantile
from tcplearn.learn.rtt import model as models
from tcplearn.learn.rtt.data import Handshakes
from tcplearn.learn.rtt.history import Known
from tcplearn.learn.rtt.model import Model

LEAST_DESTINATIONS = 8  # with fewer to train on, a step is left out, and the next best step decides
FIRST_LEVEL = 0.9


def inputs(known: Known, step: int) -> Floats:
    """Return the inputs of linear function number `step` of a first-RTO model: a row for each handshake, and
    a column for each input, such as the last RTT."""
    ones = np.ones(len(known.hops))
    columns = {
        history.PLACE: [ones, known.place_last_us, known.place_high_us],
        history.PREFIX: [ones, known.prefix_last_us, known.prefix_high_us],
        history.HOPS: [ones, np.maximum(known.hops, 0).astype(np.float64)],
        history.NOTHING: [ones],
    }
    return np.stack(columns[step], axis=1)


def _rows_of(known: Known, rows: Handshakes, step: int) -> Ints:
    """Return the indices of the handshakes on which linear function number `step` of the model is trained."""
    if step in (history.PLACE, history.PREFIX):
        return np.flatnonzero(known.best() == step)
    if step == history.HOPS:
        return np.flatnonzero((known.place_last_us == 0) & (known.hops >= 0))
    return np.sort(np.unique(rows.destination, return_index=True)[1])


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
    """Return a first-RTO model trained on the handshakes with the destinations `train`. `known` is what is
    known before each of the handshakes `rows`. The share `level` of RTTs is to be below the RTO. Without
    `margin`, the model predicts the quantile `level` of the RTT and is not a timer."""
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
    """Return how many destinations are needed to train linear function `number` of the model at the RTT's
    quantile `level`."""
    if number == history.NOTHING:
        return 1
    return LEAST_DESTINATIONS if number == history.PLACE else max(LEAST_DESTINATIONS, round(1 / (1 - level)))


def _terms(number: int, weights: Floats) -> Mapping[str, float]:
    step = history.KNOWN[number]
    limits = models.STEPS[step]
    within = np.minimum(weights, list(limits.values()))
    return models.step(step, dict(zip(limits, map(float, within), strict=True)))


def _shortens(nothing: Mapping[str, float] | None, line: Mapping[str, float], x: Floats, group: Ints) -> bool:
    """Return whether the linear function `line` of the inputs `x` gives a mean RTO of at most the constant
    `nothing`, which is the RTO for destinations of which nothing is known."""
    weight = 1 / np.bincount(group)[group]
    mean_us = np.average(x @ np.array(list(line.values())), weights=weight)
    return nothing is None or bool(mean_us <= nothing["constant_us"])


def _weights(number: int, x: Floats, y: Floats, group: Ints, level: float, seed: int, margin: bool) -> Floats:
    """Return the weights of linear function number `number` of the model. Without `margin`, and always for
    the constant function, they are fitted to the quantile `level` of the RTT. Otherwise they are fitted to
    this quantile (for prefixes and hops, which have few data, to the 0.9 quantile at most). They are then
    multiplied by a factor, so that the share `level` of RTTs is below the RTO."""
    if not margin or number == history.NOTHING:
        return quantile.fit(x, y, group, level, seed)
    fitted = level if number == history.PLACE else min(level, FIRST_LEVEL)
    return quantile.fit_timer(x, y, group, fitted, level, seed)


def predicted_us(model: Model, known: Known, *, hops: bool = True) -> Floats:
    """Return, for each handshake, the model's RTO in us before it is limited to the range from floor_us to
    cap_us. Without `hops`, the number of hops is ignored, as for an active open."""
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
            if step == "hops":  # the RTO from hops is never longer than that of an unknown destination
                line = np.minimum(line, out)
            out[at] = line[at]
    return out


def rto_us(model: Model, known: Known, *, hops: bool = True) -> Floats:
    """Return the first RTO of `model` in us for each handshake, limited to the range from floor_us to cap_us.
    `known` is what is known before each handshake. Without `hops`, the number of hops is ignored."""
    out: Floats = np.clip(predicted_us(model, known, hops=hops), model.floor_us, model.cap_us)
    return out
