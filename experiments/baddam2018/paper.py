# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares our results with everything that the paper baddam2018 prints. For its charts of downloads, the
module lists the runs in ns-3 of downloads that take about as long as the paper's."""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, variance
from typing import Any

from experiments.baddam2018.grid import VERSIONS, version_of
from experiments.baddam2018.published import CHANGED, ORIGINAL, bursts, charts, fits
from experiments.lib.batches import Batch, Figures, SimulatedRuns
from experiments.lib.runs import Run
from experiments.lib.statistics import Estimate, student_mean, student_ratio
from tcplearn.simulate.interval import t_quantile

CONFIDENCE = 0.95
TIME, RESENT, TIMEOUTS, SPURIOUS = "download_s", "retransmitted_packets", "timeouts", "spurious_timeouts"
COEFFICIENTS = ("b0", "hops", "min", "max", "ttl")
#: By the quantity of a chart of the paper: our metric that is compared with it, and the chart's title.
CHARTS = {"time": (TIME, "Time Taken Analysis"), "resent": (RESENT, "No. of Retransmitted packets")}
TRAFFIC = {"none": "without traffic", "high": "high traffic", "low": "low traffic"}
STOCK, AS_WRITTEN = "stock", "as written"
NAMES = {"kernel": "as the kernels ran", "linux": STOCK, **VERSIONS}
#: By kernel, traffic and version of the RTT estimator: each metric's values by the seed of the run.
Cells = dict[tuple[str, str, str], dict[str, dict[Hashable, float]]]


