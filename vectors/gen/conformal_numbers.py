# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the arithmetic of the timer `conformal` (docs/algorithms/conformal.md) in floats and in
integers."""

import math

import arithmetic
import tracking_numbers as tracking
from arithmetic import clamp


def log2_near(x):
    f, e = math.frexp(x)
    f = 2 * f - 1
    return e - 1 + f + 11 / 32 * f * (1 - f)


def exp2_near(x):
    whole = math.floor(x)
    f = x - whole
    return math.ldexp(1 + f - 11 / 32 * f * (1 - f), whole)


class Double(tracking.Double):
    one = 1.0

    def fine(self, a):
        return a

    def rate(self, miss):
        return miss

    def start(self, miss):
        return log2_near(1.25 * math.log(2) * -log2_near(2 * min(miss, 0.2)))

    def product(self, a, b):
        return a * b

    def width(self, u, slow, fast):
        return exp2_near(u + (log2_near(slow) + log2_near(fast)) / 2)

    level = staticmethod(log2_near)

    def power(self, x):
        return exp2_near(min(max(x, -30), 40))

    def square(self, x):
        return math.copysign(min(abs(x), 4096) ** 2, x)

    def trust(self, need):
        return need / (need + 0.5)

    def bin(self, x):
        return math.floor(x * 4)

    def memory(self, miss):
        return min(max(math.floor(64 / miss), 512), 32768)


def parabola(f):
    return 11 * f * (65536 - f) >> 21


def log2_near_16(x):
    """Return the approximate log2 of the integer `x`, with 16 fractional bits."""
    e = x.bit_length() - 1
    f = (x << 16 >> e) - 65536
    return (e << 16) + f + parabola(f)


def exp2_near_16(x):
    whole, f = divmod(x, 65536)
    m = 65536 + f - parabola(f)
    if whole > 57:
        return 1 << 58
    if whole >= 16:
        return m << whole - 16
    return (m + (1 << 15 - whole)) >> 16 - whole if whole >= -1 else 0


class Fixed(tracking.Fixed):
    one = 1 << 32

    def fine(self, a):
        return a << 16

    def rate(self, miss):
        return arithmetic.ratio(miss) // 16 * 64

    def start(self, miss):
        bits = (31 << 16) - log2_near_16(clamp(miss, 1, 858993459))
        return log2_near_16(bits * 56783 >> 16) - (16 << 16) << 16

    def product(self, a, b):
        return arithmetic.over(a * arithmetic.over(b, 1 << 16), 1 << 16)

    def width(self, u, slow, fast):
        level = (u >> 16) + (log2_near_16(slow) + log2_near_16(fast) >> 1)
        return arithmetic.over(exp2_near_16(level), 1 << 16)

    def level(self, x):
        return log2_near_16(x) - (24 << 16) << 16

    def power(self, x):
        return arithmetic.over(exp2_near_16((x >> 16) + (24 << 16)), 1 << 16)

    def square(self, x):
        """Return `x` squared, with the sign of `x`, after truncating |x| to 16 fractional bits."""
        m = min(abs(x) >> 16, 1 << 28)
        return m * m if x >= 0 else -m * m

    def trust(self, need):
        need >>= 15
        return (need << 32) // (need + 65536)

    def bin(self, x):
        return x * 4 >> 32

    def memory(self, miss):
        return min(max((64 << 32) // miss, 512), 32768)
