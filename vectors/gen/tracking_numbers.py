# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the arithmetic of the estimator `tracking` (docs/algorithms/tracking.md) in floats and in
integers."""

import arithmetic
from arithmetic import clamp, e_to_minus

COUNT = 12


def added(values):
    """Return the sum of `values` from first to last, as in C. Python's sum() compensates for rounding."""
    total = 0
    for value in values:
        total += value
    return total


class Double(arithmetic.Double):
    def mean(self, w, x):
        return added(v * y for v, y in zip(w, x, strict=True)) / added(w)

    def shrink(self, a, k):
        """Return a / 2^k. The version in integers may truncate the result."""
        return a / (1 << k)

    summed_mean = mean

    def blend(self, a, b, part, rest):
        """Return the point that divides the way from a to b in the ratio part : rest."""
        return a + (b - a) * (part / (part + rest))

    def step(self, c, error, distance, s):
        return clamp(c + error / s * (distance / s) / 32, -1, 1)

    equal = 1 / COUNT  # fixed share

    def loss(self, error, scale):
        return error / scale

    def decay(self, w, loss, eta):
        return w * e_to_minus(loss * eta)

    def share(self, w, alpha):
        total = added(w)
        if total <= 1e-290:
            return None
        keep, part = (1 - alpha) / total, alpha / len(w)
        return [v * keep + part for v in w]


class Fixed(arithmetic.Fixed):
    def mean(self, w, x):
        """Return the mean of `x` with the weights `w`, which are shifted right until the largest has at most
        18 bits."""
        shift = max(0, max(w).bit_length() - 18)
        w = [v >> shift for v in w]
        return arithmetic.over(sum(v * y for v, y in zip(w, x, strict=True)), sum(w))

    def shrink(self, a, k):
        return a >> k

    def summed_mean(self, w, x):
        """Return the mean of `x` with the weights `w`, which are shifted right until their sum has at most 20
        bits."""
        shift = max(0, sum(w).bit_length() - 20)
        w = [v >> shift for v in w]
        return arithmetic.over(sum(v * y for v, y in zip(w, x, strict=True)), sum(w))

    def blend(self, a, b, part, rest):
        shift = max(0, (part + rest).bit_length() - 33)
        return a + arithmetic.times(b - a, (part >> shift << 30) // (part + rest >> shift))

    def step(self, c, error, distance, s):
        """Return the next value of `c`, the coefficient of a correction of the prediction. It grows with
        `error` (sample minus prediction) times `distance` (the correction's predictor minus the mixture) over
        `s` squared. These three are durations, shifted right until `s` has at most 15 bits."""
        shift = max(0, s.bit_length() - 15)
        product = (error >> shift) * (distance >> shift)
        return clamp(c + arithmetic.over(product << 25, (s >> shift) ** 2), -arithmetic.ONE, arithmetic.ONE)

    equal = arithmetic.over(arithmetic.ONE, COUNT)

    def loss(self, error, scale):
        return arithmetic.over(error << 20, scale) << 4

    def decay(self, w, loss, eta):
        return arithmetic.over(w * arithmetic.decay(loss, eta), arithmetic.ONE)

    def share(self, w, alpha):
        total = sum(w)
        if total == 0:
            return None
        keep, part = (arithmetic.ONE - alpha) * arithmetic.ONE // total, alpha // len(w)
        return [arithmetic.over(v * keep, arithmetic.ONE) + part for v in w]
