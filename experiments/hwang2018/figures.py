# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws figures 5 to 9 of the paper hwang2018 (goodput and cwnd under random loss) from our runs in ns-3, and
figures of our runs on Linux in the lab."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.hwang2018.sample import Sample, name_of
from experiments.lib.pages import Figure
from tcplearn.losses import CAUSES, CONGESTION, RANDOM

Json = dict[str, Any]

COLOURS = {
    "newreno": "#882255", "veno-5": "#ddaa33", "veno+none": "#ddaa33", "ml-hwang2018": "#0077bb",
    "ml-wide": "#009988", "ml-adaptive": "#66ccee", "ml-history": "#ee7733", "oracle": "#111111",
    "westwood": "#999933", "westwood-linux": "#ddcc77",
    "vegas": "#aa4499", "vegas+none": "#aa4499", "vegas-linux": "#ee99aa", "bbr": "#332288",
    "cubic": "#cc6677",
    "cubic+mlp/hwang2018": "#88ccee", "cubic+mlp": "#117733",
    "cubic+adaptive": "#44aa99",
}  # fmt: skip
NAMED = {name_of(sender): colour for sender, colour in COLOURS.items()}
PAPERS = ("newreno", "veno-5", "ml-hwang2018", "ml-wide", "ml-history", "oracle")
OTHERS = ("newreno", "westwood", "westwood-linux", "vegas", "vegas-linux", "cubic", "bbr", "oracle")
BY_RTT = ("newreno", "veno-5", "westwood", "ml-hwang2018", "ml-history", "oracle")
BESIDE_UDP = ("newreno", "veno-5", "westwood", "cubic", "bbr", "ml-hwang2018", "ml-history", "oracle")
#: Figure 6 of the paper, cwnd over time: the senders, the loss rate, and the drawn seconds of the first run.
OVER_TIME, OVER_TIME_AT, WINDOW_S = ("newreno", "veno-5", "ml-hwang2018"), 1e-2, (40, 100)
MARKS = {RANDOM: "random: window kept", CONGESTION: "congestion: window reduced"}


def simulated(found: Sample, printed: Mapping[str, tuple[float, float]]) -> Iterator[Figure]:
    """Yields those of the figures 5 to 9 of hwang2018 for which `found` has runs in ns-3. `printed` has, for
    each sender, a loss rate and the paper's goodput at this rate divided by that without loss."""
    five = found.at(scenario="5")
    for file, senders, who in (
        ("05", PAPERS, "NewReno, Veno and ML-TCP"),
        ("05-others", OTHERS, "other congestion controls"),
    ):
        lossless = {name: five.at(name, loss_rate=0.0).mean("goodput_mbps") for name in senders}
        points = [
            {"x": f"{rate:g}", "y": share * lossless[name].value, "sender": name_of(name)}
            for name, (rate, share) in printed.items()
            if lossless.get(name)
        ]
        title = f"Figure 5: goodput by random loss rate, {who}"
        yield from _lines(f"figure-{file}", title, five, "loss_rate", senders, "loss rate", printed=points)
    yield from _over_time(five.at(loss_rate=OVER_TIME_AT))
    seven, nine = (found.at(scenario=name, loss_rate=1e-2) for name in ("7", "9"))
    title = "Figure 7: goodput by RTT at a random loss rate of 0.01"
    yield from _lines("figure-07", title, seven, "rtt_ms", BY_RTT, "RTT, ms")
    title = "Figure 8: goodput over that at an RTT of 30 ms, at a random loss rate of 0.01"
    yield from _lines("figure-08", title, seven, "rtt_ms", BY_RTT, "RTT, ms", over=30.0)
    title = "Figure 9: goodput beside UDP traffic at a random loss rate of 0.01"
    yield from _lines("figure-09", title, nine, "udp_share", BESIDE_UDP, "UDP's share of 5 Mbit/s")


def lab(found: Sample) -> Iterator[Figure]:
    """Yields a chart of goodput against the random loss rate in the lab for the senders based on NewReno and
    one for those based on CUBIC, each with other senders for comparison."""
    for file, of, base, others in (
        ("lab-figure-05", "ML-TCP over NewReno", "reno", ("veno", "westwood", "vegas", "bbr")),
        ("lab-figure-05-cubic", "ML-TCP over CUBIC", "cubic", ("bbr",)),
    ):
        title = f"Goodput by random loss rate, {of} and others"
        plain = [f"{other}+none" for other in others]
        senders = [name for name in found.senders() if name.startswith(f"{base}+") or name in plain]
        yield from _lines(file, title, found, "loss_rate", senders, "loss rate")


def _colour(rows: Sequence[Json]) -> Any:
    import altair as alt

    there = {row["sender"] for row in rows}
    known = {name: colour for name, colour in NAMED.items() if name in there}
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=300)
    return alt.Color("sender:N", legend=legend).scale(domain=list(known), range=list(known.values()))


