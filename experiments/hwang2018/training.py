# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Repeats hwang2018's training of the loss classifier, 30 times, on fast retransmits of our simulations."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from experiments.hwang2018.sample import Sample
from experiments.lib.runs import Floats
from experiments.lib.statistics import Estimate, interval
from tcplearn.learn import perceptron, scores, trials
from tcplearn.learn.dataset import Dataset
from tcplearn.learn.perceptron import Choices

SCENARIO = "hwang2018"
EVENTS, TESTS, TIMES = 100, 125, 30
#: Random loss rates: those with training events, and those of the paper's tables 1 and 2, used for tests.
TRAINED_AT = (1e-3, 3e-3, 1e-2)
TABLES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
#: The classifier's inputs in the paper: RTTmin / P and RTT / P, with P packets in flight.
INPUTS = ("rtt_min_per_packet", "rtt_per_packet")
#: The settings with which core/models/loss_hwang2018.json was trained.
CHOICES = Choices(INPUTS, hidden=8, starts=1, penalty=1e-4, epochs=150, rate=0.005, batch=25)


def keep(losses: Mapping[str, Any] | None) -> dict[str, Floats]:
    """Returns the loss classifier's inputs and the true cause (`congested`: 1 or 0) of each fast retransmit
    in which a packet was lost; {} if there are no fast retransmits."""
    if not losses or not losses["rows"]:
        return {}
    columns = dict(zip(losses["columns"], np.array(losses["rows"], object).T, strict=True))
    kept = {name: columns[name] for name in INPUTS} | {"congested": columns["queue_drops"] > 0}
    lost = columns["queue_drops"] + columns["channel_drops"] > 0
    return {name: values[lost].astype(float) for name, values in kept.items()}


def tables(found: Sample) -> dict[str, list[list[str]]]:
    """Returns the rows of two tables: the loss classifier's accuracy in training and in the test ("trained"),
    and its accuracy in the test by random loss rate ("by_rate"). Returns {} if there are too few fast
    retransmits for training."""
    runs = [run for run in found.at(scenario=SCENARIO) if "congested" in run.series]
    if not runs:
        return {}
    series = {name: np.concatenate([run.series[name] for run in runs]) for name in (*INPUTS, "congested")}
    rates = np.concatenate([np.full(len(run.series["congested"]), run.labels["loss_rate"]) for run in runs])
    x, congested = np.stack([series[name] for name in INPUTS], axis=1), series["congested"].astype(np.int64)
    events = Dataset(INPUTS, x, congested, np.zeros(len(x), np.int64), ("",))
    causes = [np.flatnonzero(np.isin(rates, TRAINED_AT) & (congested == cause)) for cause in (0, 1)]
    fewest = min(map(len, causes))
    if 2 * fewest < EVENTS + TESTS:
        return {}
    draw = np.random.default_rng(1)
    even = [draw.choice(rows, fewest, replace=False) for rows in causes]
    trained = (("all", causes), ("equally many of each cause", even))
    return {
        "trained": [_tried(what, events.rows(np.sort(np.concatenate(rows)))) for what, rows in trained],
        "by_rate": list(_by_rate(events, rates, causes)),
    }


def _tried(what: str, events: Dataset) -> list[str]:
    of = trials.resampled(events, CHOICES, EVENTS, TESTS, TIMES)
    spread = (Estimate(*part).shown(3) for part in (of.training, of.test, of.test_balanced))
    return [what, str(len(events)), f"{1 - events.congested.mean():.2f}", *spread]


def _by_rate(events: Dataset, rates: Floats, causes: list[Any]) -> Iterator[list[str]]:
    """Yields a table row for each random loss rate with the accuracy of the loss classifier on the `events`
    (losses) at this rate. `rates` has the rate of each event. The classifier is trained on equally many
    events of each cause; `causes` has the indices of the training events that are not due to congestion, and
    of those that are."""
    right: dict[float, list[tuple[float, float]]] = {rate: [] for rate in TABLES}
    for k in range(TIMES):
        draw = np.random.default_rng(k + 1)
        taught = np.concatenate([draw.choice(rows, EVENTS // 2, replace=False) for rows in causes])
        model = perceptron.fit(events.x[taught], events.congested[taught], CHOICES)
        for rate in TABLES:
            test = draw.permutation(np.setdiff1d(np.flatnonzero(rates == rate), taught))[:TESTS]
            if len(test):
                called = (perceptron.probability(model, events.x[test]) >= 0.5).astype(np.int64)
                true = events.congested[test]
                right[rate].append((float((called == true).mean()), scores.balanced_accuracy(true, called)))
    for rate, pairs in right.items():
        if pairs:
            of_rate = events.congested[rates == rate]
            accuracies = (_middle([pair[i] for pair in pairs]).shown(3) for i in (0, 1))
            yield [f"{rate:g}", str(len(of_rate)), f"{1 - of_rate.mean():.2f}", *accuracies]


def _middle(values: list[float]) -> Estimate:
    """Returns the mean and the middle 95 % of `values`, without those that are NaN."""
    known = [value for value in values if value == value]
    return Estimate(float(np.mean(known)), *interval(np.array(known))) if known else Estimate()
