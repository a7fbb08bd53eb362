# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes, from our runs, the quantities that tambuwal2018 prints (column `measure` of published.csv). A
startup policy is a rule for IW and ssthresh after a lost SYN-ACK. A gain is the amount by which a value is
lower than under the standard policy."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.lib.statistics import Estimate
from experiments.tambuwal2018.cells import (
    CONFIDENCE,
    SEGMENT_BYTES,
    STANDARD,
    Array,
    Cell,
    Run,
    data_s,
    far,
    joined,
    loss_share,
    mean,
    quantile,
    short,
)
from tcplearn.simulate.interval import mean_interval

#: The startups that the paper compares with the standard, as "tsl/IW-ssthresh".
STUDIED = ("tsl/1-16", "tsl/1-1000", "tsl/3-2", "tsl/3-16", "tsl/3-1000")
#: What published.csv has in place of a startup policy for a mean over the five policies, and for the policy
#: with the largest value.
MEAN, MOST = "mean", "most"
MIXED, EXTREME_S = "tsl/3-16", 10.0


@dataclass(frozen=True, eq=False)
class Load:
    """The runs at one load, grouped by startup policy or, in runs with two policies, by the share of
    connections with the policy TSL 3,16."""

    cells: Mapping[Any, Cell]
    seeds: Sequence[int]

    @classmethod
    def of(cls, cells: Mapping[Any, Cell]) -> Load:
        seeds = [set(cell.runs) for cell in cells.values()]
        return cls(cells, sorted(set.intersection(*seeds)) if seeds else [])

    @property
    def is_divided(self) -> bool:
        """Returns whether the runs are parts of long runs."""
        return any(run.is_part for cell in self.cells.values() for run in cell.runs.values())

    def runs(self, key: Any) -> list[Run]:
        return [self.cells[key].runs[seed] for seed in self.seeds]

    def lost(self, key: Any) -> Array:
        return joined(run.lost for run in self.runs(key))

    def metric(self, key: Any, name: str) -> float:
        return statistics.fmean(run.metrics[name] for run in self.runs(key))


Value = Callable[[Load, str], float]


def estimate(value: Callable[[Load], float], load: Load) -> Estimate:
    """Returns `value` over all runs of `load` with its 95 % interval by the jackknife, which leaves out each
    seed in turn or, in a long run, each part (Tukey 1958). Student's t has one degree of freedom less than
    there are seeds or parts. All connections of the runs count alike, and startup policies are compared
    under the same seeds."""
    whole, n = value(load), len(load.seeds)
    if n < 2 or math.isnan(whole):
        return Estimate(whole)
    left = [value(Load(load.cells, [s for s in load.seeds if s != out])) for out in load.seeds]
    _, half = mean_interval([n * whole - (n - 1) * one for one in left], CONFIDENCE)
    return Estimate(whole) if half is None else Estimate(whole, whole - half, whole + half)


def mean_of(load: Load, key: Any) -> float:
    return mean(load.lost(key)["rtts"])


def _rise(over: float, base: float) -> float:
    """Returns by how many % `over` is above `base`; nan if `base` is 0."""
    return 100 * (over / base - 1) if base else math.nan


def _gain(value: Value) -> Value:
    return lambda load, startup: value(load, STANDARD) - value(load, startup)


def _change(value: Value) -> Value:
    return lambda load, startup: _rise(value(load, startup), value(load, STANDARD))


def _metric(name: str, factor: float = 100) -> Value:
    return lambda load, startup: factor * load.metric(startup, name)


def _loss(load: Load, startup: str) -> float:
    """Returns the share of lost packets in %: the mean over the runs or, for a long run, the share of all its
    packets."""
    runs = load.runs(startup)
    weights = [run.metrics.get("link_packets", 1.0) for run in runs]
    lost = sum(loss_share(run) * weight for run, weight in zip(runs, weights, strict=True))
    return 100 * lost / sum(weights)


def _peak(load: Load, startup: str) -> float:
    """Returns the largest share of packets, in %, that was lost in one second: of a long run, or the mean
    over short runs."""
    most = [run.metrics["link_loss_share_max"] for run in load.runs(startup)]
    return 100 * (max(most) if load.is_divided else statistics.fmean(most))


def _of_lost(value: Callable[[Array], float]) -> Value:
    return lambda load, startup: value(load.lost(startup))


def _percentile(p: float) -> Value:
    """Returns a function that computes the quantile `p` of the response times in RTTs of objects of 1 to 50
    KB, which figures 4 and 6 of tambuwal2018 plot."""
    return _of_lost(lambda lost: quantile(short(lost)["rtts"], p))


def _far_ms(p: float) -> Value:
    return _of_lost(lambda lost: 1000 * quantile(data_s(far(lost)), p))


def _three_segments(lost: Array) -> float:
    of_two_or_three = (lost["bytes"] > SEGMENT_BYTES) & (lost["bytes"] <= 3 * SEGMENT_BYTES)
    return quantile(lost["rtts"][of_two_or_three], 0.5)


def _iw_lead(load: Load, _: str) -> float:
    p70 = {startup: _percentile(0.7)(load, startup) for startup in STUDIED}
    brute = max(value for startup, value in p70.items() if startup.startswith("tsl/3"))
    return min(value for startup, value in p70.items() if startup.startswith("tsl/1")) - brute


def _behind_best(load: Load, startup: str) -> float:
    return mean_of(load, startup) - min(mean_of(load, other) for other in STUDIED if other != startup)


