# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a replay gives: rows for machines, series and distributions for pictures."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Flows with fewer samples are measured but not judged.
TOO_SHORT = 30
#: Fewer misses than this give no rate to match, and fewer expected ones none to judge.
MISSES_LEAST = 20
#: Achieved miss rate to the target: within these is called kept.
KEPT = (0.7, 1.3)


@dataclass(frozen=True, slots=True)
class Row:
    """One flow under one estimator. Times in milliseconds; None where nothing was measured.

    Ratios are to `jacobson` on the same flow: below 1 is better than RFC 6298's formulas. `_low` and `_high`
    are their 95 % intervals.
    """

    source: str
    flow: str
    estimator: str
    arithmetic: str
    samples: int
    judged: bool
    note: str
    mean_abs_error_ms: float | None
    median_abs_error_ms: float | None
    p95_abs_error_ms: float | None
    bias_ms: float | None  # mean of prediction - sample
    at_send_error_ms: float | None
    rto_miss_rate: float | None  # by the RTO at the sample's sending
    rto_miss_rate_before: float | None  # by the RTO just before the sample
    spurious_timeouts: int
    spurious_timeouts_tlp: int
    spurious_probes: int
    mean_rto_ms: float | None
    excess_wait_ms: float | None
    mean_abs_error_ratio: float | None = None
    at_send_error_ratio: float | None = None
    rto_miss_rate_ratio: float | None = None
    mean_rto_ratio: float | None = None
    excess_wait_ratio: float | None = None
    mean_abs_error_ratio_low: float | None = None
    mean_abs_error_ratio_high: float | None = None
    at_send_error_ratio_low: float | None = None
    at_send_error_ratio_high: float | None = None
    rto_miss_rate_ratio_low: float | None = None
    rto_miss_rate_ratio_high: float | None = None
    mean_rto_ratio_low: float | None = None
    mean_rto_ratio_high: float | None = None
    excess_wait_ratio_low: float | None = None
    excess_wait_ratio_high: float | None = None
    # mean_abs_error by that of the best in hindsight; only of judged flows
    regret_best_constant_ratio: float | None = None
    regret_best_ewma_ratio: float | None = None
    regret_best_switching_ratio: float | None = None
    rto_miss_rate_asked: float | None = None  # of a timer with a chosen miss rate
    mean_flight_segments: float | None = None  # out just before the ACK of a sample
    losses: int | None = None  # None: the trace does not tell
    loss_detect_actual_ms: float | None = None  # by the sender of the capture, whatever is listed
    loss_detect_rto_ms: float | None = None
    loss_detect_rack_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A flow over time, thinned to at most a few thousand points (`per_point` samples each)."""

    source: str
    flow: str
    per_point: int
    time_s: Floats
    rtt_low_ms: Floats  # smallest and largest sample of the point
    rtt_high_ms: Floats
    prediction_ms: dict[str, Floats]  # by estimator: what stood before the point's last sample
    rto_ms: dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Distribution:
    """|prediction - sample| of one flow (or of all, flow "total") under one estimator."""

    source: str
    flow: str
    estimator: str
    probability: Floats  # rising, 0 to 1
    error_ms: Floats


@dataclass(slots=True)
class Replay:
    rows: list[Row] = field(default_factory=list)
    totals: list[Row] = field(default_factory=list)  # flow "total", one per estimator
    series: list[Series] = field(default_factory=list)  # of the flows with most samples
    distributions: list[Distribution] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # for people: sides found, flows left out
    warnings: list[str] = field(default_factory=list)
    made_by: dict[str, str] = field(default_factory=dict)  # version, commit, command, parameters
