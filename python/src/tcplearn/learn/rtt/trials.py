# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Predict RTTs and first RTOs of destinations that were held out in training. The predictors are tcplearn's
model (`ladder`), a large model as the upper limit (`boosting`), and predictors that do not learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcplearn.learn.dataset import Floats, Ints
from tcplearn.learn.perceptron import sklearn
from tcplearn.learn.rtt import ladder, quantile
from tcplearn.learn.rtt.data import Handshakes
from tcplearn.learn.rtt.history import Known
from tcplearn.learn.rtt.model import CAP_US, Model
from tcplearn.learn.scores import bootstrap

_METRICS_MIN_US = 200_000  # least RTO from a stored RTT, tcp_init_metrics() of Linux
_DAY_US = 86_400_000_000

Flags = NDArray[np.bool_]
Learner = Callable[[Ints], Floats]
"""A function that learns from the handshakes of given destinations and returns a value for each handshake."""


def mape(actual: Floats, predicted: Floats) -> float:
    """Return the mean absolute error of `predicted` in percent of `actual`."""
    return float(np.mean(np.abs(predicted - actual) / actual) * 100)


@dataclass(frozen=True, slots=True)
class Guess:
    """An RTT or RTO `value_us` for each handshake, predicted without training on its destination."""

    name: str
    actual_us: Floats
    value_us: Floats
    group: Ints

    def rows(self, chosen: Floats | Ints) -> Guess:
        return Guess(self.name, self.actual_us[chosen], self.value_us[chosen], self.group[chosen])

    @property
    def mape(self) -> float:
        return mape(self.actual_us, self.value_us)

    @property
    def mae_ms(self) -> float:
        return float(np.mean(np.abs(self.value_us - self.actual_us)) / 1000)

    @property
    def miss_rate(self) -> float:
        """Return the share of handshakes whose RTT `actual_us` was longer than the RTO `value_us`. In these
        the SYN would have been retransmitted spuriously."""
        return float(np.mean(self.actual_us > self.value_us))

    @property
    def mean_ms(self) -> float:
        return float(np.mean(self.value_us) / 1000)

    def interval(self, what: Callable[[Guess], Floats]) -> tuple[float, float]:
        """Return the bootstrap interval over destinations of the mean of `what(self)`."""
        value = what(self)
        return bootstrap(self.group, value[None], np.ones((1, len(value))))


def percentage_errors(guess: Guess) -> Floats:
    return np.abs(guess.value_us - guess.actual_us) / guess.actual_us * 100


def misses(guess: Guess) -> Floats:
    return (guess.actual_us > guess.value_us).astype(np.float64)


def folds_of(destinations: int, count: int, seed: int) -> list[Ints]:
    """Return the destinations held out in each of the `count` folds of a cross-validation."""
    order = np.random.default_rng(seed).permutation(destinations)
    return [np.sort(order[k::count]) for k in range(count)]


def held_out(rows: Handshakes, folds: Sequence[Ints], learner: Learner) -> Floats:
    out = np.zeros(len(rows))
    everyone = np.unique(rows.destination)
    for fold in folds:
        test = np.isin(rows.destination, fold)
        out[test] = learner(np.setdiff1d(everyone, fold))[test]
    return out


def _weight(rows: Handshakes, at: Flags) -> Floats:
    group = rows.destination[at]
    out: Floats = 1 / np.bincount(group)[group]
    return out


def _constant(rows: Handshakes, level: float) -> Learner:
    def learn(train: Ints) -> Floats:
        at = np.isin(rows.destination, train)
        return np.full(len(rows), quantile.of_weighted(rows.rtt_us[at], _weight(rows, at), level))

    return learn