def _unlimited_lead(load: Load, _: str) -> float:
    unlimited = [startup for startup in STUDIED if startup.endswith("-1000")]
    least = min(mean_of(load, startup) for startup in unlimited)
    return least - max(mean_of(load, startup) for startup in STUDIED if startup not in unlimited)


def _late_lead(load: Load, startup: str) -> float:
    lost = load.lost(startup)
    late = joined(run.spurious for run in load.runs(startup))
    return (mean(lost["whole_ms"][lost["path_rtt_ms"] > 1000]) - mean(late["whole_ms"])) / 1000


def mix_all(load: Load, share: float, kind: str) -> float:
    """Returns the mean response time, in RTTs, of all connections with the startup policy `kind`, in runs in
    which the share `share` of connections has the policy TSL 3,16."""
    is_other = kind == STANDARD and share > 0
    return load.metric(share, f"mean_response_{'standard' if is_other else 'studied'}_rtts")


def mix_lost(load: Load, share: float, kind: str) -> float:
    """Returns the mean response time, in RTTs, of the connections with the startup policy `kind` that lost a
    SYN-ACK, in runs in which the share `share` of connections has the policy TSL 3,16."""
    lost = load.lost(share)
    return mean(lost["rtts"][lost["studied"] == (kind == MIXED)])


def _mix(of: Callable[..., float], kind: str, share: float, base: float) -> Callable[[Load], float]:
    """Returns a function that computes by how many % the mean response time `of` (mix_all() or mix_lost()) of
    connections with the startup policy `kind` is higher if the share `share` of connections has the policy
    TSL 3,16 (IW 3 and ssthresh 16 after a lost SYN-ACK) than if the share `base` has it."""
    return lambda load: _rise(of(load, share, kind), of(load, base, kind))


#: Measures of runs in which all connections have the same startup policy, by their names in published.csv.
MEASURES: Mapping[str, Value] = {
    "mean_rtts": mean_of,
    "gain_rtts": _gain(mean_of),
    "change_percent": _change(mean_of),
    "p90_rtts": _percentile(0.9),
    "p99_rtts": _percentile(0.99),
    "least_rtts": _of_lost(lambda lost: quantile(lost["rtts"], 0)),
    "small_share": _of_lost(lambda lost: mean(short(lost)["bytes"] <= SEGMENT_BYTES)),
    "three_segments_rtts": _of_lost(_three_segments),
    "iw_lead_p70_rtts": _iw_lead,
    "tail_rtts": lambda load, startup: -_gain(_percentile(0.99))(load, startup),
    "behind_best_rtts": _behind_best,
    "unlimited_lead_rtts": _unlimited_lead,
    "late_lead_s": _late_lead,
    "far_p90_ms": _far_ms(0.9),
    "far_gain_p90_ms": _gain(_far_ms(0.9)),
    "far_gain_p99_ms": _gain(_far_ms(0.99)),
    "far_extreme_points": _gain(_of_lost(lambda lost: 100 * mean(data_s(far(lost)) > EXTREME_S))),
    "loss_percent": _loss,
    "peak_loss_percent": _peak,
    "used_percent": _metric("link_utilisation"),
    "throughput_mbps": _metric("link_throughput_mbps", 1),
    "loss_change_percent": _change(_loss),
    "throughput_drop_percent": lambda load, s: -_change(_metric("link_throughput_mbps"))(load, s),
}
#: The measures that are 0 for the standard startup policy, because they are differences from it.
OVER_STANDARD = ("gain_rtts", "far_gain_p90_ms", "loss_change_percent", "throughput_drop_percent")
#: Measures that are the largest value in a run. The parts of a long run do not show how much this value
#: varies between runs, so it has no interval in a long run.
OF_A_RUN = ("peak_loss_percent",)
#: Measures of mixes of two startup policies; their cells are by the share of connections with TSL 3,16.
MIXES: Mapping[str, Callable[[Load], float]] = {
    "mix_tsl_percent": _mix(mix_all, MIXED, 1.0, 0.25),
    "mix_standard_percent": _mix(mix_all, STANDARD, 0.75, 0.0),
    "mix_tsl_lost_percent": _mix(mix_lost, MIXED, 1.0, 0.25),
    "mix_standard_lost_percent": _mix(mix_lost, STANDARD, 0.75, 0.0),
}


@functools.cache
def of_startup(measure: str, load: Load, startup: str) -> tuple[Estimate, str]:
    """Returns the estimate of `measure`, and the startup policy to which it belongs: `startup` or, if that is
    "most", the one of tambuwal2018's five policies with the largest value. The estimate is empty if runs that
    it needs are missing."""
    value = MEASURES[measure]
    needed = {STANDARD, *STUDIED} if startup in ("", MEAN, MOST) else {STANDARD, startup}
    needed |= set(STUDIED) if measure == "behind_best_rtts" else set()
    if not needed <= set(load.cells):
        return Estimate(), startup
    load = Load.of({key: load.cells[key] for key in needed})  # only the seeds that all of these have
    if not load.seeds:
        return Estimate(), startup
    if startup == MEAN:
        return estimate(lambda of: statistics.fmean(value(of, s) for s in STUDIED), load), startup
    if measure in OF_A_RUN and load.is_divided:
        return Estimate(value(load, startup)), startup
    if startup == MOST:
        startup = max(STUDIED, key=lambda s: value(load, s))
    return estimate(lambda of: value(of, startup), load), startup
