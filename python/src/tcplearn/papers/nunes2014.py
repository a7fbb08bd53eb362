# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014: figures 2 to 20 and 22 to 25, and its printed numbers beside ours."""

from __future__ import annotations

import csv
import html
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn.errors import UserError, printable
from tcplearn.output import make_directory, write_atomically
from tcplearn.report.palette import Look, looks
from tcplearn.simulate import sweep
from tcplearn.simulate.interval import mean_interval, ratio_interval
from tcplearn.simulate.store import Store

Json = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    number: int
    scenario: str
    metric: str
    title: str
    scale: float = 1.0


_SHARE, _RATIO = "retransmitted packets, %", "delivery ratio, %"
_ERROR, _CWND, _GOODPUT = "mean prediction error, ticks", "average cwnd, bytes", "goodput, packets/s"
_MANET = {"I": (2, 3, 4, 5, 7), "II": (8, 9, 12, 11, 10)}  # error, retransmitted, goodput, cwnd, delivery
FIGURES = (
    *(Figure(n[0], s, "mean_error_ticks", _ERROR) for s, n in _MANET.items()),
    *(Figure(n[1], s, "retransmitted_share", _SHARE, 100) for s, n in _MANET.items()),
    *(Figure(n[2], s, "goodput_pps", _GOODPUT) for s, n in _MANET.items()),
    *(Figure(n[3], s, "cwnd_bytes", _CWND) for s, n in _MANET.items()),
    *(Figure(n[4], s, "delivery_ratio", _RATIO, 100) for s, n in _MANET.items()),
    Figure(13, "III", "mean_error_ticks", _ERROR),
    Figure(14, "III", "queue_bytes", "average queue length, bytes (figure 14; its mobile half is I's)"),
    Figure(15, "III", "retransmitted_share", _SHARE, 100),
    Figure(16, "III", "cwnd_bytes", _CWND),
    Figure(17, "IV", "mean_error_ticks", _ERROR),
    Figure(18, "IV", "retransmitted_share", _SHARE, 100),
    Figure(19, "IV", "goodput_pps", _GOODPUT),
    Figure(20, "IV", "delivery_ratio", _RATIO, 100),
    Figure(22, "V", "mean_error_ticks", _ERROR),
    Figure(23, "V", "retransmitted_share", _SHARE, 100),
    Figure(24, "V", "delivery_ratio", _RATIO, 100),
    Figure(25, "V", "goodput_pps", _GOODPUT),
)
OVER_TIME = 6  # cwnd over time in scenario I
BASE, LEARNED = "jacobson/nunes2014", "experts"

#: RTTs below this many ticks leave the experts no place: the lowest of them stands at one tick.
FEW_TICKS = 2.0
TICK_MS = 500.0


@dataclass(frozen=True)
class Point:
    """One run, with where it stands in a figure."""

    scenario: str
    variant: str
    timing: str
    x: str
    algorithm: str
    seed: int
    metrics: Mapping[str, float]
    cwnd: Sequence[float | None]
    bin_s: float
    confidence: float


def points(folder: Path, profile: str, store: Store) -> tuple[list[Point], int]:
    """The runs of the paper's five scenarios that are on disk, and how many there should be."""
    files = [folder / f"scenario-{i}.toml" for i in range(1, 6)]
    done = sweep.stored(files, profile, store)
    out = []
    for run, result in done.finished():
        varied = [value for key, value in run.labels.items() if key != "variant"]
        x = " ".join(_condition(value) for value in varied)
        series = result["run"]["cwnd_over_time"]
        out.append(
            Point(
                run.document.name,
                str(run.labels.get("variant", "")),
                run.timing,
                x,
                run.algorithm,
                run.seed,
                result["run"]["metrics"],
                series["bytes"] or [],
                series["bin_s"],
                run.document.confidence,
            )
        )
    return out, len(done.runs)


def _condition(value: Any) -> str:
    return "-".join(f"{v:g}" for v in value) if isinstance(value, list) else str(value)


def _grouped(
    all_points: Sequence[Point], metric: str
) -> Iterator[tuple[tuple[str, ...], list[float], float]]:
    groups: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for p in all_points:
        if metric in p.metrics:
            groups[p.variant, p.timing, p.x, p.algorithm].append(p.metrics[metric])
    for key, values in groups.items():
        yield key, values, all_points[0].confidence


def figure_rows(figure: Figure, all_points: Sequence[Point]) -> list[Json]:
    rows = []
    for (variant, timing, x, algorithm), values, confidence in _grouped(all_points, figure.metric):
        mean, half = mean_interval([v * figure.scale for v in values], confidence)
        low, high = mean - (half or 0), mean + (half or 0)
        rows.append(
            {
                "variant": variant,
                "timing": timing,
                "x": x,
                "e": algorithm,
                "y": mean,
                "low": low,
                "high": high,
            }
        )
    return rows


