# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the tables of further workloads in the lab: bulk transfers, paths with outages, overloaded queues,
real programs, and transfers that compete with a transfer under Linux's own timer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.latency.cells import DRAWS, FIGURES, LOADED, PROBES, SEED, STOCK, TIMEOUTS, Cell, too_few
from experiments.latency.tables import Row
from experiments.lib.runs import Floats, Run
from experiments.lib.statistics import Drawn, geometric_drawn, how, interval, ratio_drawn, spread, verdict
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, milliseconds, ratio

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
#: The criteria, by timer: the largest ratio of the mean overrun (time from a fade's end to the response to
#: the request lost in it) to that of Linux's own timer.
PAST_FADES = dict(zip(LOADED, (1.0, 0.3, 0.7), strict=True))
ByTimer = Mapping[str, Sequence[Run]]


class Bulk:
    """Bulk transfers over one path: the durations of the transfers under each timer."""

    def __init__(self, path: str, timers: ByTimer) -> None:
        self.path = path
        self._ms = {
            t: np.concatenate([run.series["response_us"] for run in of]) / 1000 for t, of in timers.items()
        }
        self.resends = {
            t: sum(r.metrics[PROBES] + r.metrics[TIMEOUTS] for r in of) for t, of in timers.items()
        }
        self.transfers = len(self._ms[STOCK])

    def throughput(self, timer: str) -> Drawn:
        value, drawn = ratio_drawn(self._ms[timer], self._ms[STOCK], SEED, DRAWS)
        return 1 / value, 1 / drawn


def bulk(found: Sequence[Bulk]) -> str:
    head = ["path", "transfers", *(f"`{o}`: throughput, × stock" for o in LOADED)]
    head += ["timeouts and probes: stock", *(f"`{o}`" for o in LOADED)]
    rows = []
    for of in found:
        counts = (f"{of.resends[timer]:.0f}" for timer in (STOCK, *LOADED))
        rows.append([of.path, str(of.transfers), *(spread(of.throughput(o)) for o in LOADED), *counts])
    return table_of(head, rows)


def bulk_criteria(found: Sequence[Bulk]) -> Iterator[Row]:
    least, mean, by_path, together = [], [], [], []
    for timer in LOADED:
        values = {of.path: of.throughput(timer) for of in found}
        worst = min(values, key=lambda path: values[path][0])
        below = [f"{path} {spread(of)}" for path, of in values.items() if interval(of[1])[1] < 0.98]
        said = f"{verdict(values[worst], 0.98, least=True)}, {worst}"
        least.append(
            f"missed: {', '.join(below)}; least: {spread(values[worst])}, {worst}" if below else said
        )
        mean.append(verdict(geometric_drawn(list(values.values())), 0.98, least=True))
        by_path.append(_resends_by_path(found, timer))
        together.append(_resends(found, timer))
    yield [f"bulk: throughput, least of {counted(len(found), 'path')}", "≥ 0.98 × stock", *least]
    yield ["bulk: throughput, all paths", "≥ 0.98 × stock", *mean]
    yield ["bulk: timeouts and probes, each path", "≤ 1.1 × stock + 1", *by_path]
    yield ["bulk: timeouts and probes, all paths", "no criterion (× stock)", *together]


def all_bulk(found: Sequence[Bulk]) -> Mapping[str, tuple[str, str]]:
    """Returns two texts for each of our timers: the geometric mean over the paths of the throughput, and the
    number of timeouts and tail loss probes. Both are divided by those under Linux's own timer and have
    intervals."""
    return {
        timer: (spread(geometric_drawn([of.throughput(timer) for of in found])), _resends(found, timer))
        for timer in LOADED
    }


def _resends(found: Sequence[Bulk], timer: str) -> str:
    """Returns, as text, the number of timeouts and tail loss probes under `timer` divided by that under
    Linux's own timer, with its interval."""
    ours, stock = (np.array([of.resends[name] for of in found], float) for name in (timer, STOCK))
    at = np.random.default_rng(SEED).integers(0, len(found), (DRAWS, len(found)))
    drawn = ours[at].sum(axis=1) / np.maximum(stock[at].sum(axis=1), 1)
    return spread((float(ours.sum() / max(stock.sum(), 1)), drawn))