def _lines(
    file: str, title: str, found: Sample, key: str, senders: Sequence[str], x_title: str,
    *, over: float | None = None, printed: Sequence[Json] = (),
) -> Iterator[Figure]:  # fmt: skip
    """Yields a chart of the senders' goodput against the label `key` of the runs, such as `loss_rate`,
    divided by that where the label has the value `over` if this is given. `printed` are points of the
    paper."""
    import altair as alt

    rows: list[Json] = []
    for x, sender in itertools.product(sorted({run.labels[key] for run in found}), senders):
        own, base = (found.at(sender, **{key: value}) for value in (x, over))
        if of := own.mean("goodput_mbps") if over is None else own.over(base, "goodput_mbps"):
            low, high = (of.value if math.isnan(end) else end for end in (of.low, of.high))
            row = {"x": f"{x:g}", "sender": name_of(sender), "y": of.value}
            rows.append({**row, "low": max(0.0, low), "high": high})
    if not rows:
        return
    order = list(dict.fromkeys(row["x"] for row in rows))
    at = alt.X("x:N", title=x_title, sort=order, axis=alt.Axis(labelAngle=0))
    y_title = "goodput, Mbit/s" if over is None else "ratio"
    chart = alt.Chart(alt.InlineData(values=rows)).encode(x=at, color=_colour(rows))
    layers: list[Any] = [
        chart.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q"),
        chart.mark_line(point=True).encode(y=alt.Y("y:Q", title=y_title).scale(zero=True)),
    ]
    if printed:
        title += " (diamonds: paper)"
        points = alt.Chart(alt.InlineData(values=list(printed))).mark_point(shape="diamond", size=110)
        layers.append(points.encode(x=at, y="y:Q", color=_colour(rows)))
    yield _figure(file, title, alt.layer(*layers).properties(width=420, height=260))


def _over_time(found: Sample) -> Iterator[Figure]:
    import altair as alt

    rows = [
        {"t": second + 0.5, "y": value / 1e3, "sender": name_of(name)}
        for name in OVER_TIME
        for run in sorted(found.at(name), key=lambda run: run.run)[:1]
        for second, value in enumerate(run.series.get("cwnd_bytes", ()))
        if value == value and WINDOW_S[0] <= second < WINDOW_S[1]
    ]
    if not rows:
        return
    chart = alt.Chart(alt.InlineData(values=rows)).mark_line()
    x = alt.X("t:Q", title="time, s").scale(zero=False)
    chart = chart.encode(x=x, y=alt.Y("y:Q", title="cwnd, kB, mean over a second"), color=_colour(rows))
    title = "Figure 6: cwnd over time at a random loss rate of 0.01"
    yield _figure("figure-06", title, chart.properties(width=420, height=260))


def windows(found: Sample) -> Iterator[Figure]:
    """Yields a chart of cwnd over time in each sender's first run, with the classifier's decisions."""
    import altair as alt

    panels = []
    x, y = alt.X("t:Q", title="time, s"), alt.Y("y:Q", title="cwnd, segments")
    said = alt.Color("said:N", legend=alt.Legend(title=None, orient="bottom"))
    said = said.scale(domain=list(MARKS.values()), range=["#009988", "#cc3311"])
    for name, runs in found.senders().items():
        of = min(runs, key=lambda run: run.run).series
        if "ack_s" not in of:
            continue
        acks, losses = (
            [{"t": t, "y": w} for t, w in zip(of[f"{what}_s"], of[f"{what}_cwnd"], strict=True)]
            for what in ("ack", "loss")
        )
        for loss, cause in zip(losses, of["loss_cause"], strict=True):
            loss["said"] = MARKS[CAUSES[int(cause)]]
        line, points = (alt.Chart(alt.InlineData(values=values)) for values in (acks, losses))
        layers = (
            line.mark_line(strokeWidth=1, color="#4477aa").encode(x=x, y=y),
            points.mark_point(filled=True, size=40).encode(x=x, y=y, color=said),
        )
        panel = alt.Title(name_of(name), anchor="start", fontSize=12)
        panels.append(alt.layer(*layers).properties(width=330, height=150, title=panel))
    if panels:
        title = "cwnd and decisions in one run at a random loss rate of 0.01"
        yield _figure("lab-windows", title, alt.concat(*panels, columns=2))


def _figure(file: str, title: str, chart: Any) -> Figure:
    import altair as alt

    # the program that draws legends measures them a little too narrow
    room = {"left": 5, "top": 5, "right": 30, "bottom": 5}
    chart = chart.properties(title=alt.Title(title, anchor="start", fontSize=14), padding=room)
    return Figure(f"figures/{file}.svg", title, chart.configure_view(stroke="#ddd").to_dict())