def over_time_rows(all_points: Sequence[Point]) -> list[Json]:
    bins: dict[tuple[str, ...], list[float]] = defaultdict(list)
    width = 20.0
    for p in all_points:
        width = p.bin_s
        for i, value in enumerate(p.cwnd):
            if value is not None and p.algorithm in (BASE, LEARNED):
                bins[p.variant, p.timing, p.x, p.algorithm, str(i)].append(value)
    return [
        {"variant": v, "timing": t, "x": f"{x} flows", "e": e, "t": int(i) * width, "y": sum(y) / len(y)}
        for (v, t, x, e, i), y in bins.items()
    ]


def _colours(look: Mapping[str, Look]) -> Any:
    import altair as alt

    return alt.Color("e:N", title=None).scale(domain=list(look), range=[k.colour for k in look.values()])


def chart(figure: Figure, rows: Sequence[Json]) -> Json:
    import altair as alt

    look = looks(dict.fromkeys(r["e"] for r in rows))
    colour = _colours(look)
    dashes = [k.dash for k in look.values()]
    dash: Any = alt.StrokeDash("e:N", title=None).scale(domain=list(look), range=dashes)
    numeric = all(r["x"].isdigit() for r in rows)
    x: Any = (
        alt.X("x:Q", title="flows").scale(type="log", nice=False)
        if numeric
        else alt.X("x:N", title="speed, m/s", sort=None)
    )
    base = alt.Chart(
        alt.InlineData(values=[{**r, "x": int(r["x"]) if numeric else r["x"]} for r in rows])
    ).encode(x=x)
    lines = base.mark_line(point=True).encode(
        y=alt.Y("y:Q", title=figure.title), color=colour, strokeDash=dash
    )
    bars = base.mark_rule().encode(y="low:Q", y2="high:Q", color=colour)
    return _faceted(alt.layer(bars, lines).properties(width=220, height=150), figure)


def over_time_chart(figure: Figure, rows: Sequence[Json]) -> Json:
    import altair as alt

    look = looks(dict.fromkeys(r["e"] for r in rows))
    lines = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_line()
        .encode(
            x=alt.X("t:Q", title="time, s"),
            y=alt.Y("y:Q", title=figure.title),
            color=alt.Color("e:N", title=None).scale(
                domain=list(look), range=[k.colour for k in look.values()]
            ),
            strokeDash=alt.StrokeDash("x:N", title=None),
        )
        .properties(width=220, height=150)
    )
    return _faceted(alt.layer(lines), figure)


def _faceted(layers: Any, figure: Figure) -> Json:
    faceted = layers.facet(row="variant:N", column="timing:N")
    spec: Json = faceted.properties(title=f"Figure {figure.number}, scenario {figure.scenario}").to_dict()
    return spec


def comparison(all_points: Sequence[Point]) -> list[Json]:
    """The error of Jacobson's formula over the experts', paired by seed, for each condition."""
    values: dict[tuple[str, ...], dict[str, dict[int, Point]]] = defaultdict(lambda: defaultdict(dict))
    for p in all_points:
        if p.metrics.get("mean_error_ticks") is not None:
            values[p.scenario, p.variant, p.timing, p.x][p.algorithm][p.seed] = p
    rows = []
    for (scenario, variant, timing, x), by in values.items():
        both = sorted(by[BASE].keys() & by[LEARNED].keys())
        if not both:
            continue
        base, learned = ([by[a][s] for s in both] for a in (BASE, LEARNED))
        errors = [[p.metrics["mean_error_ticks"] for p in side] for side in (base, learned)]
        ratio = ratio_interval(errors[0], errors[1], base[0].confidence)
        rtt_ms = sum(p.metrics["mean_rtt_ms"] for p in base) / len(base)
        rows.append(
            {
                "scenario": scenario,
                "variant": variant,
                "timing": timing,
                "condition": x,
                "seeds": len(both),
                "jacobson_ticks": sum(errors[0]) / len(both),
                "experts_ticks": sum(errors[1]) / len(both),
                "ratio": ratio[0] if ratio else None,
                "low": ratio[1] if ratio else None,
                "high": ratio[2] if ratio else None,
                "rtt_ms": rtt_ms,
                "why": _why(ratio, rtt_ms, learned),
            }
        )
    return rows