def _resends_by_path(found: Sequence[Bulk], timer: str) -> str:
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
        """Returns the mean overrun (time from a fade's end to the lost request's response) under `timer`
        divided by that under Linux's own timer, with bootstrap samples, for the fades that both timers
        met."""
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

    def criterion(self) -> Row:
        fades = counted(min(map(len, self.timers.values())), "fade")
        values = (verdict(self.over_stock(timer), PAST_FADES[timer]) for timer in LOADED)
        limits = ", ".join(f"{limit:.1f}" for limit in PAST_FADES.values())
        return [f"mean overrun past a fade's end ({fades})", f"≤ {limits} × stock", *values]

    def chart(self) -> Any:
        """Returns two charts as a Vega-Lite specification: the distribution of overruns (times from a
        fade's end to the lost request's response), and overruns against lengths of fades."""
        import altair as alt

        known = dict(zip((STOCK, *LOADED), ("#000000", "#0072b2", "#56b4e9", "#cc79a7"), strict=True))
        others = dict(
            zip((t for t in self.timers if t not in known), ("#d55e00", "#999999", "#009e73"), strict=False)
        )
        colours = {timer: {**known, **others}[timer] for timer in self.timers}
        colour = alt.Color(
            "timer:N",
            title=None,
            legend=alt.Legend(orient="top", symbolSize=120),
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        )
        shares, points = [], []
        for timer, of in self.timers.items():
            ordered = sorted(of.values(), key=lambda fade: fade[1])
            for rank, (length_ms, past_ms) in enumerate(ordered, 1):
                shares.append({"timer": timer, "past": past_ms, "share": rank / len(ordered)})
                points.append({"timer": timer, "length": length_ms, "past": past_ms})
        past = alt.X("past:Q", title="overrun, ms").scale(type="log")
        share = alt.Y("share:Q", title="share of the fades").scale(domain=[0, 1])
        steps = alt.Chart(alt.InlineData(values=shares)).mark_line(interpolate="step-after")
        length = alt.X("length:Q", title="length of the fade, ms").scale(type="log")
        dots = alt.Chart(alt.InlineData(values=points)).mark_point(size=30, filled=True, opacity=0.7)
        panels = (
            steps.encode(x=past, y=share, color=colour),
            dots.encode(x=length, y=alt.Y("past:Q", title="overrun, ms").scale(type="log"), color=colour),
        )
        sized = [panel.properties(width=420, height=320) for panel in panels]
        return alt.hconcat(*sized).configure_view(stroke="#ddd").to_dict()


def blocks_us(took_us: Floats, started_us: Floats) -> Floats:
    """Returns how long each of `BLOCKS` blocks of equally many responses took, in us. Each request has its
    response time in `took_us` and its start in `started_us`."""
    ends = np.sort(started_us + took_us)[np.linspace(0, len(took_us) - 1, BLOCKS + 1).astype(int)[1:]]
    return np.diff(ends, prepend=started_us.min())


@dataclass(frozen=True)
class Load:
    """Counts of responses and drops under one timer at one overloaded queue."""

    block_us: Floats  # how long each block of responses took; the blocks of a run have equally many
    answers: float
    dropped: Floats  # the number of dropped packets in each run
    timeouts: float
    probes: float

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Load:
        blocks = np.concatenate([run.series["block_us"] for run in runs])
        dropped = np.array([run.metrics["queue_dropped_packets"] for run in runs])
        answers, timeouts, probes = (
            sum(run.metrics[name] for run in runs) for name in ("answers", TIMEOUTS, PROBES)
        )
        return cls(blocks, answers, dropped, timeouts, probes)

    @property
    def a_second(self) -> Drawn:
        """Returns the responses per second with bootstrap samples, which draw blocks of responses."""
        n = len(self.block_us)
        chosen = np.random.default_rng(SEED).integers(0, n, (DRAWS, n))
        rates = 1e6 * self.answers / self.block_us[chosen].sum(axis=1)
        return float(1e6 * self.answers / self.block_us.sum()), rates


