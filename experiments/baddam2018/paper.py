# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares our results with everything that the paper baddam2018 prints. For its charts of downloads, the
module lists the runs in ns-3 of downloads that take about as long as the paper's."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.baddam2018.grid import VERSIONS
from experiments.baddam2018.published import CHANGED, ORIGINAL, Chart, bursts, charts, fits
from experiments.lib.batches import Batch, Figures, SimulatedRuns
from experiments.lib.runs import Run
from experiments.lib.statistics import Estimate, student_mean, student_ratio
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import t_quantile

CONFIDENCE = 0.95
TIME, RESENT, TIMEOUTS, SPURIOUS = "download_s", "retransmitted_packets", "timeouts", "spurious_timeouts"
COEFFICIENTS = ("b0", "hops", "min", "max", "ttl")
#: By the quantity of a chart of the paper: our metric that is compared with it, and the chart's title in the
#: paper.
CHARTS = {"time": (TIME, "Time Taken Analysis"), "resent": (RESENT, "No. of Retransmitted packets")}
TRAFFIC = {
    "none": "without traffic",
    "high": "high traffic",
    "low": "low traffic",
    "predicted": "RTT as predicted",
}
STOCK, AS_WRITTEN, AS_RUN = "stock", "as written", "as the kernels ran"
NAMES = {**VERSIONS, "kernel": AS_RUN, "linux": STOCK}
HEAD = (
    "kernel", "traffic", "version", "download, s", "to stock's", "finished", "resent packets", "to stock's",
    "timeouts", "spurious timeouts",
)  # fmt: skip
Cells = dict[tuple[str, str, str], dict[int, Mapping[str, float]]]


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


def version_of(algorithm: str) -> str:
    return NAMES[next((end for end in NAMES if end and algorithm.endswith(end)), "")]


def cells(runs: Sequence[Run]) -> Cells:
    """Returns the metrics of each run by its seed, grouped by kernel, traffic and version of the RTT
    estimator."""
    found: Cells = {}
    for run in runs:
        kernel, traffic = str(run.labels["variant"]).split("-")
        found.setdefault((kernel, traffic, version_of(run.algorithm)), {})[run.seed] = run.metrics
    return found


def ratio(of: Cells, kernel: str, traffic: str, version: str, metric: str, base: str = STOCK) -> Estimate:
    """Returns the geometric mean, over seeds, of the ratio of `metric` under the estimator's version
    `version` to `metric` under the version `base`."""
    sides: list[dict[Hashable, float]] = [
        {seed: m[metric] for seed, m in of.get((kernel, traffic, name), {}).items()}
        for name in (version, base)
    ]
    above, below = sides
    return student_ratio(above, below, CONFIDENCE) if above else Estimate()


def unpaired_ratio(above: Sequence[float], below: Sequence[float]) -> Estimate:
    """Returns the geometric mean of `above` divided by that of `below`, with a 95 % interval by Student's t.
    The degrees of freedom are one less than the number of values in the shorter of both; Welch's formula
    gives at least as many."""
    tops, bottoms = ([math.log(value) for value in values] for values in (above, below))
    middle = statistics.fmean(tops) - statistics.fmean(bottoms)
    error = math.sqrt(sum(statistics.variance(logs) / len(logs) for logs in (tops, bottoms)))
    half = t_quantile((1 + CONFIDENCE) / 2, min(len(tops), len(bottoms)) - 1) * error
    return Estimate(*(math.exp(middle + by) for by in (0, -half, half)))


def pooled(found: Sequence[Estimate]) -> Estimate:
    """Returns the geometric mean of the ratios `found` that are above 0, with Student's 95 % interval over
    them."""
    of = student_mean([math.log(one.value) for one in found if one.value > 0], CONFIDENCE)
    return Estimate(*(math.exp(value) for value in (of.value, of.low, of.high)))


def _side(of: Estimate) -> int:
    """Returns 1 if the whole interval is above 1, -1 if it is below 1, and 0 if it contains 1."""
    return (of.low > 1) - (of.high < 1)


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
    found = _side(ours)
    return "reproduced" if found == side else "not reproduced" if found == -side else "cannot be told"


def _range(values: Sequence[float]) -> str:
    """Returns, as text, the mean of the values, and in brackets the smallest and the largest value."""
    if not values:
        return "–"
    mean, least, most = (f"{value:,.1f}" for value in (statistics.fmean(values), min(values), max(values)))
    return f"{mean} ({least} to {most})"


def _rows(of: Cells) -> list[list[str]]:
    rows = []
    for (kernel, traffic, version), runs in of.items():
        values = {name: [m[name] for m in runs.values()] for name in next(iter(runs.values()))}
        ratios = [
            str(ratio(of, kernel, traffic, version, name)) if version != STOCK else ""
            for name in (TIME, RESENT)
        ]
        finished = f"{sum(values['finished']):.0f} of {len(runs)}"
        counts = [f"{statistics.fmean(values[name]):,.1f}" for name in (TIMEOUTS, SPURIOUS)]
        row = [kernel, TRAFFIC[traffic], version, _range(values[TIME]), ratios[0], finished]
        rows.append([*row, _range(values[RESENT]), ratios[1], *counts])
    return rows