def keep(run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns the time of the download in s, its retransmissions and timeouts. A download that did not finish
    counts with the duration of the run."""
    (flow,) = result["flows"]
    of = flow["metrics"]
    megabits = 8e-6 * of["delivered_packets"] * run.scenario.tcp.segment_bytes
    finished = flow["state"] == "finished"
    seconds = megabits / of["goodput_mbps"] if finished else run.scenario.duration_s
    counts = {name: of[name] for name in (RESENT, TIMEOUTS, SPURIOUS)}
    return {TIME: seconds, "finished": float(finished), **counts}, {}


def batches(folder: Path, profile: str) -> list[Batch]:
    return [SimulatedRuns(folder / "downloads.toml", profile or "full", keep)]


def cells(runs: Sequence[Run]) -> Cells:
    found: Cells = {}
    for run in runs:
        kernel, traffic = str(run.labels["variant"]).split("-")
        of = found.setdefault((kernel, traffic, version_of(run.algorithm, NAMES)), {})
        for metric, value in run.metrics.items():
            of.setdefault(metric, {})[run.seed] = value
    return found


def ratio(of: Cells, kernel: str, traffic: str, version: str, metric: str, base: str = STOCK) -> Estimate:
    """Returns the geometric mean, over seeds, of the ratio of `metric` under the estimator's version
    `version` to `metric` under the version `base`."""
    above, below = (of.get((kernel, traffic, name), {}).get(metric, {}) for name in (version, base))
    return student_ratio(above, below, CONFIDENCE)


def unpaired_ratio(above: Sequence[float], below: Sequence[float]) -> Estimate:
    """Returns the geometric mean of `above` divided by that of `below`, with a 95 % interval by Student's t.
    The degrees of freedom are one less than the number of values in the shorter of both; Welch's formula
    gives at least as many."""
    tops, bottoms = logs = [[math.log(value) for value in values] for values in (above, below)]
    middle = fmean(tops) - fmean(bottoms)
    error = math.sqrt(sum(variance(of) / len(of) for of in logs))
    half = t_quantile((1 + CONFIDENCE) / 2, min(map(len, logs)) - 1) * error
    return Estimate(*(math.exp(middle + by) for by in (0, -half, half)))


def pooled(found: Sequence[Estimate]) -> Estimate:
    """Returns the geometric mean of those ratios that are above 0, with Student's 95 % interval over them."""
    of = student_mean([math.log(one.value) for one in found if one.value > 0], CONFIDENCE)
    return Estimate(*(math.exp(value) for value in (of.value, of.low, of.high)))


def verdict(paper: Estimate, ours: Estimate) -> str:
    """Returns "not reproduced" if the intervals of both ratios do not overlap, "reproduced" if each interval
    contains the other's ratio and none is wider than a factor of two, and otherwise "cannot be told". Returns
    "not measured" if a ratio has no interval."""
    if any(math.isnan(one.low) for one in (paper, ours)):
        return "not measured"
    if paper.high < ours.low or ours.high < paper.low:
        return "not reproduced"
    inside = all(one.low <= other.value <= one.high for one, other in ((paper, ours), (ours, paper)))
    narrow = all(one.high <= 2 * one.low for one in (paper, ours))
    return "reproduced" if inside and narrow else "cannot be told"


def claimed(ours: Estimate, side: int) -> str:
    """Returns "reproduced" if the interval of our ratio is on the side of 1 that baddam2018 claims (above 1
    if `side` is 1, below 1 if it is -1), "not reproduced" if it is on the other side, and "cannot be told" if
    it contains 1."""
    found = (ours.low > 1) - (ours.high < 1)
    return "cannot be told" if not found else "reproduced" if found == side else "not reproduced"


def _range(values: Collection[float]) -> str:
    """Returns, as text, the mean of the values, and in brackets the smallest and the largest value."""
    if not values:
        return "–"
    mean, least, most = (f"{value:,.1f}" for value in (fmean(values), min(values), max(values)))
    return f"{mean} ({least} to {most})"


def _chart(kernel: str, traffic: str, quantity: str, values: dict[str, list[float]], of: Cells) -> Any:
    metric, title = CHARTS[quantity]
    paper = unpaired_ratio(values[CHANGED], values[ORIGINAL])
    ours = ratio(of, kernel, traffic, AS_WRITTEN, metric)
    return {
        "title": f"TCP {kernel.capitalize()} - {title} {TRAFFIC[traffic]}",
        "quantity": quantity,
        "values": {name: ", ".join(f"{value:g}" for value in each) for name, each in values.items()},
        "least": min(map(min, values.values())),
        "most": max(map(max, values.values())),
        "paper": paper,
        "stock": _range(of.get((kernel, traffic, STOCK), {}).get(metric, {}).values()),
        "ours": ours,
        "verdict": verdict(paper, ours),
    }


def _sanity(folder: Path) -> dict[str, list[tuple[float, str]]]:
    """Returns, for each kernel, pairs of a difference and a site: by how many ms the site's mean RTTs under
    the changed and the original kernel differ. The largest difference comes first."""
    means = {(b.kernel, b.site, b.version): b.mean for b in bursts(folder)}
    out: dict[str, list[tuple[float, str]]] = {}
    for kernel, site in dict.fromkeys((kernel, site) for kernel, site, _ in means):
        by = means[kernel, site, CHANGED] - means[kernel, site, ORIGINAL]
        out.setdefault(kernel, []).append((abs(by), site))
    return {kernel: sorted(found, reverse=True) for kernel, found in out.items()}


def _rtos() -> Iterator[float]:
    """Yields the RTO of `jacobson` (RFC 6298) divided by the RTT, after each of 100 samples of 100 ms."""
    from tcplearn import _native

    estimator = _native.Estimator("jacobson", "double")
    for k in range(100):
        estimator.update(100_000, 100_000 * (k + 1), 0)
        yield estimator.rto_us / 100_000


def _megabytes(runs: Sequence[Run]) -> str:
    """Returns the sizes of the downloads in MB by kernel, as text."""
    scenarios = {run.labels["variant"].partition("-")[0]: run.parameters for run in runs}
    return ", ".join(
        f"{1e-6 * of['load']['packets'][0] * of['tcp']['segment_bytes']:.0f} MB ({kernel})"
        for kernel, of in scenarios.items()
    )


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    of = cells(runs)
    if not of:
        return {}
    drawn = [_chart(*at, values, of) for at, values in charts(folder).items()]
    at = [(kernel, traffic) for kernel, traffic, version in of if version == STOCK and traffic in TRAFFIC]

    def ours(metric: str, base: str = STOCK) -> Estimate:
        return pooled([ratio(of, *one, AS_WRITTEN, metric, base) for one in at])

    both: dict[str, dict[str, Any]] = {}
    for quantity, (metric, _) in CHARTS.items():
        every = [one for one in drawn if one["quantity"] == quantity]
        least, most = min(one["least"] for one in every), max(one["most"] for one in every)
        paper = pooled([one["paper"] for one in every])
        both[quantity] = {"paper": paper, "ours": ours(metric), "least": least, "most": most}
    found = fits(folder)
    return {
        "cells": of,
        "traffics": TRAFFIC,
        "ratio": ratio,
        "range_of": _range,
        "mean": fmean,
        "charts": drawn,
        "longest": max(drawn, key=lambda one: (one["quantity"] == "time", one["paper"].value)),
        "all": both,
        "with_error": ours(RESENT, VERSIONS["no-error"]),
        "claimed": claimed,
        "fits": found,
        "same": all(
            found["Solution"]["cubic"][name] == found["Logs"]["cubic"][name] for name in COEFFICIENTS
        ),
        "megabytes": _megabytes(runs),
        "limit": f"{runs[0].parameters['duration_s']:g}",
        "seeds": len({run.seed for run in runs}),
        "sanity": _sanity(folder),
        "rtos": list(_rtos()),
        "verdicts": sorted(Counter(one["verdict"] for one in drawn).items()),
    }
