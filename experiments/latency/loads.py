# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Evaluates further workloads in the lab: bulk transfers, paths with outages, overloaded queues, and
transfers that compete with a transfer under Linux's own timer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.latency.cells import DRAWS, LOADED, PROBES, SEED, STOCK, TIMEOUTS, metric
from experiments.latency.tables import Row
from experiments.lib.runs import Floats, Run
from experiments.lib.statistics import Drawn, geometric_drawn, how, interval, ratio_drawn, spread, verdict
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import milliseconds

LOADS = {
    "full": "50 flows",
    "no-timestamps": "50 flows, no timestamps",
    "200": "200 flows",
    "200-no-timestamps": "200 flows, no timestamps",
    "held-out-100": "100 flows, held out",
    "held-out-100-no-timestamps": "100 flows, held out, no timestamps",
    "held-out-shallow": "100 flows, held out, a shallow queue",
}
#: The number of blocks into which the responses of a run are divided; the bootstrap draws blocks.
BLOCKS = 25
#: The colours of timers in charts: stock, those of `LOADED`, and others.
COLOURS = ("#000000", "#0072b2", "#56b4e9", "#cc79a7", "#d55e00", "#999999", "#009e73")
ByTimer = Mapping[str, Sequence[Run]]


class Bulk:
    """Bulk transfers over one path: the durations of the transfers under each timer."""

    def __init__(self, path: str, timers: ByTimer) -> None:
        self.path = path
        self._us = {t: np.concatenate([run.series["response_us"] for run in of]) for t, of in timers.items()}
        self.resends = {t: (metric(of, PROBES) + metric(of, TIMEOUTS)).sum() for t, of in timers.items()}
        self.transfers = len(self._us[STOCK])

    def throughput(self, timer: str) -> Drawn:
        value, drawn = ratio_drawn(self._us[timer] / 1000, self._us[STOCK] / 1000, SEED, DRAWS)
        return 1 / value, 1 / drawn


def throughput(found: Sequence[Bulk], timer: str) -> Drawn:
    """Returns the geometric mean over the paths of the throughput under `timer` divided by stock's."""
    return geometric_drawn([of.throughput(timer) for of in found])


def resends(found: Sequence[Bulk], timer: str) -> Drawn:
    """Returns the number of timeouts and tail loss probes under `timer` divided by stock's."""
    ours, stock = (np.array([of.resends[name] for of in found], float) for name in (timer, STOCK))
    at = np.random.default_rng(SEED).integers(0, len(found), (DRAWS, len(found)))
    drawn = ours[at].sum(axis=1) / np.maximum(stock[at].sum(axis=1), 1)
    return float(ours.sum() / max(stock.sum(), 1)), drawn


def least_throughput(found: Sequence[Bulk], timer: str) -> str:
    """Returns a text that names the path on which the throughput under `timer`, divided by stock's, is least,
    and those on which it misses the criterion."""
    values = {of.path: of.throughput(timer) for of in found}
    worst = min(values, key=lambda path: values[path][0])
    below = [f"{path} {spread(of)}" for path, of in values.items() if interval(of[1])[1] < 0.98]
    if below:
        return f"missed: {', '.join(below)}; least: {spread(values[worst])}, {worst}"
    return f"{verdict(values[worst], 0.98, least=True)}, {worst}"


def resends_by_path(found: Sequence[Bulk], timer: str) -> str:
    """Returns a text that names the paths on which `timer` has more timeouts and probes than the criterion
    allows, and those on which this is more than chance."""
    rng = np.random.default_rng(SEED)
    above, shown = [], []
    for of in found:
        ours, stock = of.resends[timer], of.resends[STOCK]
        if ours > 1.1 * stock + 1:
            above.append(f"{of.path} {ours:.0f} for {stock:.0f}")
            drawn = rng.poisson(ours, DRAWS) - 1.1 * rng.poisson(stock, DRAWS)
            shown += [of.path] if how(1, drawn) == "missed" else []
    return f"missed: {', '.join(above)}; more than chance: {', '.join(shown) or 'none'}" if above else "met"