def _chart(chart: Chart, of: Cells) -> dict[str, Any]:
    metric, title = CHARTS[chart.quantity]
    paper = unpaired_ratio(chart.values[CHANGED], chart.values[ORIGINAL])
    at = chart.kernel, chart.traffic
    ours = ratio(of, *at, AS_WRITTEN, metric)
    stock = [m[metric] for m in of.get((*at, STOCK), {}).values()]
    return {
        "title": f"TCP {chart.kernel.capitalize()} - {title} {TRAFFIC[chart.traffic]}",
        "quantity": chart.quantity,
        "values": {
            name: ", ".join(f"{value:g}" for value in values) for name, values in chart.values.items()
        },
        "paper": paper,
        "stock": _range(stock),
        "ours": ours,
        "as_run": ratio(of, *at, AS_RUN, metric),
        "verdict": verdict(paper, ours),
    }


def _sanity(folder: Path) -> dict[str, list[tuple[float, str]]]:
    """Returns, for each kernel, pairs of a difference and a site: by how many ms the site's mean RTTs under
    the changed and the original kernel differ. The largest difference comes first."""
    means = {(b.kernel, b.site, b.version): b.mean for b in bursts(folder)}
    out: dict[str, list[tuple[float, str]]] = {}
    for kernel, site, version in means:
        if version == CHANGED:
            by = means[kernel, site, CHANGED] - means[kernel, site, ORIGINAL]
            out.setdefault(kernel, []).append((abs(by), site))
    return {kernel: sorted(found, reverse=True) for kernel, found in out.items()}


def _first_rtos(samples: int) -> float:
    """Returns the RTO of `jacobson` (RFC 6298) divided by the RTT, after `samples` samples of 100 ms each."""
    from tcplearn import _native

    estimator = _native.Estimator("jacobson", "double")
    for k in range(samples):
        estimator.update(100_000, 100_000 * (k + 1), 0)
    return float(estimator.rto_us / 100_000)


def _megabytes(runs: Sequence[Run]) -> str:
    """Returns the sizes of the downloads in MB by kernel, as text."""
    sizes = {}
    for run in runs:
        load, tcp = run.parameters["load"], run.parameters["tcp"]
        sizes[run.labels["variant"].partition("-")[0]] = load["packets"][0] * tcp["segment_bytes"]
    return ", ".join(f"{1e-6 * size:.0f} MB ({kernel})" for kernel, size in sizes.items())


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    of = cells(runs)
    if not of:
        return {}
    drawn = [_chart(chart, of) for chart in charts(folder)]
    at = [(kernel, traffic) for kernel, traffic, version in of if version == STOCK and traffic != "predicted"]
    both: dict[str, dict[str, Any]] = {}
    for quantity, (metric, _) in CHARTS.items():
        paper = pooled([one["paper"] for one in drawn if one["quantity"] == quantity])
        ours = pooled([ratio(of, *one, AS_WRITTEN, metric) for one in at])
        both[quantity] = {"paper": paper, "ours": ours}
    with_error = pooled([ratio(of, *one, AS_WRITTEN, RESENT, VERSIONS["no-error"]) for one in at])
    found = fits(folder)
    of_cubic = [[found[where]["cubic"][name] for name in COEFFICIENTS] for where in ("Solution", "Logs")]
    every: dict[str, list[float]] = {name: [] for name in CHARTS}
    for one in charts(folder):
        every[one.quantity] += [*one.values[ORIGINAL], *one.values[CHANGED]]
    return {
        "cells": table_of(HEAD, _rows(of), [True, True, True, *[False] * 7]),
        "charts": drawn,
        "longest": max(drawn, key=lambda one: (one["quantity"] == "time", one["paper"].value)),
        "all": both,
        "with_error": with_error,
        "error_verdict": claimed(with_error, -1),
        "more": claimed(both["resent"]["ours"], 1),
        "better": claimed(both["time"]["ours"], -1),
        "fits": found,
        "same": of_cubic[0] == of_cubic[1],
        "least": {name: f"{min(values):g}" for name, values in every.items()},
        "most": {name: f"{max(values):g}" for name, values in every.items()},
        "megabytes": _megabytes(runs),
        "limit": f"{runs[0].parameters['duration_s']:g}",
        "seeds": len({run.seed for run in runs}),
        "sanity": _sanity(folder),
        "rto": [_first_rtos(1), _first_rtos(100)],
        "verdicts": {
            name: sum(one["verdict"] == name for one in drawn)
            for name in sorted({c["verdict"] for c in drawn})
        },
    }
