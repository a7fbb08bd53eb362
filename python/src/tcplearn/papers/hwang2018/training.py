# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018's own protocol on our runs of its network: 100 events to train, 125 others to test, 30 times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tcplearn.jobs import Kept
from tcplearn.output import temporary
from tcplearn.papers.hwang2018.runs import Estimate
from tcplearn.simulate import loss_rows, sweep

if TYPE_CHECKING:
    import polars as pl

    from tcplearn.learn.dataset import Dataset
    from tcplearn.learn.perceptron import Choices

FILE = "training"
EVENTS, TESTS, TIMES = 100, 125, 30
#: Loss rates whose events are drawn from for training; the others of Tables 1 and 2 are only tested on.
TRAINED_AT = (1e-3, 3e-3, 1e-2)
TABLES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
#: RTTmin / P and RTT / P.
INPUTS = ("rtt_min_per_packet", "rtt_per_packet")


@dataclass(frozen=True)
class Trained:
    """Over the resamplings: the mean, and the middle 95 %."""

    what: str
    events: int
    random_share: float
    training: Estimate
    test: Estimate
    balanced: Estimate


@dataclass(frozen=True)
class AtRate:
    """The same models on events of one loss rate. balanced: nothing where a cause is not there."""

    loss_rate: float
    events: int
    random_share: float
    test: Estimate | None
    balanced: Estimate | None


def events_of(folder: Path, profile: str, kept: Kept) -> pl.DataFrame | None:
    """Recoveries with a loss, and the loss rate of each. None where there are no runs."""
    import polars as pl

    done = sweep.stored([folder / f"{FILE}.toml"], profile, kept)
    if not done.finished():
        return None
    frame = loss_rows.of_sweep(done).filter(pl.col("queue_drops") + pl.col("channel_drops") > 0)
    rate = pl.col("parameters").str.json_path_match('$["topology.loss_rate"]').cast(pl.Float64)
    return frame.with_columns(rate.alias("loss_rate"))


def accuracies(events: pl.DataFrame) -> list[Trained]:
    """Of events as they come, and with as many of each cause."""
    import polars as pl

    frame = events.filter(pl.col("loss_rate").is_in(TRAINED_AT))
    by_cause = frame.partition_by("truth")
    fewest = min(part.height for part in by_cause)
    even = pl.concat([part.sample(fewest, seed=1) for part in by_cause])
    return [_tried("as they come", frame), _tried("as many of each cause", even)]


def by_loss_rate(events: pl.DataFrame) -> list[AtRate]:
    """Trained on as many of each cause, as above; tested on others of each loss rate."""
    import numpy as np

    from tcplearn.learn import perceptron, scores

    whole = _dataset(events)
    rates = events["loss_rate"].to_numpy()
    taught = np.isin(rates, TRAINED_AT)
    causes = [np.flatnonzero(taught & (whole.congested == cause)) for cause in (0, 1)]
    x = whole.columns(INPUTS)
    found: dict[float, list[tuple[float, float]]] = {rate: [] for rate in TABLES}
    for k in range(TIMES):
        draw = np.random.default_rng(k + 1)
        rows = np.concatenate([draw.choice(rows, EVENTS // 2, replace=False) for rows in causes])
        model = perceptron.fit(x[rows], whole.congested[rows], _choices())
        for rate in TABLES:
            others = np.setdiff1d(np.flatnonzero(rates == rate), rows)
            if not len(others):
                continue
            test = draw.permutation(others)[:TESTS]
            called = (perceptron.probability(model, x[test]) >= 0.5).astype(np.int64)
            right = float((called == whole.congested[test]).mean())
            found[rate].append((right, scores.balanced_accuracy(whole.congested[test], called)))
    out = []
    for rate, pairs in found.items():
        if pairs:
            of_rate = whole.congested[rates == rate]
            of_test, balanced = (_middle([pair[i] for pair in pairs]) for i in (0, 1))
            out.append(AtRate(rate, len(of_rate), 1 - float(of_rate.mean()), of_test, balanced))
    return out


def _middle(values: list[float]) -> Estimate | None:
    """The mean, and the middle 95 %, of what there is."""
    import numpy as np

    there = [v for v in values if v == v]
    if not there:
        return None
    low, high = np.percentile(there, [2.5, 97.5])
    return Estimate(float(np.mean(there)), float(low), float(high))


def _choices() -> Choices:
    """As core/models/loss_hwang2018.json was trained."""
    from tcplearn.learn.perceptron import Choices

    return Choices(INPUTS, hidden=8, starts=1, penalty=1e-4, epochs=150, rate=0.005, batch=25)


def _dataset(frame: pl.DataFrame) -> Dataset:
    from tcplearn.learn import dataset

    with temporary.folder() as folder:
        file = folder / "events.parquet"
        frame.write_parquet(file)
        return dataset.read([file])


def _tried(what: str, frame: pl.DataFrame) -> Trained:
    from tcplearn.learn import trials

    data = _dataset(frame)
    found = trials.resampled(data, _choices(), EVENTS, TESTS, TIMES)
    spread = (Estimate(*part) for part in (found.training, found.test, found.test_balanced))
    return Trained(what, len(data), 1 - float(data.congested.mean()), *spread)
