# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes, from our runs, the quantities that tambuwal2018 prints (column `measure` of published.csv). A
startup policy is a rule for IW and ssthresh after a lost SYN-ACK. A gain is the amount by which a value is
lower than under the standard policy."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiments.lib.statistics import Estimate
from experiments.tambuwal2018.cells import (
    CONFIDENCE,
    SEGMENT_BYTES,
    STANDARD,
    Cell,
    Connection,
    Run,
    is_short,
    quantile,
)
from tcplearn.simulate.interval import mean_interval

#: The startups that the paper compares with the standard, as "tsl/IW-ssthresh".
STUDIED = ("tsl/1-16", "tsl/1-1000", "tsl/3-2", "tsl/3-16", "tsl/3-1000")
#: What published.csv has in place of a startup policy for a mean over the five policies, and for the policy
#: with the largest value.
MEAN, MOST = "mean", "most"
MIXED, FAR_MS, EXTREME_S = "tsl/3-16", 50.0, 10.0


@dataclass(frozen=True)
class Load:
    """The runs at one load, grouped by startup policy or, in runs with two policies, by the share of
    connections with the policy TSL 3,16."""

    cells: Mapping[str | float, Cell]
    seeds: Sequence[int]

    @classmethod
    def of(cls, cells: Mapping[str | float, Cell]) -> Load:
        seeds = [set(cell.runs) for cell in cells.values()]
        return cls(cells, sorted(set.intersection(*seeds)) if seeds else [])

    @property
    def is_divided(self) -> bool:
        """Returns whether the runs are parts of long runs."""
        return any(run.part_of is not None for cell in self.cells.values() for run in cell.runs.values())

    def runs(self, key: str | float) -> list[Run]:
        return [self.cells[key].runs[seed] for seed in self.seeds]

    def lost(self, key: str | float) -> list[Connection]:
        return [c for run in self.runs(key) for c in run.lost]

    def rtts(self, key: str | float, wanted: Callable[[Connection], bool] = lambda _: True) -> list[float]:
        return [c.rtts for c in self.lost(key) if wanted(c)]

    def metric(self, key: str | float, name: str) -> float:
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


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.fmean(found) if found else math.nan


def mean_of(load: Load, key: str | float) -> float:
    return _mean(load.rtts(key))


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
    found = [
        (run.metrics["link_loss_share"], run.metrics.get("link_packets", 1.0)) for run in load.runs(startup)
    ]
    return 100 * sum(share * weight for share, weight in found) / sum(weight for _, weight in found)


def _peak(load: Load, startup: str) -> float:
    """Returns the mean over the runs of the largest share of packets, in %, that was lost in one second."""
    most: dict[int, float] = {}
    for run in load.runs(startup):
        key = run.seed if run.part_of is None else run.part_of
        most[key] = max(most.get(key, 0.0), run.metrics["link_loss_share_max"])
    return 100 * statistics.fmean(most.values())


def _percentile(p: float) -> Value:
    """Returns a function that computes the quantile `p` of the response times in RTTs of objects of 1 to 50
    KB, which figures 4 and 6 of tambuwal2018 plot."""
    return lambda load, startup: quantile(load.rtts(startup, is_short), p)


def _far(load: Load, startup: str) -> list[float]:
    return [c.data_s for c in load.lost(startup) if c.path_rtt_ms > FAR_MS]


def _far_ms(p: float) -> Value:
    return lambda load, startup: 1000 * quantile(_far(load, startup), p)


def _far_extreme(load: Load, startup: str) -> float:
    return 100 * _mean(value > EXTREME_S for value in _far(load, startup))


def _small_share(load: Load, startup: str) -> float:
    return _mean(c.size_bytes <= SEGMENT_BYTES for c in load.lost(startup) if is_short(c))


def _three_segments(load: Load, startup: str) -> float:
    found = load.rtts(startup, lambda c: SEGMENT_BYTES < c.size_bytes <= 3 * SEGMENT_BYTES)
    return quantile(found, 0.5)


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
    late = [c.whole_ms for run in load.runs(startup) for c in run.spurious]
    return (_mean(c.whole_ms for c in load.lost(startup) if c.path_rtt_ms > 1000) - _mean(late)) / 1000


def mix_all(load: Load, share: float, kind: str) -> float:
    """Returns the mean response time, in RTTs, of all connections with the startup policy `kind`, in runs in
    which the share `share` of connections has the policy TSL 3,16."""
    is_other = kind == STANDARD and share > 0
    return load.metric(share, f"mean_response_{'standard' if is_other else 'studied'}_rtts")


def mix_lost(load: Load, share: float, kind: str) -> float:
    """Returns the mean response time, in RTTs, of the connections with the startup policy `kind` that lost a
    SYN-ACK, in runs in which the share `share` of connections has the policy TSL 3,16."""
    return _mean(load.rtts(share, lambda c: c.startup == kind))


#: Measures of runs in which all connections have the same startup policy, by their names in published.csv.
MEASURES: Mapping[str, Value] = {
    "mean_rtts": mean_of,
    "gain_rtts": _gain(mean_of),
    "change_percent": _change(mean_of),
    "p90_rtts": _percentile(0.9),
    "p99_rtts": _percentile(0.99),
    "least_rtts": lambda load, startup: min(load.rtts(startup), default=math.nan),
    "small_share": _small_share,
    "three_segments_rtts": _three_segments,
    "iw_lead_p70_rtts": _iw_lead,
    "tail_rtts": lambda load, startup: -_gain(_percentile(0.99))(load, startup),
    "behind_best_rtts": _behind_best,
    "unlimited_lead_rtts": _unlimited_lead,
    "late_lead_s": _late_lead,
    "far_p90_ms": _far_ms(0.9),
    "far_gain_p90_ms": _gain(_far_ms(0.9)),
    "far_gain_p99_ms": _gain(_far_ms(0.99)),
    "far_extreme_points": _gain(_far_extreme),
    "loss_percent": _loss,
    "peak_loss_percent": _peak,
    "used_percent": _metric("link_utilisation"),
    "throughput_mbps": _metric("link_throughput_mbps", 1),
    "loss_change_percent": _change(_loss),
    "throughput_drop_percent": lambda load, s: -_change(_metric("link_throughput_mbps"))(load, s),
}
#: Measures that are the largest value in a run. The parts of a long run do not show how much this value
#: varies between runs, so it has no interval in a long run.
OF_A_RUN = ("peak_loss_percent",)
#: Measures of mixes of two startup policies; their cells are by the share of connections with TSL 3,16.
MIXES: Mapping[str, Callable[[Load], float]] = {
    "mix_tsl_percent": lambda load: _rise(mix_all(load, 1.0, MIXED), mix_all(load, 0.25, MIXED)),
    "mix_standard_percent": lambda load: _rise(mix_all(load, 0.75, STANDARD), mix_all(load, 0.0, STANDARD)),
    "mix_tsl_lost_percent": lambda load: _rise(mix_lost(load, 1.0, MIXED), mix_lost(load, 0.25, MIXED)),
    "mix_standard_lost_percent": lambda load: _rise(
        mix_lost(load, 0.75, STANDARD), mix_lost(load, 0.0, STANDARD)
    ),
}


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
        return estimate(lambda of: _mean(value(of, s) for s in STUDIED), load), startup
    if measure in OF_A_RUN and load.is_divided:
        return Estimate(value(load, startup)), startup
    if startup == MOST:
        startup = max(STUDIED, key=lambda s: value(load, s))
    return estimate(lambda of: value(of, startup), load), startup
