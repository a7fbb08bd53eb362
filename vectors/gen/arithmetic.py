# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the arithmetic of the references: in floats (`Double`), and in fixed point with unbounded
integers (`Fixed`), from docs/algorithms/arithmetic.md. In `Fixed`, durations are in units of 2^-8 us, and
ratios have 30 fractional bits. Experts' losses have 24, their weights 30, and ticks 20."""

import decimal
import math
from fractions import Fraction

ONE = 1 << 30
RTT_MAX_US = 1 << 32
CONTEXT = decimal.Context(prec=40)


def clamp(value, low, high):
    return min(max(value, low), high)


def e_to_minus(x):
    return 0.0 if x > 708 else math.exp(-x)


def over(a, n):
    """Return a / n rounded to the nearest integer, with halves rounded away from zero. n is positive."""
    mag = (2 * abs(a) + n) // (2 * n)
    return mag if a >= 0 else -mag


def nearest(value):
    """Return the integer nearest to `value`, an integer or a Fraction, as over() rounds."""
    return over(value.numerator, value.denominator)


def ratio(value):
    return nearest(Fraction(str(value)) * ONE)


def times(a, r):
    return over(a * r, ONE)


def us(value):
    return nearest(value * 256)


def sat62(a):
    return clamp(a, -(1 << 62), 1 << 62)


def correctly_rounded(d):
    return int(d.to_integral_value(decimal.ROUND_HALF_EVEN, CONTEXT))


#: 4122220954 * 2^(-j/256)
POWERS = [
    correctly_rounded(CONTEXT.multiply(4122220954, CONTEXT.power(2, -decimal.Decimal(j) / 256)))
    for j in range(256)
]


def two_to_minus(x):
    """Return 2^-x. Argument and result have 30 fractional bits."""
    whole, frac = divmod(x, ONE)
    if whole > 30:
        return 0
    j, r = divmod(frac, 1 << 22)
    parabola = (1550899691 - r) ** 2 + 2399654099552362303
    return (parabola >> 31) * POWERS[j] >> (33 + whole)


def decay(loss, eta):
    """Return e^-(eta loss) with 30 fractional bits. `loss` has 24 fractional bits, `eta` has 30."""
    return two_to_minus((loss * times(eta, 1549082005) + (1 << 23)) >> 24)


class Numbers:
    """The part that is the same in floats and in integers."""

    def half(self, a, k):
        """Return a / 2^k."""
        return self.div(a, 1 << k)

    def bounded(self, rto, p):
        """Return the duration `rto` within the bounds in the parameters `p`."""
        return clamp(rto, self.us(max(p.get("rto_min_us", 0), 1)), self.us(p["rto_max_us"]))


class Double(Numbers):
    least = 0.0  # the smallest scale
    us = staticmethod(float)

    def ratio(self, value):
        return float(Fraction(value))

    def div(self, a, n):
        return a / n

    def times(self, a, r):
        return a * r

    def towards(self, a, x, r):
        """Return the mean of `a` and `x` in which `x` has the weight `r`."""
        return (1 - r) * a + r * x

    def combined(self, ratios, values_us):
        """Return the sum of `values_us`, each times its ratio."""
        return 1000 * math.fsum(r * (v / 1000) for r, v in zip(ratios, values_us, strict=True))


class Fixed(Numbers):
    least = 8
    us = staticmethod(us)
    ratio = staticmethod(ratio)
    div = staticmethod(over)
    times = staticmethod(times)

    def towards(self, a, x, r):
        return a + times(x - a, r)

    def combined(self, ratios, values_us):
        return sum(times(us(v), r) for r, v in zip(ratios, values_us, strict=True))