def boosting(rows: Handshakes, known: Known, level: float, seed: int) -> Learner:
    """Return a function that trains gradient boosting on the handshakes of given destinations and returns the
    quantile `level` of the RTT for every handshake. The inputs are all that is known before a handshake."""
    day = 2 * np.pi * (rows.time_us % _DAY_US) / _DAY_US
    history = (
        known.place_last_us,
        known.place_high_us,
        known.place_age_us,
        known.prefix_last_us,
        known.prefix_high_us,
    )
    from threadpoolctl import threadpool_limits  # installed with scikit-learn

    columns = [*(np.log1p(c) for c in history), known.hops, known.ttl, np.sin(day), np.cos(day)]
    x = np.stack(columns, axis=1).astype(np.float64)

    def learn(train: Ints) -> Floats:
        at = np.isin(rows.destination, train)
        trees = sklearn("ensemble").HistGradientBoostingRegressor(
            loss="quantile",
            quantile=level,
            max_iter=100,
            max_leaf_nodes=8,
            min_samples_leaf=20,
            random_state=seed,
        )
        with threadpool_limits(1):  # the trees are so small that threads would only wait for each other
            trees.fit(x[at], np.log(rows.rtt_us[at]), sample_weight=_weight(rows, at))
            return np.asarray(np.exp(trees.predict(x)), np.float64)

    return learn


def _metrics_rto(known: Known) -> Floats:
    """Return, for each handshake, the RTO that Linux computes from the destination's cached RTT in `known`.
    Linux uses it only after the handshake."""
    cached = known.place_high_us
    return np.where(cached > 0, cached + np.maximum(2 * cached, _METRICS_MIN_US), CAP_US)


def rtts(rows: Handshakes, known: Known, folds: Sequence[Ints], seed: int) -> Iterator[Guess]:
    """Yield the RTTs that each predictor gives for the handshakes `rows`. If no earlier RTT of a destination
    is known, predictors that do not learn use the median RTT of other destinations."""
    constant = held_out(rows, folds, _constant(rows, 0.5))

    def ours(train: Ints) -> Floats:
        return ladder.predicted_us(ladder.fit("m", known, rows, train, 0.5, seed, margin=False), known)

    values = {
        "constant (median)": constant,
        "last of the destination": np.where(known.place_last_us > 0, known.place_last_us, constant),
        "kernel's metrics cache": np.where(known.place_high_us > 0, known.place_high_us, constant),
        "ladder": held_out(rows, folds, ours),
        "boosting": held_out(rows, folds, boosting(rows, known, 0.5, seed)),
    }
    yield from (Guess(name, rows.rtt_us, value, rows.destination) for name, value in values.items())


def timers(
    rows: Handshakes, known: Known, folds: Sequence[Ints], level: float, seed: int
) -> tuple[list[Guess], list[Guess]]:
    """Return the first RTOs that each predictor gives for the handshakes `rows`, in two lists: for passive
    opens, where the number of hops is known, and for active opens, where it is not."""
    fitted: dict[bytes, Model] = {}

    def ours(hops: bool) -> Learner:
        def learn(train: Ints) -> Floats:
            key = train.tobytes()
            if key not in fitted:
                fitted[key] = ladder.fit("m", known, rows, train, level, seed)
            return ladder.rto_us(fitted[key], known, hops=hops)

        return learn

    common = {
        "1 s (RFC 6298)": np.full(len(rows), float(CAP_US)),
        "constant (quantile)": held_out(rows, folds, _constant(rows, level)),
        "3 times the last (RFC 6298)": np.where(known.place_last_us > 0, 3 * known.place_last_us, CAP_US),
        "kernel's metrics cache": _metrics_rto(known),
    }
    large = np.minimum(held_out(rows, folds, boosting(rows, known, level, seed)), CAP_US)
    passive = {**common, "ladder": held_out(rows, folds, ours(True)), "boosting (quantile)": large}
    active = {**common, "ladder": held_out(rows, folds, ours(False))}

    def guesses(values: Mapping[str, Floats]) -> list[Guess]:
        return [Guess(name, rows.rtt_us, value, rows.destination) for name, value in values.items()]

    return guesses(passive), guesses(active)
