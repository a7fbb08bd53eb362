# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes docs/forecasts.md: response times as `tcplearn explain` forecasts them, and as measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.forecasts.captured import PROFILE, Forecasts
from experiments.latency.cells import FIGURES, P99, SLOW, STOCK, Cell, Timer
from experiments.latency.lab import timer_of
from experiments.lib import runs as kept
from experiments.lib.pages import ROOT, Figure, scenarios
from experiments.lib.runs import Run, grouped, select
from experiments.lib.statistics import Drawn, interval, spread
from tcplearn.explain.advice import MOST_SPURIOUS
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import listed, milliseconds, percent

#: The judged timer settings; `KEYS` has the judged figures by title, with their names in the forecasts.
JUDGED = ("rto_min 5 ms", "rto_min 20 ms", "rto_min 100 ms", "priced")
KEYS = {P99: "p99_response", SLOW: "slowest_response"}
SPURIOUS = "needless_resends_permille"
#: Timer settings that have another name in the measurements than in the forecasts.
MEASURED = {"thin linear timeouts": "thin linear"}
#: The page's criteria: shares and factors; `NEAR` is in spurious retransmissions per 1,000 segments.
MEDIAN_ERROR, NINE_OF_TEN, TIMES_SECOND, COVERED = 0.10, 0.9, 1.5, 0.9
APART, FACTOR, NEAR, ALIKE = 0.003, 1.5, 1.0, 0.10


def batches(folder: Path, _profile: str) -> list[Forecasts]:
    """Returns a batch of runs for each scenario with few segments in flight. The scenarios with "kept" in
    their names, which were not used for tuning, come last."""
    folder = scenarios(folder, "linux", "lab", "scenarios")
    stems = sorted((file.stem for file in folder.glob("thin-*.toml")), key=lambda s: ("kept" in s, s))
    return [Forecasts(folder / f"{stem}.toml") for stem in stems]


@dataclass(frozen=True)
class Compared:
    """The forecast and the measured value, in ms, of one figure of the response times (such as the p99), for
    one timer setting and one path. `low` and `high` are the ends of the forecast's interval."""

    setting: str
    figure: str
    forecast: float
    low: float
    high: float
    measured: float
    second: float  # 90th percentile of the relative difference between two measurements
    judged: bool  # whether the criteria count this comparison

    @property
    def error(self) -> float:
        return abs(self.forecast / self.measured - 1)

    def is_near(self, less_ms: float = 0.0) -> bool:
        """Returns whether the error of the forecast, from which `less_ms` is subtracted, is within the
        criterion's limit."""
        return abs((self.forecast - less_ms) / self.measured - 1) <= TIMES_SECOND * self.second

    @property
    def covered(self) -> bool:
        return self.low <= self.measured <= self.high


