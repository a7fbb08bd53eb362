# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes docs/ablation.md, which shows how much each part of three estimators contributes to their accuracy:
`tracking` and `experts` predict the RTT; `conformal` sets an RTO that a chosen share of RTTs exceeds.
  python bench/ablation.py           writes docs/ablation.md from generated RTT series, in a minute or two
  python bench/ablation.py PATH ...  prints the tables for recorded traces (files, or folders of files)"""

import functools
import itertools
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests"))

from ablation_variants import EXPERTS, FIRST, TIMERS, TRACKING, Params  # noqa: E402

from families import FAMILIES, Rtts, family, flow_of, stepped  # noqa: E402
from tcplearn import _native  # noqa: E402
from tcplearn.output.template import filled  # noqa: E402
from tcplearn.traces import TraceError, open_trace  # noqa: E402

Series = Mapping[str, Rtts]
SEEDS = range(6)
ROWS = 2000
FLIGHT_ROWS = 20_000  # 400 flights of fifty packets
STEPS = 300  # series with an RTT step, for each noise distribution and direction of the step
EXPECTED = 20  # the share of RTTs above the RTO is judged only on series with at least this expected number


def run(name: str, y: Rtts, params: Params) -> tuple[np.ndarray, np.ndarray]:
    """Return the RTTs predicted and the RTOs set by the estimator `name` with the parameters `params`, in us,
    before each RTT of the series `y` but the first."""
    now = np.cumsum(y)
    rtt, rto = _native.Estimator(name, "double", params).run(y, now, now - y)
    return rtt[1:], rto[1:]


def replayed(flow: Any, names: Iterable[str], params: Params) -> list[dict[str, float]]:
    """Return the metrics of the estimators `names` over `flow`. All but `jacobson` have the parameters
    `params`."""
    engine = _native.ReplayEngine([(n, "double", {} if n == "jacobson" else params) for n in names])
    engine.feed(flow)
    found = engine.finish(0)
    assert found is not None
    return found.metrics()


def flows(rows: int, window: int) -> Iterator[Any]:
    """Yield flows of `rows` packets, `window` per round trip, whose RTTs are generated series."""
    for name, seed in itertools.product(FAMILIES, range(3)):
        yield flow_of(family(name, seed, rows), window)


def loss(y: Rtts, name: str, params: Params) -> float:
    return float(np.abs(run(name, y, params)[0] - y[1:]).sum())


def excess(rto: np.ndarray, rtt: np.ndarray) -> float:
    """Return the mean of `rto` - `rtt`, with 0 where it is negative."""
    return float(np.maximum(rto - rtt, 0).mean())


def mean(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


class Predicted:
    """Computes the ratio of an estimator's prediction error to the smaller of the errors of `jacobson` (RFC
    6298) and `last` (the last RTT). Estimators run over whole series, or start anew every 50 or 100
    samples."""

    def __init__(self, series: Series) -> None:
        cut = {
            n: [np.split(y[: len(y) // n * n], len(y) // n) for y in series.values() if len(y) >= n]
            for n in (50, 100)
        }
        self._parts = {0: [[y] for y in series.values()], **cut}

    @functools.cache  # noqa: B019 # lives as long as the program
    def _best(self, rows: int) -> list[float]:
        return [
            min(sum(loss(p, name, {}) for p in parts) for name in ("jacobson", "last"))
            for parts in self._parts[rows]
        ]

    def row(self, name: str, params: Params) -> Iterator[str]:
        for rows, several in self._parts.items():
            pairs = zip(several, self._best(rows), strict=True)
            ratios = [sum(loss(p, name, params) for p in parts) / best for parts, best in pairs if best > 0]
            yield from (f"{mean(ratios):.3f}", f"{max(ratios):.3f}") if ratios else ("", "")


def by_family(name: str) -> Iterator[str]:
    """Yield four table cells for the generated series of family `name`: the relative prediction errors of
    `tracking` and of `tracking/first`, and the relative excess waits of `conformal` and `conformal/first`."""
    series = {str(seed): family(name, seed, ROWS) for seed in SEEDS}
    for form in ("tracking", "tracking/first"):
        yield next(Predicted(series).row(form, {}))
    for form in ("conformal", FIRST):
        yield list(timed(series, form, {}))[2]


def timed(series: Series, name: str, params: Params) -> Iterator[str]:
    """Yield the first five cells of the timer `name` in the table "Timer". The page's template,
    ablation.md.j2, says what each column is."""
    rates, waits, achieved, again = [], [], [], np.zeros(2)
    for y in series.values():
        n = len(y) - 1
        if n >= EXPECTED / 0.01 - 1:
            rates.append(float((y[1:] > run(name, y, {**params, "miss": 0.01})[1]).mean()) / 0.01)
        rfc = run("jacobson", y, {})[1]
        rate = float((y[1:] > rfc).mean())
        if rate * n >= EXPECTED and rate <= 0.5:
            rto = run(name, y, {**params, "miss": rate})[1]
            waits.append(excess(rto, y[1:]) / excess(rfc, y[1:]))
            missed = y[1:] > rto
            achieved.append(float(missed.mean()) / rate)
            again += ((missed[1:] & missed[:-1]).sum(), missed[:-1].sum())
    yield f"{min(rates):.2f}–{max(rates):.2f}" if rates else ""
    yield f"{sum(0.7 <= v <= 1.3 for v in rates)} of {len(rates)}"
    yield f"{mean(waits):.3f}" if waits else ""
    yield f"{np.mean(achieved):.2f}" if achieved else ""
    yield f"{100 * again[0] / again[1]:.1f}" if again[1] else ""


@functools.cache
def stepped_series(factor: float) -> list[Rtts]:
    return [
        stepped(s, factor, noise) for noise, s in itertools.product(("gaussian", "lognormal"), range(STEPS))
    ]


def after_steps(name: str, params: Params, factor: float) -> tuple[float, float]:
    """Return two means over series, for the timer `name` in samples 51 to 150 after a step of the RTT by
    `factor`: the share of RTTs above the RTO, divided by the target of 1 %, and the excess wait in us (RTO
    minus RTT where positive)."""
    out = np.zeros(2)
    for y in stepped_series(factor):
        rto, now = run(name, y, {**params, "rto_min_us": 1})[1][1049:1149], y[1050:1150]
        out += (now > rto).mean() / 0.01, excess(rto, now)
    return float(out[0]) / 2 / STEPS, float(out[1]) / 2 / STEPS


def timer(series: Series, name: str, params: Params, first_us: Mapping[float, float]) -> Iterator[str]:
    """Yield the table cells of the timer `name`. `first_us` has, for factors of an RTT step, the excess wait
    of `conformal/first` after it."""
    yield from timed(series, name, params)
    for factor, wait_us in first_us.items():
        rate, own_us = after_steps(name, params, factor)
        yield from (f"{rate:.2f}", f"{own_us / wait_us:.2f}")


def rows_of_steps(factor: int, period: int) -> Iterator[str]:
    r, t = np.random.default_rng([factor, period]), np.arange(100 * period)
    y = 20_000 * (1 + 0.05 * np.abs(r.standard_normal(len(t)))) * np.where(t // period % 2, factor, 1)
    whole = np.round(y).astype(np.int64)
    window = (t % period >= 50) & (t % period < 150) & (t > period)
    up = t // period % 2 == 1
    for name in ("conformal", FIRST):
        rto = run(name, whole, {})[1]
        missed = (whole[1:] > rto) / 0.01
        yield from (f"{missed[k[1:]].mean():.2f}" for k in (t > 0, window & up, window & ~up))
        yield f"{excess(rto, whole[1:]) / 1000:.1f}"


def timeouts(miss: float, window: int) -> Iterator[str]:
    """Yield the cells of the table "Misses and timeouts", which the template describes, for the chosen miss
    rate `miss` and flows of `window` packets per round trip."""
    out, kept = [], []
    for flow in flows(FLIGHT_ROWS, window):
        ours, sends, rfc = replayed(flow, ("conformal", "conformal/at-send", "jacobson"), {"miss": miss})
        rto = _native.Estimator("conformal", "double", {"miss": miss}).run(
            flow["rtt_us"], flow["time_us"], flow["sent_us"]
        )[1]
        n = len(flow["rtt_us"]) - 1
        counts = [m[k] for m in (ours, sends, rfc) for k in ("misses", "spurious_timeouts")]
        out.append([100 * v / n for v in (int((flow["rtt_us"] > rto)[1:].sum()), *counts)])
        kept.append(0.7 <= sends["misses"] / n / miss <= 1.3)
    mean_of = [f"{v:.2f}" for v in np.mean(out, axis=0)]
    yield from (*mean_of[:5], f"{sum(kept)} of {len(kept)}", *mean_of[5:])


def short_flows(rows: int, window: int) -> Iterator[str]:
    """Yield four table cells for `conformal/at-send` in flows of `rows` packets, `window` per round trip: the
    share of RTTs above the RTO divided by the target of 1 %, as a mean over the flows; and the numbers of
    flows in which this quotient is at most 0.7, from 0.7 to 1.3, and at least 1.3."""
    found = (replayed(flow, ["conformal/at-send"], {})[0] for flow in flows(rows, window))
    rates = [metrics["misses"] / (rows - 1) / 0.01 for metrics in found]
    yield f"{np.mean(rates):.2f}"
    yield from (str(sum(low <= r <= high for r in rates)) for low, high in ((0, 0.7), (0.7, 1.3), (1.3, 100)))


def at_send(window: int) -> Iterator[str]:
    """Yield the mean and the largest relative prediction error of `tracking`, then of `tracking/first`, at
    the time of sending, in flows with `window` packets per round trip."""
    out = []
    for flow in flows(ROWS, window):
        found = replayed(flow, ("tracking", "tracking/first", "jacobson", "last"), {})
        errors = [m["at_send_error_us"] for m in found]
        out.append([e / min(errors[2:]) for e in errors[:2]])
    for ratios in zip(*out, strict=True):
        yield from (f"{mean(ratios):.3f}", f"{max(ratios):.3f}")


def disturbed(most: int, low: float, high: float) -> Iterator[str]:
    """Yield the cells of the first table of "Bursts, outages, heavy tails", which the template describes, for
    bursts in which up to `most` RTTs are multiplied by a factor from `low` to `high`."""
    out = []
    for seed in range(200):
        r = np.random.default_rng([seed, most])
        y, n = 50_000 * (1 + 0.05 * np.abs(r.standard_normal(4000))), int(r.integers(1, most + 1))
        y[2000 : 2000 + n] *= r.uniform(low, high)
        whole = np.round(y).astype(np.int64)
        rtos = [run(name, whole, {})[1] for name in ("conformal", "jacobson")]
        near, far = slice(2000 + n + 8, 2000 + n + 50), slice(2000 + n + 200, 2000 + n + 300)
        before = [np.median(rto[1500:1990]) for rto in rtos]
        after = [np.median(rto[near]) / b for rto, b in zip(rtos, before, strict=True)]
        missed = whole[1:] > rtos[0]
        rate = missed[2000 + n :].mean() / 0.01
        out.append([*after, np.median(rtos[0][far]) / before[0], rate])
    yield from (f"{v:.2f}" for v in np.mean(out, axis=0))


def heavy(tail: float) -> Iterator[str]:
    r = np.random.default_rng([5, int(10 * tail)])
    y = np.round(50_000 * (1 + 0.1 * r.pareto(tail, 100_000))).astype(np.int64)
    ours, rfc = (run(name, y, {})[1] for name in ("conformal", "jacobson"))
    yield from (f"{100 * (y[1:] > rto).mean():.2f}" for rto in (ours, rfc))
    yield f"{excess(ours, y[1:]) / excess(rfc, y[1:]):.2f}"


def page(series: Series, **more: Any) -> str:
    """Return the page with the tables for `series` and, if `more` has `generated`, for generated ones."""
    predicted = Predicted(series)
    tracking, experts = (
        [[row, *predicted.row(name, params)] for row, name, params in variants]
        for variants in (TRACKING, EXPERTS)
    )
    first_us = {f: after_steps(FIRST, {}, f)[1] for f in (10, 0.1)} if more else {}
    timers = [[row, *timer(series, name, params, first_us)] for row, name, params in TIMERS]
    found = {"tracking": tracking, "experts": experts, "timers": timers, "generated": False, **more}
    template = Path(__file__).with_name("ablation.md.j2")
    return filled(template, series=len(series), expected=EXPECTED, **found)


def generated() -> str:
    windows, flights = (1, 2, 5, 10, 50), (2000, 5000, FLIGHT_ROWS)
    series = {f"{name}/{seed}": family(name, seed, ROWS) for name in FAMILIES for seed in SEEDS}
    return page(
        series,
        generated=True,
        families=len(FAMILIES),
        seeds=SEEDS,
        rows=ROWS,
        changes=2 * STEPS,
        flight_rows=f"{FLIGHT_ROWS:,}",
        by_family=[[name, *by_family(name)] for name in FAMILIES],
        at_send=[[str(w), *at_send(w)] for w in (1, 2, 10)],
        rows_of_steps=[
            [f"{f} times", f"{p} samples", *rows_of_steps(f, p)] for f in (2, 10) for p in (300, 1000, 3000)
        ],
        timeouts=[[f"{m:.1%}", str(w), *timeouts(m, w)] for m in (0.01, 0.001) for w in windows],
        short_flows=[[f"{n:,}", str(w), *short_flows(n, w)] for n in flights for w in (2, 10, 50)],
        bursts=[
            ["1 to 20 samples, 5 to 50 times", *disturbed(20, 5, 50)],
            ["outage: 1 to 30 samples, 2,000 times", *disturbed(30, 2000, 2000)],
        ],
        heavy_tails=[[str(t), *heavy(t)] for t in (1.5, 2.0, 3.0)],
    )


def recorded(paths: Iterable[Path]) -> Series:
    """Return the RTTs in us of each flow with at least 250 of them, in the trace files `paths` or the files
    of the folders `paths`. The keys are "file:flow", with the file's path and the flow's number."""
    out = {}
    for path in paths:
        for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
            parts: dict[int, list[Rtts]] = {}
            try:
                for batch in open_trace(file).batches():
                    sampled = batch["rtt_us"] >= 0
                    for flow in np.unique(batch["flow"][sampled]).tolist():
                        parts.setdefault(flow, []).append(batch["rtt_us"][sampled & (batch["flow"] == flow)])
            except TraceError as e:
                print(f"{file}: {e}", file=sys.stderr)
            out |= {f"{file}:{flow}": np.concatenate(rtts) for flow, rtts in parts.items()}
    return {name: y for name, y in out.items() if len(y) >= 250}


def main() -> int:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    paths: list[Path] = parser.parse_args().paths
    if not paths:
        (ROOT / "docs" / "ablation.md").write_text(generated())
        return 0
    series = recorded(paths)
    if not series:
        print("ablation: no series of 250 samples there", file=sys.stderr)
        return 1
    print(page(series))
    return 0


if __name__ == "__main__":
    sys.exit(main())
