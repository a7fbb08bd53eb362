# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Selects what is stored of the runs of nunes2014's simulations, and compares two algorithms in runs with the
same seed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.lib.batches import Figures
from experiments.lib.runs import Run
from experiments.nunes2014.published import ERROR
from tcplearn.output.numbers import ratio
from tcplearn.simulate.interval import mean_interval, ratio_interval

EXPERTS = "experts"
CONFIDENCE = 0.9  # as in section 5 of the paper
TICK_MS = 500.0
#: The values against which the error of a prediction is computed, if RTTs are counted in ticks.
SCORED = {
    "the clock count": "mean_abs_error_count_ticks",
    "the clock count − 1": "mean_abs_error_count_less_one_ticks",
    "the RTT": "mean_abs_error_time_ticks",
}
#: Groups of flows: the lower and upper limit of their mean RTT in ticks of 500 ms.
SIZES = {"under 0.1": (0.0, 0.1), "0.1 to 1": (0.1, 1.0), "above 1": (1.0, float("inf"))}
METRICS = (
    ERROR, "mean_abs_error_ms", *SCORED.values(), "bias_ms", "mean_rtt_ms", "rtt_variance_ticks2",
    "mean_cwnd_bytes", "mean_queue_bytes", "retransmitted_share", "delivery_ratio", "delivered_packets",
    "goodput_pps", "timeouts", "needless_timeouts", "spurious_timeouts",
)  # fmt: skip

Network = tuple[str, str, str]  # scenario, variant, load


def keep(run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns what is stored of a run in ns-3: its metrics, the mean errors of the flows by the size of their
    RTT, the numbers of RTT samples of the flows and, for scenario I, the cwnd over time."""
    metrics = {name: m for name in METRICS if (m := result["run"]["metrics"].get(name)) is not None}
    flows = [flow["metrics"] for flow in result["flows"]]
    for size, (low, high) in SIZES.items():
        for metric in SCORED.values():
            errors = [f[metric] for f in flows if metric in f and low <= f["mean_rtt_ms"] / TICK_MS < high]
            metrics |= {sized(metric, size): statistics.fmean(errors)} if errors else {}
    series = {"samples": np.array([flow.get("samples", 0.0) for flow in flows], float)}
    if run.document.name == "I":
        window = result["run"]["cwnd_over_time"]
        metrics["cwnd_bin_s"] = window["bin_s"]
        series["cwnd_bytes"] = np.array(window["bytes"] or [], float)
    return metrics, series


def sized(metric: str, size: str) -> str:
    return f"{metric}, RTT {size}"


def network(run: Run) -> Network:
    varied = [value for key, value in run.labels.items() if key not in ("variant", "timing")]
    loads = ("-".join(f"{v:g}" for v in value) if isinstance(value, list) else str(value) for value in varied)
    return run.scenario, str(run.labels.get("variant", "")), " ".join(loads)


def name(run: Run) -> str:
    """Returns the run's algorithm without its parameters."""
    return run.algorithm.partition(":")[0]


def by_network(runs: Iterable[Run]) -> dict[Network, dict[str, dict[str, list[Run]]]]:
    """Returns runs by network, then by timing (how RTTs are measured), then by algorithm."""
    out: dict[Network, dict[str, dict[str, list[Run]]]] = {}
    for run in runs:
        timings = out.setdefault(network(run), {})
        timings.setdefault(run.labels["timing"], {}).setdefault(run.algorithm, []).append(run)
    return out


@dataclass(frozen=True)
class Pairs:
    """The values of a metric in runs of two algorithms. Values at the same index are of the same seed."""

    base: Sequence[float]
    ours: Sequence[float]

    @property
    def ratio(self) -> tuple[float, float, float] | None:
        """Returns the geometric mean of `base` / `ours` and the two ends of its 90 % interval, or None if
        there are no values or if one is zero."""
        return ratio_interval(self.base, self.ours, CONFIDENCE)

    @property
    def means(self) -> tuple[float, ...]:
        return (statistics.fmean(self.base), statistics.fmean(self.ours)) if self.base else ()

    def both(self, form: str = "") -> str:
        return " / ".join(format(value, form) if form else ratio(value) for value in self.means)

    @property
    def spread(self) -> str:
        """Returns `ratio` as text."""
        if not (found := self.ratio):
            return "no ratio" if self.base else ""
        middle, low, high = map(ratio, found)
        return f"{middle} ({low} to {high})" if len(self.base) > 1 else f"{middle} (one pair)"

    @property
    def shown(self) -> str:
        return f"{self.both()}: {self.spread}" if self.base else "no samples"


def pairs(base: Iterable[Run], ours: Iterable[Run], metric: str) -> Pairs:
    """Returns the values of `metric` in pairs of a run of `base` and a run of `ours` with the same number,
    which in ns-3 is the seed."""
    above, below = ({r.run: r.metrics[metric] for r in of if metric in r.metrics} for of in (base, ours))
    both = sorted(above.keys() & below.keys())
    return Pairs([above[n] for n in both], [below[n] for n in both])


@dataclass(frozen=True)
class Beside:
    """Runs of nunes2014's RTT predictor ("experts") and of Jacobson's estimator (`base`) in one network."""

    network: Network
    timing: str  # how RTTs are measured in the experts' runs
    base: Sequence[Run]
    experts: Sequence[Run]

    def pairs(self, metric: str) -> Pairs:
        return pairs(self.base, self.experts, metric)

    def mean(self, metric: str, scale: float = 1.0) -> str:
        """Returns, as text, the mean of `metric` over the runs of `base`, multiplied by `scale`."""
        return number(mean(self.base, metric, scale))

    @property
    def rtt_ticks(self) -> str:
        return self.mean("mean_rtt_ms", 1 / TICK_MS)


def beside(runs: Iterable[Run], base: str, base_timing: str = "") -> Iterator[Beside]:
    """Yields, for each network and timing, the runs of nunes2014's RTT predictor ("experts") and those of the
    algorithm `base`, if there are both. The runs of `base` have the timing `base_timing` or, if that is "",
    the timing of the predictor's runs."""
    for at, timings in by_network(runs).items():
        for timing, algorithms in timings.items():
            found = timings.get(base_timing or timing, {}).get(base)
            if found and EXPERTS in algorithms:
                yield Beside(at, timing, found, algorithms[EXPERTS])


def mean(runs: Iterable[Run], metric: str, scale: float = 1.0) -> float | None:
    values = [run.metrics[metric] * scale for run in runs if metric in run.metrics]
    return statistics.fmean(values) if values else None


def number(value: float | None) -> str:
    return "–" if value is None else ratio(value)


def mean_and_half(values: Sequence[float], form: str = ".2f") -> str:
    """Returns, as text, the mean of `values` and, if there are several, half of its 90 % interval."""
    middle, half = mean_interval(values, CONFIDENCE)
    return format(middle, form) + ("" if half is None else f" ± {format(half, form).lstrip('+')}")