class OnPath:
    """The forecasts of `tcplearn explain` for one path, by timer setting, and measurements on that path."""

    def __init__(self, name: str, forecasts: dict[str, Run], cell: Cell) -> None:
        self.name, self.forecasts, self.cell = name, forecasts, cell
        self.held_up = forecasts[STOCK].metrics["held_up_share"]
        # how much longer the application's times are than those in the captures
        self.unseen_ms = forecasts[STOCK].metrics["unseen_ms"]
        self.kept = "kept" in name

    def compared(self) -> Iterator[Compared]:
        for setting in JUDGED:
            of = self.forecasts[setting].metrics
            drawn = self.cell.figures(setting, None, True)
            half = len(drawn) // 2
            again = np.quantile(np.abs(drawn[:half] / drawn[half:] - 1), NINE_OF_TEN, axis=0)
            for figure, key in KEYS.items():
                # the measured times are the application's, which are a little longer than a capture's
                value, low, high = (of[f"{key}{end}_ms"] + self.unseen_ms for end in ("", "_low", "_high"))
                measured = self.cell.timers[setting].of(figure)
                judged = figure != P99 or abs(self.held_up - 0.01) >= APART
                second = float(again[FIGURES.index(figure)])
                yield Compared(setting, figure, value, low, high, measured, second, judged)

    def spurious(self) -> Iterator[tuple[str, float, float]]:
        """Yields, for each timer setting in `JUDGED`, its name and its spurious retransmissions per 1,000
        segments, as forecast and as measured."""
        for setting in JUDGED:
            measured = self.cell.timers[setting].spurious_permille
            yield setting, self.forecasts[setting].metrics[SPURIOUS], measured

    @property
    def advised(self) -> str:
        return next(name for name, run in self.forecasts.items() if run.metrics["advised"])

    def best(self) -> str:
        """Returns the timer setting with the smallest measured mean of the slowest 2 % of response times,
        among those with few enough spurious retransmissions for `tcplearn explain` to advise them."""
        timers = self.cell.timers
        most = timers[STOCK].spurious_permille + MOST_SPURIOUS
        able = [one for one in map(_measured, self.forecasts) if timers[one].spurious_permille <= most]
        return min(able, key=lambda one: timers[one].of(SLOW))

    def over_best(self) -> Drawn:
        """Returns a ratio with bootstrap samples: the measured mean of the slowest 2 % of response times with
        the timer setting that `tcplearn explain` advises, divided by that with `best()`."""
        names = (_measured(self.advised), self.best())
        (value, drawn), (least, drawn_too) = (self.cell.ratio(name, SLOW) for name in names)
        return value / least, drawn / drawn_too

    @property
    def well_advised(self) -> bool:
        value, drawn = self.over_best()
        return value <= 1 + ALIKE or interval(drawn)[0] <= 1


def _measured(candidate: str) -> str:
    return MEASURED.get(candidate, candidate)


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    measured = select(
        kept.latest(kept.read(ROOT / "experiments" / "latency" / "runs.parquet")), profile="full"
    )
    forecasts = [run for run in select(runs, profile=PROFILE) if "advised" in run.metrics]
    paths = [
        OnPath(name.removeprefix("thin-"), {run.algorithm: run for run in of}, _cell(name, measured))
        for name, of in grouped(forecasts, lambda run: run.scenario).items()
    ]
    if not paths:
        return {}
    every = [(path, one) for path in paths for one in path.compared() if one.judged]
    unseen_ms = [path.unseen_ms for path in paths]
    return {
        "criteria": _criteria(paths),
        "by_path": _by_path(paths),
        "advice": _advice(paths),
        "figures": [Figure("images/forecasts.svg", "", _chart([one for _, one in every]))],
        "apart": f"{100 * APART:g}",
        "times": TIMES_SECOND,
        "unseen": f"{min(unseen_ms):.2f} to {max(unseen_ms):.2f}",
        "without": _share([one.is_near(path.unseen_ms) for path, one in every]),
        "names": listed([path.name for path in paths]),
        "kept": ", ".join(path.name for path in paths if path.kept),
    }


def _cell(scenario: str, measured: Sequence[Run]) -> Cell:
    of = grouped(select(measured, scenario=scenario), lambda run: timer_of(run.algorithm))
    return Cell(scenario, {timer: Timer.of_lab(runs) for timer, runs in of.items()})


def _criteria(paths: Sequence[OnPath]) -> str:
    groups = {"paths captured so far": paths, "kept until the end": [path for path in paths if path.kept]}
    columns = {name: _met(of) for name, of in groups.items() if of}
    criteria = [
        ("median error", f"≤ {percent(MEDIAN_ERROR)}"),
        (f"errors of at most {TIMES_SECOND} times a second measurement's", f"≥ {percent(NINE_OF_TEN)}"),
        ("intervals that cover the measurement", f"≥ {percent(COVERED)}"),
        (f"spurious retransmissions within a factor of {FACTOR}, or {NEAR:g} in 1,000", "all"),
        (
            f"advised setting within {percent(ALIKE)} of the best, or not to be told from it",
            f"≥ {percent(NINE_OF_TEN)}",
        ),
    ]
    rows = ([*criterion, *met] for criterion, *met in zip(criteria, *columns.values(), strict=True))
    return table_of(["figure", "criterion", *columns], rows)


