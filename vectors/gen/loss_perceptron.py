# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the loss classifiers' perceptron from docs/algorithms/loss/mlp.md, in floats and in integers."""

import json
import math
from pathlib import Path

from arithmetic import ONE, over, times, two_to_minus

MODELS = Path(__file__).resolve().parents[2] / "core" / "models"


def model(number):
    return json.loads((MODELS / f"loss_{('wide', 'hwang2018')[number]}.json").read_text())


def logistic_float(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def perceptron_float(net, features):
    """Return the perceptron's output before the last sigmoid, as a float."""
    z = [
        min(max((features[name] - mean) * gain, -5), 5)
        for name, mean, gain in zip(net["inputs"], net["mean"], net["gain"], strict=True)
    ]
    units = [
        logistic_float(bias + math.fsum(w * x for w, x in zip(weights, z, strict=True)))
        for weights, bias in zip(net["hidden"], net["hidden_bias"], strict=True)
    ]
    return net["output_bias"] + math.fsum(w * h for w, h in zip(net["output"], units, strict=True))


def logistic_whole(x):
    """Return the logistic function of `x` as an integer with 30 fractional bits. `x` has 48 fractional
    bits."""
    y = times(min(over(abs(x), 1 << 18), 24 * ONE), 1549082005)
    e = two_to_minus(y)
    p = (ONE * ONE + (ONE + e) // 2) // (ONE + e)
    return ONE - p if x < 0 else p


def perceptron_whole(net, features):
    """Return the perceptron's output before the last sigmoid, as an integer with 48 fractional bits. Hidden
    units and weights have 24 fractional bits."""

    def weight(x):
        assert x * 2**24 == int(x * 2**24)
        return int(x * 2**24)

    z = [
        over(min(max(times(features[name] - round(mean * ONE), round(gain * ONE)), -5 * ONE), 5 * ONE), 64)
        for name, mean, gain in zip(net["inputs"], net["mean"], net["gain"], strict=True)
    ]
    units = []
    for weights, bias in zip(net["hidden"], net["hidden_bias"], strict=True):
        total = (weight(bias) << 24) + sum(weight(w) * x for w, x in zip(weights, z, strict=True))
        units.append(over(logistic_whole(total), 64))
    return (weight(net["output_bias"]) << 24) + sum(
        weight(w) * h for w, h in zip(net["output"], units, strict=True)
    )


def log_odds_float(net, features):
    return min(max(perceptron_float(net, features), -32), 32)


def log_odds_whole(net, features):
    return min(max(over(perceptron_whole(net, features), 1 << 18), -32 * ONE), 32 * ONE)
