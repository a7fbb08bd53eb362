# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018's own protocol on our runs of its network: 100 events to train, 125 others to test, 30 times."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tcplearn.jobs import Kept
from tcplearn.papers.hwang2018.runs import Estimate
from tcplearn.simulate import loss_rows, sweep

if TYPE_CHECKING:
    import polars as pl

FILE = "training"
EVENTS, TESTS, TIMES = 100, 125, 30
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


def accuracies(folder: Path, profile: str, kept: Kept) -> list[Trained]:
    """Of events as they come, and with as many of each cause. Nothing where there are no runs."""
    import polars as pl

    done = sweep.stored([folder / f"{FILE}.toml"], profile, kept)
    if not done.finished():
        return []
    frame = loss_rows.of_sweep(done).filter(pl.col("queue_drops") + pl.col("channel_drops") > 0)
    by_cause = frame.partition_by("truth")
    fewest = min(part.height for part in by_cause)
    even = pl.concat([part.sample(fewest, seed=1) for part in by_cause])
    return [_tried("as they come", frame), _tried("as many of each cause", even)]


def _tried(what: str, frame: pl.DataFrame) -> Trained:
    from tcplearn.learn import dataset, perceptron, trials

    with tempfile.TemporaryDirectory(prefix="tcplearn-") as scratch:
        file = Path(scratch) / "events.parquet"
        frame.write_parquet(file)
        data = dataset.read([file])
    # as core/models/loss_hwang2018.json was trained
    choices = perceptron.Choices(INPUTS, hidden=8, starts=1, penalty=1e-4, epochs=150, rate=0.005, batch=25)
    found = trials.resampled(data, choices, EVENTS, TESTS, TIMES)
    spread = (Estimate(*part) for part in (found.training, found.test, found.test_balanced))
    return Trained(what, len(data), 1 - float(data.congested.mean()), *spread)