def _met(paths: Sequence[OnPath]) -> list[str]:
    """Returns, for each criterion, how well the forecasts for `paths` meet it."""
    judged = [one for path in paths for one in path.compared() if one.judged]
    return [
        percent(float(np.median([one.error for one in judged]))),
        _share([one.is_near() for one in judged]),
        _share([one.covered for one in judged]),
        _share([_is_near(one) for path in paths for one in path.spurious()]),
        _share([path.well_advised for path in paths]),
    ]


def _share(met: Sequence[bool]) -> str:
    return f"{sum(met)} of {len(met)} ({percent(sum(met) / len(met))})"


def _is_near(of: tuple[str, float, float]) -> bool:
    _, forecast, measured = of
    low, high = sorted((forecast, measured))
    return high - low <= NEAR or high <= FACTOR * low


def _by_path(paths: Sequence[OnPath]) -> str:
    rows = []
    for path in paths:
        found = {(one.setting, one.figure): one for one in path.compared()}
        for setting, spurious, measured in path.spurious():
            row = [path.name, setting]
            for figure in KEYS:
                one = found[setting, figure]
                error = f"{100 * one.error:.0f} ({100 * TIMES_SECOND * one.second:.0f})"
                row += [
                    f"{milliseconds(one.forecast)} ({milliseconds(one.low)}-{milliseconds(one.high)})",
                    milliseconds(one.measured),
                    error if one.judged else "not judged",
                ]
            rows.append([*row, f"{spurious:.1f}", f"{measured:.1f}"])
    parts = ("forecast, ms", "measured", "error, % (limit)")
    head = [f"{figure}: {part}" for figure in KEYS for part in parts]
    return table_of(["path", "setting", *head, "spurious in 1,000: forecast", "measured"], rows)


def _advice(paths: Sequence[OnPath]) -> str:
    rows = []
    for path in paths:
        row = [path.name, f"{100 * path.held_up:.2f}", path.advised, path.best(), spread(path.over_best())]
        rows.append([*row, "yes" if path.well_advised else "no"])
    head = ["path", "requests held up, %", "advised", "best measured", f"{SLOW}: advised over best", "met"]
    return table_of(head, rows)


def _chart(judged: Sequence[Compared]) -> Any:
    """Returns a chart of forecasts, with intervals, against measurements, as a Vega-Lite specification."""
    import altair as alt

    colours = dict(zip(JUDGED, ("#d55e00", "#e69f00", "#009e73", "#0072b2"), strict=True))
    colour = alt.Color("setting:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=list(colours), range=list(colours.values())
    )
    panels = []
    for figure in KEYS:
        points = [one for one in judged if one.figure == figure]
        values = [asdict(point) for point in points]
        ends = [min(min(p.low, p.measured) for p in points), max(max(p.high, p.measured) for p in points)]
        x = alt.X("measured:Q", title=f"{figure} measured, ms").scale(type="log", domain=ends, nice=False)
        y = alt.Y("forecast:Q", title=f"{figure} forecast, ms").scale(type="log", domain=ends, nice=False)
        base = alt.Chart(alt.InlineData(values=values)).encode(x=x, color=colour)
        diagonal = alt.Chart(alt.InlineData(values=[{"measured": end, "forecast": end} for end in ends]))
        layers = alt.layer(
            diagonal.mark_line(color="#999999", strokeDash=[4, 4]).encode(x=x, y=y),
            base.mark_rule().encode(y=alt.Y("low:Q"), y2="high:Q"),
            base.mark_point(size=30, filled=True).encode(y=y),
        )
        panels.append(layers.properties(width=380, height=380))
    return alt.hconcat(*panels).configure_view(stroke="#ddd").to_dict()