def _why(ratio: tuple[float, float, float] | None, rtt_ms: float, learned: Sequence[Point]) -> str:
    """What the runs themselves show; not tested against another explanation."""
    if ratio is None:
        return "a run without any error: all its samples fell on one tick, so there is no ratio"
    if ratio[1] > 1:
        return "the experts are nearer"
    bias = sum(p.metrics["bias_ms"] for p in learned) / len(learned) / TICK_MS
    if rtt_ms < FEW_TICKS * TICK_MS:
        return (
            f"RTTs of {rtt_ms / TICK_MS:.1f} ticks, no expert is below 1; bias of experts {bias:+.2f} ticks"
        )
    return f"bias of experts {bias:+.2f} ticks"


def _printed(folder: Path) -> list[dict[str, str]]:
    with (folder / "published.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return "<table><tr>" + "".join(f"<th>{html.escape(h)}</th>" for h in head) + f"</tr>{cells}</table>"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def page(folder: Path, rows: Sequence[Json], pictures: Mapping[int, str], told: str) -> str:
    printed = _printed(folder)
    paper = _table(
        ("figure", "scenario", "metric", "condition", "algorithm", "printed", "unit", "text"),
        [
            [
                p[k]
                for k in ("figure", "scenario", "metric", "condition", "algorithm", "value", "unit", "note")
            ]
            for p in printed
        ],
    )
    target = {p["scenario"]: p["value"] for p in printed if p["algorithm"] == "jacobson/experts"}
    target["IV"] = "2 to 3"
    ours = _table(
        (
            "scenario",
            "variant",
            "timing",
            "load",
            "seeds",
            "jacobson, ticks",
            "experts, ticks",
            "ratio",
            "interval",
            "paper",
            "why",
        ),
        [
            [
                r["scenario"],
                r["variant"],
                r["timing"],
                r["condition"],
                str(r["seeds"]),
                _number(r["jacobson_ticks"]),
                _number(r["experts_ticks"]),
                _number(r["ratio"]),
                f"{_number(r['low'])} to {_number(r['high'])}" if r["seeds"] > 1 else "one seed",
                target.get(r["scenario"], "-"),
                r["why"],
            ]
            for r in rows
        ],
    )
    drawn = "".join(f"<section>{svg}</section>" for _, svg in sorted(pictures.items()))
    style = (
        "body{font:14px system-ui,sans-serif;margin:2em;max-width:1300px}"
        "td,th{padding:2px 10px 2px 0;text-align:left}"
        "table{border-collapse:collapse}tr{border-bottom:1px solid #ddd}"
    )
    return (
        f'<!doctype html><meta charset="utf-8"><title>nunes2014</title><style>{style}</style>'
        f"<h1>nunes2014: printed and ours</h1><p>{html.escape(told)}</p>"
        f"<h2>Error of {BASE} over that of {LEARNED}</h2><p>Above 1 the experts are nearer. Geometric mean "
        f"of the ratios of runs with the same seed.</p>{ours}<h2>What the paper's text prints</h2>{paper}"
        f"<h2>Figures</h2>{drawn}"
    )


def write(folder: Path, profile: str, store: Store, out: Path) -> str:
    """Draws what there are runs for; answers one line about it."""
    import vl_convert

    found, planned = points(folder, profile, store)
    if not found:
        files = printable(folder / "scenario-?.toml")
        raise UserError(f"no runs of profile {profile}; first: tcplearn simulate {files} --profile {profile}")
    make_directory(out)
    pictures: dict[int, str] = {}
    for figure in FIGURES:
        rows = figure_rows(figure, [p for p in found if p.scenario == figure.scenario])
        if rows:
            pictures[figure.number] = _draw(vl_convert, chart(figure, rows), out, figure.number)
    rows = over_time_rows([p for p in found if p.scenario == "I" and p.x in ("3", "34", "130")])
    if rows:
        figure = Figure(OVER_TIME, "I", "cwnd_bytes", _CWND)
        pictures[OVER_TIME] = _draw(vl_convert, over_time_chart(figure, rows), out, OVER_TIME)
    compared = comparison(found)
    told = f"{len(found)} of {planned} runs of profile {profile}, {len(pictures)} figures"
    write_atomically(out / "index.html", page(folder, compared, pictures, told))
    head = list(compared[0]) if compared else []
    lines = [",".join(head), *(",".join(_quoted(r[k]) for k in head) for r in compared)]
    write_atomically(out / "comparison.csv", "\n".join(lines) + "\n")
    return f"{told}: {printable(out / 'index.html')}"


def _quoted(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _draw(converter: Any, spec: Json, out: Path, number: int) -> str:
    svg: str = converter.vegalite_to_svg(spec, allowed_base_urls=[])
    png: bytes = converter.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    write_atomically(out / f"figure-{number:02}.svg", svg)
    write_atomically(out / f"figure-{number:02}.png", png)
    return svg
