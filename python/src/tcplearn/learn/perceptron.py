# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Train the perceptron that classifies losses, and compute the probability of congestion that it gives."""

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcplearn import loss_model as models
from tcplearn.errors import FailedError, UserError, need_extra
from tcplearn.learn.dataset import Floats, Ints
from tcplearn.loss_model import Model

CLIP = 5.0


@dataclass(frozen=True, slots=True)
class Choices:
    """Hyperparameters of the perceptron that classifies losses. The paper (hwang2018) states none."""

    inputs: tuple[str, ...]
    hidden: int = 64
    starts: int = 2  # number of networks that share the hidden units
    penalty: float = 0.1  # penalty on squared weights
    epochs: int = 40
    rate: float = 0.003
    batch: int = 256
    seed: int = 1
    scaled: bool = True  # whether inputs are scaled to z-scores


def sklearn(module: str) -> Any:
    """Return the module `module` of scikit-learn. Raise UserError if scikit-learn is not installed."""
    need_extra("training", "training")
    return importlib.import_module(f"sklearn.{module}")


def _scales(x: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the gain (1 / standard deviation) of each input, a column of `x`, rounded as the
    core stores them."""
    deviation = x.std(0)
    gain = np.where(deviation > 0, 1 / np.maximum(deviation, 1e-12), 1.0)
    bits = models.SCALE_BITS
    mean = [models.rounded(float(v), bits) for v in np.clip(x.mean(0), -models.MEAN_MAX, models.MEAN_MAX)]
    gains = [models.rounded(float(v), bits) for v in np.clip(gain, 2.0**-bits, models.GAIN_MAX)]
    return np.array(mean), np.array(gains)


def scores(x: Floats, mean: Floats, gain: Floats) -> Floats:
    return np.clip((x - mean) * gain, -CLIP, CLIP)


def fit(x: Floats, congested: Ints, choices: Choices, name: str = "model") -> Model:
    """Return a trained perceptron that classifies losses. `x` has a row of features for each loss;
    `congested` is 1 for congestion and 0 for random. Adam trains `choices.starts` networks on the log loss.
    The mean of their outputs before the last sigmoid is the output of one network with all their hidden
    units, and this network is returned. While they are trained the hidden units are tanh, which learns
    faster; tanh(a) = 2s(2a) - 1 converts them to the sigmoids s of `Model`."""
    if choices.hidden % choices.starts:
        raise UserError(f"{choices.hidden} hidden units are not divisible by {choices.starts} networks")
    mean, gain = _scales(x) if choices.scaled else (np.zeros(x.shape[1]), np.ones(x.shape[1]))
    z = scores(x, mean, gain)
    trained = [_network(z, congested, choices, choices.seed + k) for k in range(choices.starts)]
    hidden = [2 * n.coefs_[0].T for n in trained], [2 * n.intercepts_[0] for n in trained]
    last = [n.coefs_[1][:, 0] / choices.starts for n in trained]
    bias = sum(float(n.intercepts_[1][0]) / choices.starts for n in trained) - float(
        sum(w.sum() for w in last)
    )
    output = 2 * np.concatenate(last), bias
    return _model(name, choices, (mean, gain), (np.concatenate(hidden[0]), np.concatenate(hidden[1])), output)


def _network(z: Floats, congested: Ints, choices: Choices, seed: int) -> Any:
    network = sklearn("neural_network").MLPClassifier(
        (choices.hidden // choices.starts,),
        activation="tanh",
        alpha=choices.penalty,
        learning_rate_init=choices.rate,
        max_iter=choices.epochs,
        batch_size=min(choices.batch, len(congested)),
        random_state=seed,
        tol=0.0,
        n_iter_no_change=choices.epochs,
    )
    # one thread, so that sums are always computed in the same order; scikit-learn itself needs threadpoolctl
    with warnings.catch_warnings(), importlib.import_module("threadpoolctl").threadpool_limits(1):
        warnings.simplefilter("ignore")  # training stops at the last epoch, which is intended
        return network.fit(z, congested)


def _model(
    name: str,
    choices: Choices,
    scales: tuple[Floats, Floats],
    hidden: tuple[Floats, Floats],
    output: tuple[Floats, float],
) -> Model:
    def weights(values: Floats) -> tuple[float, ...]:
        if not np.isfinite(values).all() or np.abs(values).max(initial=0) > models.WEIGHT_MAX:
            raise FailedError(
                f"a weight grew beyond {models.WEIGHT_MAX:g}; raise --penalty (now {choices.penalty:g})"
            )
        return tuple(models.rounded(float(v)) for v in values)

    return Model(
        name=name,
        inputs=choices.inputs,
        mean=tuple(scales[0].tolist()),
        gain=tuple(scales[1].tolist()),
        hidden=tuple(weights(unit) for unit in hidden[0]),
        hidden_bias=weights(hidden[1]),
        output=weights(output[0]),
        output_bias=weights(np.array([output[1]]))[0],
    )


def probability(model: Model, x: Floats) -> Floats:
    """Return the probability of congestion for each row of `x` (a loss), computed in double precision as in
    the C core."""
    return logistic(log_odds(model, x))


def log_odds(model: Model, x: Floats) -> Floats:
    """Return the log odds of congestion, log P / (1 - P), for each row of `x`."""
    z = scores(x, np.array(model.mean), np.array(model.gain))
    units = logistic(z @ np.array(model.hidden).T + np.array(model.hidden_bias))
    out: Floats = units @ np.array(model.output) + model.output_bias
    return out


def logistic(x: Floats) -> Floats:
    with np.errstate(over="ignore"):
        out: Floats = 1 / (1 + np.exp(-x))
    return out


SCALES = (  # features that show a path's RTT or rate; a network would recognise the scenarios by them
    "rtt_min_per_packet",
    "rtt_per_packet",
    "ack_interval",
    "veno_packets",
    "log_rtt_min_per_packet",
    "log_rtt_per_packet",
    "log_rtt_range",
    "log_cwnd",
    "past_log_packets",
)
PAPER = ("rtt_min_per_packet", "rtt_per_packet")


def free_of_scale(features: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in features if name not in SCALES)
