# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test loss classifiers on scenarios that were held out in training: the perceptron, gradient boosting as the
upper limit (called the ceiling), the rule of TCP Veno, and each single feature with a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tcplearn.learn import perceptron, scores
from tcplearn.learn.dataset import Dataset, Floats, Ints
from tcplearn.learn.perceptron import Choices
from tcplearn.loss_model import Model

BETAS = (3, 5, 10, 15, 20, 25)
FOLDS = 10
#: A Scorer gives each row a score, larger if congestion is more likely. A Learner trains a Scorer on rows.
Scorer = Callable[[Dataset], Floats]
Learner = Callable[[Dataset], Scorer]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A loss classifier's scores of all losses, each by a model that was trained without the cross-validation
    fold of the loss. `called` are the decisions, by thresholds chosen on the other folds. `calibrated` says
    whether the scores are probabilities."""

    name: str
    data: Dataset
    score: Floats
    called: Ints
    calibrated: bool

    @property
    def balanced_accuracy(self) -> float:
        return scores.balanced_accuracy(self.data.congested, self.called)

    @property
    def interval(self) -> tuple[float, float]:
        return scores.interval(self.data.congested, self.called, self.data.group)

    @property
    def auc(self) -> float:
        return scores.auc(self.data.congested, self.score)

    @property
    def calibration_error(self) -> float | None:
        return scores.calibration_error(self.data.congested, self.score) if self.calibrated else None

    @property
    def recalls(self) -> tuple[float, float]:
        """Return the recalls of congestion and random losses."""
        congested = self.data.congested
        return scores.recall(congested, self.called, 1), scores.recall(congested, self.called, 0)

    def limited(self, threshold: float, name: str) -> Outcome:
        """Return these scores as `name`, with losses of a score of at least `threshold` called congestion."""
        return replace(self, name=name, called=(self.score >= threshold).astype(np.int64))

    def of_both_causes(self) -> Outcome:
        """Return the scores and decisions in the scenarios that have both congestion and random losses."""
        return self.of(np.isin(self.data.group, self.data.both_causes().group))

    def of(self, keep: NDArray[np.bool_]) -> Outcome:
        """Return the outcome on the losses that `keep` selects."""
        return Outcome(self.name, self.data.rows(keep), self.score[keep], self.called[keep], self.calibrated)


def by_scenario(data: Dataset, folds: int, seed: int) -> Iterator[Ints]:
    """Yield the indices of the losses of `data` in each of `folds` folds. Folds have whole scenarios,
    assigned at random by `seed`, and are of similar size."""
    rows = np.bincount(data.group, minlength=int(data.group.max()) + 1)
    there = np.flatnonzero(rows)
    order = np.random.default_rng(seed).permutation(there)
    order = order[np.argsort(-rows[order], kind="stable")]
    size, fold_of = np.zeros(folds), np.zeros(len(rows), int)
    for scenario in order:
        k = int(np.argmin(size))
        fold_of[scenario], size[k] = k, size[k] + rows[scenario]
    for k in range(folds):
        yield np.flatnonzero(fold_of[data.group] == k)


def by_row(data: Dataset, folds: int, seed: int) -> Iterator[Ints]:
    """Yield the indices of the losses of `data` in each of `folds` folds. Losses are assigned to folds at
    random, by `seed`, so a scenario may be in several folds."""
    order = np.random.default_rng(seed).permutation(len(data))
    for k in range(folds):
        yield np.sort(order[k::folds])


def called(congested: Ints, score: Floats, folds: Sequence[Ints], limits_of: Floats | None = None) -> Ints:
    """Return 1 for each loss that is called congestion, otherwise 0. The threshold of a fold is the best one
    for the losses of the other folds, by their scores `limits_of` (by default `score`)."""
    out = np.zeros(len(score), np.int64)
    for held_out in folds:
        rest = np.setdiff1d(np.arange(len(score)), held_out)
        known = score if limits_of is None else limits_of
        out[held_out] = score[held_out] >= scores.best_threshold(congested[rest], known[rest])
    return out


def try_out(
    name: str, learner: Learner, data: Dataset, folds: Sequence[Ints], calibrated: bool = True
) -> Outcome:
    score = np.zeros(len(data))
    for held_out in folds:
        scorer = learner(rest_of(data, held_out))
        score[held_out] = scorer(data.rows(held_out))
    return Outcome(name, data, score, called(data.congested, score, folds), calibrated)


def rest_of(data: Dataset, held_out: Ints) -> Dataset:
    return data.rows(np.setdiff1d(np.arange(len(data)), held_out))


def models_of(choices: Choices, data: Dataset, folds: Sequence[Ints]) -> list[Model]:
    """Return, for each of `folds`, a perceptron with the hyperparameters `choices` that is trained on the
    losses of `data` in the other folds."""
    rests = (rest_of(data, held_out) for held_out in folds)
    return [perceptron.fit(rest.columns(choices.inputs), rest.congested, choices) for rest in rests]


def try_ours(
    name: str, choices: Choices, data: Dataset, folds: Sequence[Ints], models: Sequence[Model]
) -> tuple[Outcome, dict[str, float]]:
    """Test each perceptron of `models`, the result of models_of(), on the fold that was left out of its
    training. Return the scores and decisions, and for each feature the decrease in balanced accuracy when the
    feature is shuffled within a fold."""
    draw = np.random.default_rng(choices.seed)
    score = np.zeros(len(data))
    shuffled = {feature: np.zeros(len(data)) for feature in choices.inputs}
    for held_out, model in zip(folds, models, strict=True):
        x = data.rows(held_out).columns(choices.inputs)
        score[held_out] = perceptron.probability(model, x)
        for k, feature in enumerate(choices.inputs):
            other = x.copy()
            other[:, k] = draw.permutation(x[:, k])
            shuffled[feature][held_out] = perceptron.probability(model, other)
    outcome = Outcome(name, data, score, called(data.congested, score, folds), True)

    def fall(without: Floats) -> float:
        calls = called(data.congested, without, folds, limits_of=score)
        return outcome.balanced_accuracy - scores.balanced_accuracy(data.congested, calls)

    return outcome, {feature: fall(without) for feature, without in shuffled.items()}


def ours(choices: Choices, data: Dataset) -> Scorer:
    model = perceptron.fit(data.columns(choices.inputs), data.congested, choices)
    return lambda rows: perceptron.probability(model, rows.columns(choices.inputs))


def of_some(choices: Choices, share: float, data: Dataset) -> Scorer:
    """Train the perceptron on the share `share` of the scenarios."""
    there = np.unique(data.group)
    some = np.random.default_rng(choices.seed).permutation(there)[: max(2, round(share * len(there)))]
    return ours(choices, data.rows(np.isin(data.group, some)))


def ceiling(seed: int, data: Dataset) -> Scorer:
    """Train gradient boosting on all features, as the upper limit for loss classifiers."""
    trees = perceptron.sklearn("ensemble").HistGradientBoostingClassifier(
        max_iter=200,
        learning_rate=0.08,
        max_leaf_nodes=15,
        min_samples_leaf=40,
        l2_regularization=1.0,
        random_state=seed,
    )
    trees.fit(data.x, data.congested)
    return lambda rows: np.asarray(trees.predict_proba(rows.x)[:, 1], np.float64)


def single(feature: str, data: Dataset) -> Scorer:
    """Train a loss classifier whose score is the single feature `feature`. Training finds out only whether
    larger or smaller values mean congestion."""
    sign = 1.0 if scores.auc(data.congested, data.columns([feature])[:, 0]) >= 0.5 else -1.0
    return lambda rows: sign * rows.columns([feature])[:, 0]


def veno(data: Dataset, beta: float) -> Outcome:
    score = data.columns(["veno_packets"])[:, 0]
    return Outcome(f"veno, β {beta:g}", data, score, (score >= beta).astype(np.int64), False)


@dataclass(frozen=True, slots=True)
class Resampled:
    """The perceptron's accuracies over random splits of the losses, each as (mean, 2.5 % quantile, 97.5 %
    quantile)."""

    training: tuple[float, float, float]
    test: tuple[float, float, float]
    test_balanced: tuple[float, float, float]


def resampled(data: Dataset, choices: Choices, events: int, tests: int, times: int) -> Resampled:
    """Return the perceptron's accuracies by the protocol of the paper hwang2018: `times` times, train on
    `events` losses chosen at random and test on `tests` others."""
    found = []
    for k in range(times):
        order = np.random.default_rng(choices.seed + k).permutation(len(data))
        train, test = data.rows(order[:events]), data.rows(order[events : events + tests])
        model = perceptron.fit(train.columns(choices.inputs), train.congested, choices)
        right = [
            (perceptron.probability(model, part.columns(choices.inputs)) >= 0.5).astype(np.int64)
            for part in (train, test)
        ]
        found.append(
            (
                float((right[0] == train.congested).mean()),
                float((right[1] == test.congested).mean()),
                scores.balanced_accuracy(test.congested, right[1]),
            )
        )

    def spread(values: Floats) -> tuple[float, float, float]:
        low, high = np.nanpercentile(values, [2.5, 97.5])
        return float(np.nanmean(values)), float(low), float(high)

    columns = np.array(found).T
    return Resampled(*(spread(c) for c in columns))
