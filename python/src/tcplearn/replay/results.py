# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define the result of a replay: rows of metrics, data of pictures, and the verdict on which timer is
best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tcplearn.output.rows import Record
from tcplearn.replay import verdict
from tcplearn.replay.row import Row, tidied
from tcplearn.replay.verdict import Verdict

Floats = NDArray[np.float64]

TOO_SHORT = 30  # flows with fewer samples are measured but not judged
MISSES_LEAST = 20  # least misses (samples above the RTO), observed or expected, to compare miss rates
KEPT = (0.7, 1.3)  # bounds of achieved / requested miss rate, within which the timer has kept the rate


@dataclass(frozen=True, slots=True)
class Series:
    """A flow as a time series of at most a few thousand points, each of `per_point` RTT samples."""

    source: str
    flow: str
    per_point: int
    time_s: Floats
    rtt_low_ms: Floats  # smallest sample of each point; rtt_high_ms has the largest
    rtt_high_ms: Floats
    prediction_ms: dict[str, Floats]  # by estimator, just before the point's last sample
    rto_ms: dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Distribution:
    """The distribution of |prediction - RTT sample| of an estimator over one flow, or all flows ("total")."""

    source: str
    flow: str
    estimator: str
    probability: Floats  # rising, 0 to 1
    error_ms: Floats


@dataclass(slots=True)
class Unlisted:
    """A summary of the flows that have too few samples to be judged and whose rows are not stored."""

    flows: int = 0
    samples: int = 0
    least: int = 0  # samples of the shortest flow; `most`: of the longest
    most: int = 0

    def add(self, samples: int) -> None:
        self.least = min(self.least, samples) if self.flows else samples
        self.most = max(self.most, samples)
        self.flows += 1
        self.samples += samples


@dataclass(slots=True)
class Replay:
    rows: list[Row] = field(default_factory=list)
    totals: list[Row] = field(default_factory=list)  # over all flows, one for each estimator
    series: list[Series] = field(default_factory=list)  # the flows with the most samples
    distributions: list[Distribution] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # which senders were replayed, and flows left out
    warnings: list[str] = field(default_factory=list)
    made_by: dict[str, str] = field(default_factory=dict)  # version, commit, command, parameters
    verdict: Verdict | None = None  # which timer is best over all flows
    unlisted: Unlisted = field(default_factory=Unlisted)  # measured flows without rows

    def tidy(self, rows: Iterable[Row]) -> Iterator[Record]:
        """Yield a record for each metric of each of `rows`. In rows over all flows, the column `source` lists
        all sources."""
        return tidied(rows, self.made_by, ", ".join(dict.fromkeys(row.source for row in self.rows)))

    def answer(self) -> Verdict | None:
        """Return the verdict or, if the replay has none, one without intervals; None if there can be none."""
        if self.verdict is not None:
            return self.verdict
        flows = {(row.source, row.flow) for row in self.rows}
        rows = self.totals if self.totals else self.rows if len(flows) == 1 else []
        return verdict.of(rows, len(flows), {})