class Fades:
    """Overruns by timer, run and fade (a period in which the path delivers nothing): the times from a
    fade's end to the response to the request that was lost in it."""

    def __init__(self, timers: ByTimer) -> None:
        names = ("fade", "fade_length_ms", "overrun_ms")
        self.timers: dict[str, dict[tuple[int, int], tuple[float, float]]] = {
            timer: {
                (run.run, int(number)): (length, past)
                for run in runs
                for number, length, past in zip(*(run.series[name] for name in names), strict=True)
            }
            for timer, runs in timers.items()
        }

    def over_stock(self, timer: str) -> Drawn:
        """Returns the mean overrun under `timer` divided by that under Linux's own timer, with bootstrap
        samples, for the fades in which a request was lost under both. An overrun is the time from a fade's
        end to the response to this request."""
        ours, stock = self.timers[timer], self.timers[STOCK]
        both = sorted(ours.keys() & stock.keys())
        above, below = (np.array([of[key][1] for key in both]) for of in (ours, stock))
        return ratio_drawn(above, below, SEED, 10 * DRAWS, paired=True)

    def table(self) -> str:
        rows = []
        for timer, of in self.timers.items():
            past = np.array([overrun for _, overrun in of.values()])
            figures = (past.mean(), np.median(past), np.percentile(past, 90), past.max())
            row = [timer, f"{len(past)}", *(milliseconds(float(figure)) for figure in figures)]
            rows.append([*row, "1" if timer == STOCK else spread(self.over_stock(timer))])
        return table_of(["timer", "fades", "mean, ms", "median", "90 %", "longest", "mean, × stock"], rows)

    def chart(self) -> Any:
        """Returns two charts as a Vega-Lite specification: the distribution of overruns, and overruns against
        lengths of fades. An overrun is the time from a fade's end to the response to the request that was
        lost in it."""
        import altair as alt

        colours = dict(zip(dict.fromkeys((STOCK, *LOADED, *self.timers)), COLOURS, strict=False))
        scale = alt.Scale(domain=list(self.timers), range=[colours[timer] for timer in self.timers])
        legend = alt.Legend(orient="top", symbolSize=120)
        points = []
        for timer, of in self.timers.items():
            ordered = sorted(of.values(), key=lambda fade: fade[1])
            for rank, (length_ms, past_ms) in enumerate(ordered, 1):
                share = rank / len(ordered)
                points.append({"timer": timer, "length": length_ms, "past": past_ms, "share": share})
        base = alt.Chart(alt.InlineData(values=points), width=420, height=320).encode(
            color=alt.Color("timer:N", title=None, legend=legend, scale=scale)
        )
        shares = base.mark_line(interpolate="step-after").encode(
            x=alt.X("past:Q", title="overrun, ms").scale(type="log"),
            y=alt.Y("share:Q", title="share of the fades").scale(domain=[0, 1]),
        )
        dots = base.mark_point(size=30, filled=True, opacity=0.7).encode(
            x=alt.X("length:Q", title="length of the fade, ms").scale(type="log"),
            y=alt.Y("past:Q", title="overrun, ms").scale(type="log"),
        )
        return alt.hconcat(shares, dots).configure_view(stroke="#ddd").to_dict()


def blocks_us(took_us: Floats, started_us: Floats) -> Floats:
    """Returns how long each of `BLOCKS` blocks of equally many responses took, in us. Each request has its
    response time in `took_us` and its start in `started_us`."""
    ends = np.sort(started_us + took_us)[np.linspace(0, len(took_us) - 1, BLOCKS + 1).astype(int)[1:]]
    return np.diff(ends, prepend=started_us.min())


