# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes docs/ablation.md, which shows how much each part of three estimators contributes to their accuracy:
`tracking` and `experts` predict the RTT; `conformal` sets an RTO that a chosen share of RTTs exceeds.
  python bench/ablation.py           writes docs/ablation.md from generated RTT series, in a minute or two
  python bench/ablation.py PATH ...  prints the tables for recorded traces (files, or folders of files)"""

import argparse
import functools
import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests"))

from ablation_bursts import disturbed, heavy, run  # noqa: E402
from ablation_variants import EXPERTS, FIRST, TIMERS, TRACKING, Params  # noqa: E402
from trace_series import Series, read  # noqa: E402

from families import FAMILIES, Rtts, family, flow_of, stepped  # noqa: E402
from tcplearn import _native  # noqa: E402

SEEDS = range(6)
ROWS = 2000
FLIGHT_ROWS = 20_000  # 400 flights of fifty packets
STEPS = 300  # series with an RTT step, for each noise distribution and direction of the step
EXPECTED = 20  # the share of RTTs above the RTO is judged only on series with at least this expected number


def loss(y: Rtts, name: str, params: Params) -> float:
    return float(np.abs(run(name, y, params)[0] - y[1:]).sum())


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
    """Yield four table cells for the generated series of family `name`. Two are the prediction errors of
    `tracking` and of `tracking/first`, divided by the smaller of those of `jacobson` (RFC 6298) and `last`
    (the last RTT). Two are the excess waits (RTO - RTT where positive) of `conformal` and of
    `conformal/first`, divided by that of `jacobson`."""
    series = {str(seed): family(name, seed, ROWS) for seed in SEEDS}
    for form in ("tracking", "tracking/first"):
        yield next(Predicted(series).row(form, {}))
    for form in ("conformal", FIRST):
        yield list(timed(series, form, {}))[2]


def timed(series: Series, name: str, params: Params) -> Iterator[str]:
    rates, waits, achieved, again = [], [], [], np.zeros(2)
    for y in series.values():
        n = len(y) - 1
        if n >= EXPECTED / 0.01 - 1:
            rates.append(float((y[1:] > run(name, y, {**params, "miss": 0.01})[1]).mean()) / 0.01)
        rfc = run("jacobson", y, {})[1]
        rate = float((y[1:] > rfc).mean())
        if rate * n >= EXPECTED and rate <= 0.5:
            rto = run(name, y, {**params, "miss": rate})[1]
            waits.append(np.maximum(rto - y[1:], 0).mean() / np.maximum(rfc - y[1:], 0).mean())
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
        out += (now > rto).mean() / 0.01, np.maximum(rto - now, 0).mean()
    return float(out[0]) / 2 / STEPS, float(out[1]) / 2 / STEPS


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
        yield f"{np.maximum(rto - whole[1:], 0).mean() / 1000:.1f}"


def timeouts(miss: float, window: int) -> Iterator[str]:
    """Yield table cells: RTTs above the RTO and spurious timeouts of `conformal`, `conformal/at-send` and
    `jacobson`, in % of samples, for flows of `window` packets per round trip. `miss` is the share of RTTs
    that are to be above the RTO of `conformal`. One cell says in how many flows `conformal/at-send` has 0.7
    to 1.3 times this share."""
    names = ("conformal", "conformal/at-send", "jacobson")
    out, kept = [], []
    for family_name, seed in itertools.product(FAMILIES, range(3)):
        flow = flow_of(family(family_name, seed, FLIGHT_ROWS), window)
        engine = _native.ReplayEngine(
            [(n, "double", {} if n == "jacobson" else {"miss": miss}) for n in names]
        )
        engine.feed(flow)
        found = engine.finish(0)
        assert found is not None
        ours, sends, rfc = found.metrics()
        rto = _native.Estimator("conformal", "double", {"miss": miss}).run(
            flow["rtt_us"], flow["time_us"], flow["sent_us"]
        )[1]
        n = len(flow["rtt_us"]) - 1
        counts = [int((flow["rtt_us"] > rto)[1:].sum())]
        counts += [m[k] for m in (ours, sends) for k in ("misses", "spurious_timeouts")]
        out.append([100 * v / n for v in (*counts, rfc["misses"], rfc["spurious_timeouts"])])
        kept.append(0.7 <= sends["misses"] / n / miss <= 1.3)
    mean_of = [f"{v:.2f}" for v in np.mean(out, axis=0)]
    yield from (*mean_of[:5], f"{sum(kept)} of {len(kept)}", *mean_of[5:])


def short_flows(rows: int, window: int) -> Iterator[str]:
    """Yield the mean share of RTTs above the RTO of `conformal/at-send`, divided by the target of 1 %, in
    flows of `rows` packets, `window` per round trip. Then yield the numbers of flows in which this share is
    below 0.7 %, from 0.7 to 1.3 %, and above 1.3 %."""
    rates = []
    for name, seed in itertools.product(FAMILIES, range(3)):
        engine = _native.ReplayEngine([("conformal/at-send", "double", {})])
        engine.feed(flow_of(family(name, seed, rows), window))
        found = engine.finish(0)
        assert found is not None
        rates.append(found.metrics()[0]["misses"] / (rows - 1) / 0.01)
    yield f"{np.mean(rates):.2f}"
    yield from (str(sum(low <= r <= high for r in rates)) for low, high in ((0, 0.7), (0.7, 1.3), (1.3, 100)))


def at_send(window: int) -> Iterator[str]:
    """Yield the mean and the largest prediction error of `tracking`, then of `tracking/first`, in flows with
    `window` packets per round trip. Errors are divided by the smaller of those of `jacobson` (RFC 6298) and
    `last` (the last RTT). Each RTT is compared with the prediction in force when its packet was sent."""
    names = ("tracking", "tracking/first", "jacobson", "last")
    out = []
    for name, seed in itertools.product(FAMILIES, range(3)):
        engine = _native.ReplayEngine([(e, "double", {}) for e in names])
        engine.feed(flow_of(family(name, seed, ROWS), window))
        found = engine.finish(0)
        assert found is not None
        errors = [m["at_send_error_us"] for m in found.metrics()]
        out.append([e / min(errors[2:]) for e in errors[:2]])
    for ratios in zip(*out, strict=True):
        yield from (f"{mean(ratios):.3f}", f"{max(ratios):.3f}")


def table(head: str, rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; `head` has the column headings, separated by |."""
    columns = head.split("|")
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def tables(series: Series, steps: bool) -> str:
    predicted = Predicted(series)
    head = "|full: mean|worst|50: mean|worst|100: mean|worst"
    predictions, experts = (
        table(head, ([row, *predicted.row(name, params)] for row, name, params in variants))
        for variants in (TRACKING, EXPERTS)
    )
    head = "|miss rate / 1 %|within 0.7–1.3|wait / jacobson's|misses / jacobson's|missed again, %"
    head += "|10 times up|wait|10 times down|wait" if steps else ""
    first = {f: after_steps(FIRST, {}, f)[1] for f in (10, 0.1)} if steps else {}

    def timer(row: str, name: str, params: Params) -> list[str]:
        after = []
        for factor in first:
            rate, wait = after_steps(name, params, factor)
            after += [f"{rate:.2f}", f"{wait / first[factor]:.2f}"]
        return [row, *timed(series, name, params), *after]

    what = (
        f"\n- The last four columns are for samples 51 to 150 after the RTT became ten times or a tenth as "
        f"long, with {2 * STEPS}\n  such changes in each direction and a chosen miss rate of 1 %: the miss "
        f"rate divided by 1 %, and the excess wait\n  divided by that of `{FIRST}`, the first released form."
        if steps
        else ""
    )
    return f"""## Prediction

The table has the prediction error of `tracking` and of its variants, divided by that of the better of
`jacobson` (RFC 6298) and `last` (the last RTT) on the same samples. Columns "mean" have the geometric mean
of this ratio over {len(series)} series, and columns "worst" its largest value. For "full" the estimator runs
over the whole series; for "50" and "100" it starts anew every 50 or 100 samples.

{predictions}

## Experts

The estimator `experts` predicts the weighted mean of fixed RTTs (experts); `experts/fitted` fits these RTTs
to the first RTT of the path. The table has the prediction errors of `experts/fitted` and of its variants,
divided by those of the better of `jacobson` (RFC 6298) and `last` (the last RTT). The variants have another
loss function in step 2 of the algorithm of Nunes et al. 2014, or another rule in step 4, by which the
experts share weight ([experts](algorithms/experts.md)). For "full" the estimator runs over the whole series;
for "50" and "100" it starts anew every 50 or 100 samples.

{experts}

## Timer

The table is for `conformal` and its variants. A miss is an RTT above the RTO. The excess wait is the mean of
RTO − RTT, with 0 for a miss.
- The first two columns are for a chosen miss rate of 1 %, on the series with {EXPECTED} or more expected
  misses. The first has the lowest and the highest miss rate of a series, divided by 1 %. The second has the
  number of series on which this ratio is from 0.7 to 1.3.
- The next three columns are for a chosen miss rate that is the miss rate of `jacobson` on the same series.
  They have the excess wait and the miss rate, both divided by those of `jacobson`, and the share of misses
  after which the next sample is a miss too.{what}

{table(head, (timer(*v) for v in TIMERS))}
"""


