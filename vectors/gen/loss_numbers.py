# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the arithmetic of the features of loss classifiers, and of their perceptron
(docs/algorithms/loss/mlp.md), in floats and in integers."""

import math

import arithmetic
from arithmetic import ONE, clamp, over, sat62, times, two_to_minus


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

    def logistic(self, x):
        return 1 / (1 + math.exp(-x)) if x > -700 else 0.0

    probability = logistic

    def perceptron(self, net, features):
        """Return the output of the perceptron `net` before the last sigmoid: the log-odds of congestion."""
        z = [
            clamp((features[name] - mean) * gain, -5, 5)
            for name, mean, gain in zip(net["inputs"], net["mean"], net["gain"], strict=True)
        ]
        units = [
            self.logistic(bias + math.fsum(w * x for w, x in zip(weights, z, strict=True)))
            for weights, bias in zip(net["hidden"], net["hidden_bias"], strict=True)
        ]
        return net["output_bias"] + math.fsum(w * h for w, h in zip(net["output"], units, strict=True))

    def log_odds(self, net, features):
        return clamp(self.perceptron(net, features), -32, 32)


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

    def logistic(self, x):
        """Return the logistic function of `x`. The argument has 48 fractional bits, the result 30."""
        y = times(min(over(abs(x), 1 << 18), 24 * ONE), 1549082005)
        e = two_to_minus(y)
        p = (ONE * ONE + (ONE + e) // 2) // (ONE + e)
        return ONE - p if x < 0 else p

    def probability(self, log_odds):
        """Return the logistic function of `log_odds`, which has 30 fractional bits."""
        return self.logistic(clamp(log_odds, -32 * ONE, 32 * ONE) << 18)

    def perceptron(self, net, features):
        """Return the perceptron's output before the last sigmoid, with 48 fractional bits. Hidden units and
        weights have 24."""

        def weight(x):
            assert x * 2**24 == int(x * 2**24)
            return int(x * 2**24)

        def total(weights, bias, values):
            return (weight(bias) << 24) + sum(weight(w) * x for w, x in zip(weights, values, strict=True))

        z = [
            over(clamp(times(features[name] - round(mean * ONE), round(gain * ONE)), -5 * ONE, 5 * ONE), 64)
            for name, mean, gain in zip(net["inputs"], net["mean"], net["gain"], strict=True)
        ]
        layer = zip(net["hidden"], net["hidden_bias"], strict=True)
        units = [over(self.logistic(total(weights, bias, z)), 64) for weights, bias in layer]
        return total(net["output"], net["output_bias"], units)

    def log_odds(self, net, features):
        return clamp(over(self.perceptron(net, features), 1 << 18), -32 * ONE, 32 * ONE)