class Overload:
    """The responses and dropped packets at all overloaded queues in the lab, by profile (kind of load) and
    timer."""

    def __init__(self, found: Mapping[str, ByTimer], titles: Mapping[str, str] = LOADS) -> None:
        self.titles = titles
        self.loads = {profile: {t: Load.of(runs) for t, runs in of.items()} for profile, of in found.items()}

    @property
    def dispersion(self) -> float:
        """Returns the variance of the number of drops between runs of the same load and timer, divided by
        its mean: 1 for a Poisson distribution (the least that is returned), more if drops come in bursts."""
        groups = [load.dropped for of in self.loads.values() for load in of.values()]
        runs = sum(len(drops) - 1 for drops in groups)
        squares = sum(((drops - drops.mean()) ** 2).sum() / max(drops.mean(), 1) for drops in groups)
        return max(float(squares) / max(runs, 1), 1.0)

    def goodput(self, profile: str, timer: str) -> Drawn:
        ours, stock = (self.loads[profile][name].a_second for name in (timer, STOCK))
        return ours[0] / stock[0], ours[1] / stock[1]

    def drops(self, profile: str, timer: str) -> Drawn:
        """Returns the dropped packets per response under `timer` divided by those under Linux's own timer,
        with random samples of this ratio. Their logarithms are normally distributed, with the variance that
        follows from numbers of drops whose variance is `dispersion` times their mean."""
        of, base = (self.loads[profile][name] for name in (timer, STOCK))
        ours, stock = (max(load.dropped.sum(), 1) for load in (of, base))
        value = float(ours / of.answers / (stock / base.answers))
        noise = np.random.default_rng(SEED).normal(
            0, np.sqrt(self.dispersion * (1 / ours + 1 / stock)), DRAWS
        )
        return value, value * np.exp(noise)

    def table(self) -> str:
        rows = []
        for profile, of in self.loads.items():
            for timer, load in of.items():
                ratios = [spread(part(profile, timer)) for part in (self.goodput, self.drops)]
                goodput, drops = ("1", "1") if timer == STOCK else ratios
                row = [
                    self.titles[profile],
                    timer,
                    f"{load.answers:,.0f}",
                    f"{load.a_second[0]:.1f}",
                    goodput,
                ]
                row += [f"{load.dropped.sum():,.0f}", drops]
                rows.append([*row, f"{load.timeouts:.0f}", f"{load.probes:.0f}"])
        head = ["load", "timer", "answers", "a second", "× stock", "drops", "× stock", "timeouts", "probes"]
        return table_of(head, rows)

    def criteria(self) -> Iterator[Row]:
        for profile in self.loads:
            values = (verdict(self.goodput(profile, timer), 0.98, least=True) for timer in LOADED)
            yield [f"{self.titles[profile]}: answers a second", "≥ 0.98 × stock", *values]
            values = (verdict(self.drops(profile, timer), 1.1) for timer in LOADED)
            yield [f"{self.titles[profile]}: drops an answer", "≤ 1.1 × stock", *values]


def beside_stock(found: Mapping[str, ByTimer]) -> str:
    rows = []
    for path, of in found.items():
        row = [path, str(len(of[STOCK]))]
        for timer in (STOCK, *LOADED):
            indices, mbps = (
                np.array([run.metrics[m] for run in of[timer]]) for m in ("jain_index", "goodput_mbps")
            )
            row += [f"{ratio(float(indices.mean()))} ({ratio(float(indices.min()))})", f"{mbps.mean():.2f}"]
        rows.append(row)
    head = [column for timer in (STOCK, *LOADED) for column in (f"{timer}: Jain's index (least)", "Mbit/s")]
    return table_of(["path", "runs", *head], rows)


def beside_criteria(found: Mapping[str, ByTimer]) -> Iterator[Row]:
    for path, of in found.items():
        mean = {
            timer: float(np.mean([run.metrics["jain_index"] for run in of[timer]]))
            for timer in (STOCK, *LOADED)
        }
        said = [f"{ratio(mean[t])}: {'met' if mean[t] >= 0.95 else 'missed'}" for t in LOADED]
        row = [f"Jain's index beside stock, {path} ({counted(len(of[STOCK]), 'run')})", "≥ 0.95"]
        yield [*row, *(f"{text}, stock itself {ratio(mean[STOCK])}" for text in said)]


def by_program(cells: Sequence[Cell]) -> str:
    rows = []
    for c in cells:
        for timer, t in c.timers.items():
            row = [c.path, timer, f"{c.requests_of(STOCK):,}"]
            row += ["–" if too_few(c, figure) else milliseconds(t.of(figure)) for figure in FIGURES]
            rows.append([*row, f"{t.spurious_permille:.1f}", f"{t.resends.sum():.0f}"])
    figures = (f"{name}, ms" for name in FIGURES)
    return table_of(["program", "timer", "requests", *figures, "spurious in 1,000", "resends"], rows)