def generated() -> str:
    series = {f"{name}/{seed}": family(name, seed, ROWS) for name in FAMILIES for seed in SEEDS}
    periods = itertools.product((2, 10), (300, 1000, 3000))
    rows = table(
        "step|each level|all|after up|after down|wait, ms|first form: all|after up|after down|wait, ms",
        ([f"{f} times", f"{p} samples", *rows_of_steps(f, p)] for f, p in periods),
    )
    families = table(
        "|`tracking`|`tracking/first`|`conformal`|`conformal/first`",
        ([name, *by_family(name)] for name in FAMILIES),
    )
    windows = itertools.product((0.01, 0.001), (1, 2, 5, 10, 50))
    waits = table(
        "chosen|packets a round trip|before|at send|timeouts|`at-send`: at send|timeouts|within 0.7–1.3|"
        "`jacobson`: at send|timeouts",
        ([f"{m:.1%}", str(w), *timeouts(m, w)] for m, w in windows),
    )
    short = table(
        "packets|packets a round trip|misses / 1 %|below 0.7|0.7–1.3|above 1.3",
        (
            [f"{n:,}", str(w), *short_flows(n, w)]
            for n, w in itertools.product((2000, 5000, FLIGHT_ROWS), (2, 10, 50))
        ),
    )
    sends = table(
        "packets a round trip|`tracking`: mean|worst|`tracking/first`: mean|worst",
        ([str(w), *at_send(w)] for w in (1, 2, 10)),
    )
    disturbances = table(
        "burst|RTO 8–50 samples later|jacobson's|RTO 200–300 later|miss rate after / 1 %",
        (
            ["1 to 20 samples, 5 to 50 times", *disturbed(20, 5, 50)],
            ["outage: 1 to 30 samples, 2,000 times", *disturbed(30, 2000, 2000)],
        ),
    )
    tails = table(
        "exponent|misses, %|jacobson's|wait / jacobson's", ([str(t), *heavy(t)] for t in (1.5, 2.0, 3.0))
    )
    return f"""# What each part contributes

This page is written by `python bench/ablation.py`. It shows what each part of the estimators `tracking`
(predicts the RTT) and `conformal` (sets an RTO with a chosen rate of misses; a miss is an RTT above the
RTO) contributes to accuracy. The data are {len(FAMILIES)} generated families of RTT series
(`python/tests/families.py`), with seeds {SEEDS[0]} to {SEEDS[-1]} and {ROWS} samples each. They were built
to be hard, and the choice of families is ours: compare rows with each other, not with other results. `python
bench/ablation.py FOLDER` prints the same tables for any folder of traces.

{tables(series, steps=True)}
## By family

The table compares `tracking` and `conformal` with their first released forms, `tracking/first` and
`conformal/first`, on each family of series. For the two forms of `tracking` it has the prediction error,
divided by that of the better of `jacobson` (RFC 6298) and `last` (the last RTT). For the two forms of
`conformal` it has the excess wait (mean of RTO − RTT, with 0 for an RTT above the RTO), divided by that of
`jacobson`; their chosen miss rate is the one that `jacobson` has. Only series on which `jacobson` misses 20
samples or more count for the wait, so some cells are empty.

{families}

## Prediction at the time of sending

The table has the prediction errors of `tracking` and `tracking/first`, divided by those of the better of
`jacobson` (RFC 6298) and `last` (the last RTT), in flows with the given number of packets per round trip.
Each RTT is compared with the prediction at the time when its packet was sent. The flows have the RTTs of
generated series with seeds 0 to 2 (`python/tests/families.py`). With ten packets per round trip the noise of
these series cannot be predicted, and an average is the best prediction.

{sends}

## Rows of steps

The table compares `conformal` with its first released form, `conformal/first`, for a chosen miss rate of
1 %. Each row is for one generated series with 100 levels of the RTT, alternately 20 ms and 2 or 10 times as
much, with some noise; a level lasts for the given number of samples. For each form the table has the miss
rate divided by 1 %, over all samples, over samples 51 to 150 after a step up, and over samples 51 to 150
after a step down. "Wait" is the mean of RTO − RTT, with 0 for an RTT above the RTO.

{rows}

## Misses and timeouts

The table is for flows that always have data to send, with the given number of packets per round trip. Their
RTTs are generated series (`python/tests/families.py`) with seeds 0 to 2, of {FLIGHT_ROWS:,} packets each. The
path does not reorder packets.
- *Chosen*: the chosen miss rate of `conformal` and `conformal/at-send`.
- *Before*: the share of samples above the RTO in force just before the sample, in %. `conformal` keeps this
  share at the chosen rate.
- *At send*: the share of samples above the RTO in force when the segment was sent, in %. `conformal/at-send`
  keeps this share at the chosen rate.
- *Timeouts*: the spurious timeouts of a timer that each ACK restarts, in % of samples.
- *Within 0.7–1.3*: the number of series on which the "at send" share of `conformal/at-send` is 0.7 to 1.3
  times the chosen rate.

{waits}

The next table is for `conformal/at-send` with a chosen miss rate of 1 % in flows of 2,000 to {FLIGHT_ROWS:,}
packets. It has the mean share of samples above the RTO in force when the segment was sent, divided by 1 %.
The last three columns have the numbers of series, of 57, on which this ratio is below 0.7, from 0.7 to 1.3,
and above 1.3. The estimator learns once in a flight; 2,000 packets, fifty in a round trip, are only 40
flights.

{short}

## Bursts, outages, heavy tails

The table is for a path of 50 ms with 5 % of noise, on which some RTTs in a row are the given number of times
longer (a burst). It has means over 200 series: the RTO of `conformal` and that of `jacobson` 8 to 50 samples
after the burst, and the RTO of `conformal` 200 to 300 samples after it, each divided by the RTO of the same
estimator before the burst. The last column is the miss rate of `conformal` after the burst, divided by the
chosen 1 %.

{disturbances}

The table is for three series of 100,000 RTTs that have a Pareto tail with the given exponent. It has the
miss rate of `conformal`, of which 1 % was chosen, and that of `jacobson`, which is about 5 %. The last column
is the excess wait of `conformal` (mean of RTO − RTT, with 0 for an RTT above the RTO), divided by that of
`jacobson`.

{tails}
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path)
    paths: list[Path] = parser.parse_args().paths
    if not paths:
        (ROOT / "docs" / "ablation.md").write_text(generated())
        return 0
    series = read(paths)
    if not series:
        print("ablation: no series of 250 samples there", file=sys.stderr)
        return 1
    print(tables(series, steps=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
