# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the arithmetic of the loss classifiers' features, in floats and in integers."""

import math

import arithmetic
from arithmetic import ONE, over, sat62, times


class Float(arithmetic.Double):
    """The arithmetic in floats."""

    least = 2.0**-30

    def product(self, a, n):  # times a count
        return a * n

    def quotient(self, a, b):
        return a / b

    def number(self, n):
        return float(n)

    def log2(self, x):
        return math.log2(max(x, 2.0**-30))


class Whole(arithmetic.Fixed):
    """The arithmetic in integers."""

    least = 1

    def product(self, a, n):
        return sat62(a * n)

    def quotient(self, a, b):
        if max(abs(a), b) > 1 << 32:
            a, b = over(a, 1 << 10), max(1, over(b, 1 << 10))
        return over(a * ONE, b)

    def number(self, n):
        return n * ONE

    def log2(self, x):
        """Return log2 of `x`, both with 30 fractional bits. For x = 2^k m, with 1 / sqrt 2 <= m < sqrt 2 and
        m truncated, it is k + 2 / ln(2) (s + s^3 / 3 + ... + s^13 / 13), where s = (m - 1) / (m + 1)."""
        x = max(x, 1)
        e = x.bit_length() - 31
        m = x >> e if e > 0 else x << -e
        if m >= math.isqrt(2 * ONE * ONE) + 1:
            e, s = e + 1, over((m - 2 * ONE) * ONE, m + 2 * ONE)
        else:
            s = over((m - ONE) * ONE, m + ONE)
        square, series = times(s, s), 0
        for k in range(13, 0, -2):
            series = times(series, square) + over(ONE, k)
        return e * ONE + times(times(s, series), 3098164009)
