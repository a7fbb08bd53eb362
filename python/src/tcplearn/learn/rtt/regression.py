# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fit the regression of the paper baddam2018, which predicts the mean RTT of pings from hops, least and
largest RTT, and TTL."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcplearn.errors import UserError
from tcplearn.learn.dataset import Floats, Ints
from tcplearn.learn.rtt.data import UNKNOWN, Table
from tcplearn.learn.rtt.trials import Guess

PUBLISHED = {  # by congestion control: b0, hops, min, max and ttl in ms, and mean absolute error in %
    "cubic": ((-0.52218434, 0.01509783, 0.58899585, 0.41376639, 0.00157301), 3.71825),
    "reno": ((0.12877645, -0.01079089, 0.9933091, 0.04338126, -0.00311428), 4.6725),
    "vegas": ((-0.34314743, 0.00493765, 0.6949473, 0.3145146, 0.00192231), 2.8785),
}
COEFFICIENT_MAX = 64.0  # the core's estimator `linreg` accepts no more, except for b0_ms


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The coefficients of the regression of RTTs, in milliseconds, as the paper (baddam2018) prints them."""

    b0_ms: float
    b1_hops_ms: float
    b2_min: float
    b3_max: float
    b4_ttl_ms: float

    def values(self) -> tuple[float, ...]:
        return self.b0_ms, self.b1_hops_ms, self.b2_min, self.b3_max, self.b4_ttl_ms

    def predicted_us(self, table: Table) -> Floats:
        out: Floats = _inputs(table) @ np.array(self.values()) * 1000
        return out


def usable(table: Table) -> Table:
    """Return the rows of `table` that have hops and TTL, which the regression needs."""
    return table.rows((table.hops != UNKNOWN) & (table.ttl != UNKNOWN))


def _inputs(table: Table) -> Floats:
    ones = np.ones(len(table))
    return np.stack([ones, table.hops, table.min_us / 1000, table.max_us / 1000, table.ttl], axis=1)


def check(table: Table) -> bool:
    """Return whether TTL is linearly independent of hops and RTTs in `table`. Raise UserError if there are
    too few rows, or if hops, least and largest RTT are linearly dependent."""
    if len(table) < 6:
        raise UserError(f"{len(table)} rows have hops, TTL and an RTT; the regression needs 6 or more")
    if np.ptp(table.hops) == 0:
        raise UserError(f"hops are {table.hops[0]} in every row: their coefficient cannot be found")
    x = _inputs(table)
    x = (x[:, 1:] - x[:, 1:].mean(0)) / np.maximum(x[:, 1:].std(0), 1e-12)
    if np.linalg.matrix_rank(x[:, :3], tol=1e-9 * len(x)) < 3:
        raise UserError("hops, rtt_min_us and rtt_max_us depend on each other: coefficients cannot be found")
    return bool(np.linalg.matrix_rank(x, tol=1e-9 * len(x)) == 4)


def fit(table: Table) -> Coefficients:
    """Return the coefficients of the RTT regression, fitted to `table`. That of TTL is 0 if all hosts send
    with the same initial TTL, because the TTL on arrival then follows from the hops. Raise UserError."""
    with_ttl = check(table)
    x = _inputs(table)
    found = np.linalg.lstsq(x if with_ttl else x[:, :4], table.avg_us / 1000, rcond=None)[0]
    values = [float(v) for v in found] + ([] if with_ttl else [0.0])
    if not np.isfinite(values).all() or max(map(abs, values)) > COEFFICIENT_MAX:
        raise UserError(
            f"a coefficient came to {max(values, key=abs):g}, beyond {COEFFICIENT_MAX:g}: nearly singular"
        )
    return Coefficients(*values)


def tried(table: Table, folds: Sequence[Ints]) -> list[Guess]:
    """Return predictions of the mean RTT in each row of `table`: by coefficients fitted to the destinations
    outside the row's cross-validation fold, by published coefficients, and by simple rules."""
    held_out = np.zeros(len(table))
    for destinations in folds:
        test = np.isin(table.destination, destinations)
        if test.any():
            held_out[test] = fit(table.rows(~test)).predicted_us(table.rows(test))
    candidates = {
        "least squares": held_out,
        "(min + max) / 2": (table.min_us + table.max_us) / 2,
        "min": table.min_us,
        **{
            f"published, {name}": Coefficients(*values).predicted_us(table)
            for name, (values, _) in PUBLISHED.items()
        },
    }
    return [Guess(name, table.avg_us, values, table.destination) for name, values in candidates.items()]