class Overload:
    """The runs at all overloaded queues in the lab, by profile (kind of load) and timer."""

    def __init__(self, loads: Mapping[str, ByTimer], titles: Mapping[str, str] = LOADS) -> None:
        self.loads, self.titles = loads, titles

    @property
    def dispersion(self) -> float:
        """Returns the variance of the number of drops between runs of the same load and timer, divided by
        its mean: 1 for a Poisson distribution (the least that is returned), more if drops come in bursts."""
        groups = [metric(runs, "queue_dropped_packets") for of in self.loads.values() for runs in of.values()]
        runs = sum(len(drops) - 1 for drops in groups)
        squares = sum(((drops - drops.mean()) ** 2).sum() / max(drops.mean(), 1) for drops in groups)
        return max(float(squares) / max(runs, 1), 1.0)

    def total(self, profile: str, timer: str, name: str) -> float:
        return float(metric(self.loads[profile][timer], name).sum())

    def a_second(self, profile: str, timer: str) -> Drawn:
        """Returns the responses per second with bootstrap samples, which draw blocks of responses; the blocks
        of a run have equally many."""
        answers = self.total(profile, timer, "answers")
        block_us = np.concatenate([run.series["block_us"] for run in self.loads[profile][timer]])
        chosen = np.random.default_rng(SEED).integers(0, len(block_us), (DRAWS, len(block_us)))
        return float(1e6 * answers / block_us.sum()), 1e6 * answers / block_us[chosen].sum(axis=1)

    def goodput(self, profile: str, timer: str) -> Drawn:
        ours, stock = (self.a_second(profile, name) for name in (timer, STOCK))
        return ours[0] / stock[0], ours[1] / stock[1]

    def drops(self, profile: str, timer: str) -> Drawn:
        """Returns the dropped packets per response under `timer` divided by those under Linux's own timer,
        with random samples of this ratio. Their logarithms are normally distributed, with the variance that
        follows from numbers of drops whose variance is `dispersion` times their mean."""
        names = (timer, STOCK)
        ours, stock = (max(self.total(profile, name, "queue_dropped_packets"), 1) for name in names)
        answers, base = (self.total(profile, name, "answers") for name in names)
        value = ours / answers / (stock / base)
        deviation = np.sqrt(self.dispersion * (1 / ours + 1 / stock))
        return value, value * np.exp(np.random.default_rng(SEED).normal(0, deviation, DRAWS))

    def table(self) -> str:
        rows = []
        for load, timer in ((load, timer) for load, of in self.loads.items() for timer in of):
            names = ("answers", "queue_dropped_packets", TIMEOUTS, PROBES)
            answers, dropped, timeouts, probes = (self.total(load, timer, name) for name in names)
            ratios = [spread(of(load, timer)) for of in (self.goodput, self.drops)]
            goodput, drops = ("1", "1") if timer == STOCK else ratios
            row = [self.titles[load], timer, f"{answers:,.0f}", f"{self.a_second(load, timer)[0]:.1f}"]
            rows.append([*row, goodput, f"{dropped:,.0f}", drops, f"{timeouts:.0f}", f"{probes:.0f}"])
        head = ["load", "timer", "answers", "a second", "× stock", "drops", "× stock", "timeouts", "probes"]
        return table_of(head, rows)

    def criteria(self, load: str, timers: Sequence[str] = LOADED, which: str = "") -> Iterator[Row]:
        """Yields two table rows with verdicts on `timers` under the load `load`: by responses per second, and
        by dropped packets per response. `which` is appended to the load's title."""
        what = self.titles[load] + which
        answers = (verdict(self.goodput(load, timer), 0.98, least=True) for timer in timers)
        yield [f"{what}: answers a second", "≥ 0.98 × stock", *answers]
        yield [
            f"{what}: drops an answer",
            "≤ 1.1 × stock",
            *(verdict(self.drops(load, t), 1.1) for t in timers),
        ]
