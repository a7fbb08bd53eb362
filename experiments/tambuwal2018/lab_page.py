# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes lab.md: web pages fetched under tambuwal2018's startup policies (IW and ssthresh after a lost
SYN-ACK) on a real Linux kernel, and their times relative to those under unchanged Linux (`stock`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.batches import Batch, Figures, LabRuns
from experiments.lib.pages import Figure
from experiments.lib.runs import Run, grouped
from experiments.lib.statistics import interval, means_drawn
from experiments.tambuwal2018.cells import COLOURS
from tcplearn.lab import pages
from tcplearn.lab.pages import Began, Page
from tcplearn.lab.scenario import STOCK

Json = dict[str, Any]
#: A value, and the lower and upper end of its interval.
Interval = tuple[float, float, float]

NO_SSTHRESH = 2**30 - 1
#: Profiles of the scenario files. Each web page loses its first SYN-ACK under `full` (the startup policies
#: without feedback) and under `feedback` (with `tsl-feedback`); under `some`, 4 % of the pages do.
PROFILES = ("full", "feedback", "some")
#: The colours of startup policies and of sizes in figures.
SHOWN = {STOCK: "#000000", **{name: COLOURS[name] for name in ("standard", "tsl", "tsl/3-16", "tsl/3-1000")}}
SIZES = ("#56b4e9", "#d55e00", "#332288", "#009e73")
RESAMPLES, SEED = 2000, 2018
#: The fields of a web page that are stored; `BEGAN` is its connection's state at the start (-1: unknown).
FIELDS = ("size_bytes", "port", "is_lost", "handshake_us", "first_byte_us", "total_us")
BEGAN = ("iw", "ssthresh", "resends", "retransmitted")


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of a run: a series for each field of `Page`, with a value for each web page that
    was fetched."""
    found = pages.read(folder)
    series = {name: np.array([getattr(page, name) for page in found], float) for name in FIELDS}
    return {"pages": float(len(found))}, series | {
        name: np.array([getattr(page.began, name) if page.began else -1 for page in found], float)
        for name in BEGAN
    }


def _fetched(run: Run) -> Iterator[Page]:
    columns = [run.series[name].astype(int).tolist() for name in (*FIELDS, *BEGAN)]
    for size, port, lost, handshake_us, first_byte_us, total_us, *began in zip(*columns, strict=True):
        state = Began(*began) if began[0] >= 0 else None
        yield Page(size, port, bool(lost), handshake_us, first_byte_us, total_us, state)


@dataclass(frozen=True)
class Part:
    """The web pages fetched in all runs of a scenario, by startup policy (IW and ssthresh after a lost
    SYN-ACK)."""

    name: str
    title: str
    fetched: Mapping[str, Sequence[Page]]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Part:
        fetched: dict[str, list[Page]] = {}
        for run in sorted(runs, key=lambda run: run.run):
            startup = run.algorithm.split("+")[2:] or [STOCK]
            fetched.setdefault(startup[0], []).extend(_fetched(run))
        return cls(runs[0].scenario, runs[0].parameters["title"], fetched)

    @property
    def path(self) -> str:
        return self.title.partition(";")[0]

    @property
    def is_lost(self) -> bool:
        """Returns whether every page lost its first SYN-ACK."""
        return all(page.is_lost for of in self.fetched.values() for page in of)

    @property
    def sizes(self) -> list[int]:
        return list(dict.fromkeys(page.size_bytes for of in self.fetched.values() for page in of))

    def cell(self, startup: str, size: int) -> list[Page]:
        return [page for page in self.fetched[startup] if page.size_bytes == size]


def kilobytes(size: int) -> str:
    return f"{size / 1000:g} kB"


def whole_ms(page: Page) -> float:
    return page.total_us / 1000


def after_handshake_ms(page: Page) -> float:
    return page.after_handshake_us / 1000


def mean(cell: Sequence[Page], value: Callable[[Page], float]) -> Interval:
    values = [value(page) for page in cell]
    return float(np.mean(values)), *interval(means_drawn(values, SEED, RESAMPLES))


def ratio(cell: Sequence[Page], base: Sequence[Page], value: Callable[[Page], float]) -> Interval:
    """Returns the mean of `value` over the web pages `cell` divided by that over `base`, with its
    interval. The bootstrap draws pairs of pages, because under every policy the same pages lose packets:
    samples of two lists of equal length consist of the same indices."""
    ours, theirs = ([value(page) for page in of] for of in (cell, base))
    drawn = means_drawn(ours, SEED, RESAMPLES) / means_drawn(theirs, SEED, RESAMPLES)
    return float(np.mean(ours) / np.mean(theirs)), *interval(drawn)


def batches(folder: Path, profile: str) -> list[Batch]:
    profiles = [profile] if profile else PROFILES
    return [LabRuns(folder / "lab" / f"{name}.toml", of, keep) for of in profiles for name in ("near", "far")]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    parts = [Part.of(of) for of in grouped(runs, lambda run: run.scenario).values()]
    return {
        "kernels": ", ".join(sorted({run.host_version for run in runs})),
        "parts": [
            {
                "heading": f"{part.name}: {part.title}",
                "began": list(_began(part)),
                "times": list(_times(part, only_lost=False)),
                "lost": [] if part.is_lost else list(_times(part, only_lost=True)),
            }
            for part in parts
        ],
        "figures": list(_draw(parts)),
    }


def _shares(values: Sequence[str]) -> str:
    counts = Counter(values).most_common()
    return ", ".join(f"{name} ({100 * n / len(values):.0f} %)" for name, n in counts)


def _began(part: Part) -> Iterator[list[str]]:
    """Yields, for each startup policy, how the connections that lost a SYN-ACK began."""
    for startup, fetched in part.fetched.items():
        if began := [p.began for p in fetched if p.is_lost and p.began is not None]:
            yield [
                f"`{startup}`",
                str(len(began)),
                _shares([str(b.iw) for b in began]),
                _shares(["none" if b.ssthresh >= NO_SSTHRESH else str(b.ssthresh) for b in began]),
                _shares([str(b.retransmitted) for b in began]),
            ]


def _times(part: Part, *, only_lost: bool) -> Iterator[list[str]]:
    """Yields the times for each size of a page and each startup policy, and for all sizes together."""
    together = [("all", part.sizes)] if len(part.sizes) > 1 else []
    for label, sizes in [(kilobytes(size), [size]) for size in part.sizes] + together:
        cells = {
            name: [page for size in sizes for page in part.cell(name, size) if page.is_lost or not only_lost]
            for name in part.fetched
        }
        base = cells.get(STOCK, [])
        for startup, cell in cells.items():
            if not cell:
                continue
            compared = startup != STOCK and base
            yield [
                label,
                f"`{startup}`",
                str(len(cell)),
                _shown(mean(cell, whole_ms), 0),
                _shown(ratio(cell, base, whole_ms), 3) if compared else "",
                f"{np.quantile([whole_ms(page) for page in cell], 0.99):.0f}",
                _shown(mean(cell, after_handshake_ms), 0),
                _shown(ratio(cell, base, after_handshake_ms), 2) if compared else "",
            ]


def _shown(of: Interval, digits: int) -> str:
    value, low, high = (f"{one:.{digits}f}" for one in of)
    return f"{value} [{low}, {high}]"


def _draw(parts: Sequence[Part]) -> Iterator[Figure]:
    """Yields the figures for which there are fetched web pages."""
    every = [part for part in parts if part.is_lost]
    firsts: dict[str, Part] = {}
    for part in every:
        firsts.setdefault(part.path, part)
    gains = [row for part in every for row in _gain_rows(part)]
    whole = [row for part in firsts.values() for row in _whole_rows(part)]
    for name, title, rows, chart in (
        ("lab-gains.svg", "Time of a page after the handshake, relative to stock's", gains, _gains),
        ("lab-whole.svg", "Share of pages whose time from the first SYN is below x", whole, _whole),
    ):
        if rows:
            yield Figure(f"figures/{name}", title, chart(rows).configure_view(stroke="#ddd").to_dict())


def _at(part: Part, size: int, startup: str) -> Json:
    return {"path": part.path, "size": kilobytes(size), "startup": startup}


def _gain_rows(part: Part) -> Iterator[Json]:
    for size in part.sizes:
        base = part.cell(STOCK, size)
        for startup in part.fetched:
            if startup != STOCK and base:
                value, low, high = ratio(part.cell(startup, size), base, after_handshake_ms)
                yield {**_at(part, size, startup), "ratio": value, "low": low, "high": high}


def _colour(field: str, colours: dict[str, str]) -> Any:
    import altair as alt

    names = list(colours)
    colour = alt.Color(f"{field}:N", sort=names, legend=alt.Legend(orient="top", title=None))
    return colour.scale(domain=names, range=list(colours.values()))


def _gains(rows: Sequence[Json]) -> Any:
    import altair as alt

    sizes = list(dict.fromkeys(row["size"] for row in rows))
    startups = list(dict.fromkeys(row["startup"] for row in rows))
    base = alt.Chart().encode(
        y=alt.Y("startup:N", sort=startups, title=None),
        yOffset=alt.YOffset("size:N", sort=sizes),
        color=_colour("size", dict(zip(sizes, SIZES, strict=False))),
    )
    ends = [0.95 * min(row["low"] for row in rows), 1.05 * max(row["high"] for row in rows)]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    x = alt.X("ratio:Q", title="time after the handshake, over stock's", scale=scale)
    bars = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    points = base.mark_point(size=40, filled=True).encode(x=x)
    one = alt.Chart().mark_rule(color="#999", strokeDash=[3, 3]).encode(x=alt.datum(1))
    layers = alt.layer(one, bars, points, data=alt.InlineData(values=rows))
    header = alt.Header(title=None, labelFontWeight="bold")
    panels = layers.properties(width=300, height=34 * len(startups))
    return panels.facet(column=alt.Column("path:N", header=header))


def _whole_rows(part: Part) -> Iterator[Json]:
    for size in part.sizes:
        for startup in (name for name in SHOWN if name in part.fetched):
            values = sorted(whole_ms(page) / 1000 for page in part.cell(startup, size))
            for i, value in enumerate(values):
                yield {**_at(part, size, startup), "s": value, "share": (i + 1) / len(values)}


def _whole(rows: Sequence[Json]) -> Any:
    import altair as alt

    startups = {row["startup"] for row in rows}
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X("s:Q", title="s").scale(zero=False),
            y=alt.Y("share:Q", title="share of pages below"),
            color=_colour("startup", {name: SHOWN[name] for name in SHOWN if name in startups}),
        )
        .properties(width=230, height=150)
    )
    title = alt.Header(title=None)
    rows_of, columns = alt.Row("path:N", header=title), alt.Column("size:N", sort=sizes, header=title)
    return lines.facet(row=rows_of, column=columns).resolve_scale(x="independent")
