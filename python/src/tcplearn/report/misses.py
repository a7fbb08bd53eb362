# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Show misses (RTT samples that exceed the RTO) and timeouts by flow. With one segment in flight every miss
is a timeout. With many in flight hardly any miss becomes a timeout, because each ACK restarts the timer."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from tcplearn.errors import printable
from tcplearn.output.numbers import counted, hundredths
from tcplearn.output.table import Cell, Table, count, headed, rate, text
from tcplearn.replay.results import KEPT, MISSES_LEAST, Replay
from tcplearn.replay.row import Row
from tcplearn.replay.tables import flows
from tcplearn.report import charts, data
from tcplearn.report.summary import BASELINE

ABOUT = (
    "A timer with a chosen miss rate counts samples above the RTO in force just before them. This is not "
    "how often it fires: each ACK restarts it, so in a bulk flow the segments of a flight wait behind one "
    "another and few misses become timeouts. With one segment in flight every miss is a timeout, unless the "
    "sender has tail loss probes: then a probe is sent first. When a segment is sent the RTO in force is a "
    "flight older, and more samples outlast that one."
)

#: The events that are counted, as shares of all samples.
BEFORE, SEND = "above the RTO just before them", "above the RTO at the time of sending"
TIMEOUTS, PROBED = "spurious timeouts", "with tail loss probes"
_MARKS = {  # colour, shape, and horizontal offset (a factor) from the flow's other marks
    BEFORE: ("#0072b2", "circle", 0.93),
    SEND: ("#8a9099", "triangle-up", 0.977),
    TIMEOUTS: ("#d55e00", "cross", 1.024),
    PROBED: ("#e69f00", "diamond", 1.07),
}


def judged(replay: Replay) -> list[list[Row]]:
    """Return the rows of each flow with enough samples to be judged, the one with the most samples first."""
    groups = [rows for rows in flows(replay.rows).values() if any(r.judged for r in rows)]
    return sorted(groups, key=lambda rows: -rows[0].samples)


def timers(rows: Iterable[Row]) -> list[str]:
    """Return the names of the estimators in `rows` for which a miss rate was requested."""
    return list(dict.fromkeys(r.estimator for r in rows if r["rto_miss_rate_requested"]))


def file(number: int) -> str:
    """Return the file name, without suffix, of the picture with number `number`."""
    return "total-misses" + (f"-{number + 1}" if number else "")


def shares(row: Row) -> dict[str, float | None]:
    of = max(row.samples, 1)
    return {
        BEFORE: row["rto_miss_rate_before"],
        SEND: row["rto_miss_rate"],
        TIMEOUTS: (row["spurious_timeouts"] or 0) / of,
        PROBED: (row["spurious_timeouts_tlp"] or 0) / of,
    }


def sentence(row: Row) -> str:
    """Return sentences that compare the achieved miss rate in `row` with the requested one."""
    requested, known = row["rto_miss_rate_requested"] or 0.0, shares(row)
    before, send = known[BEFORE] or 0.0, known[SEND] or 0.0
    expected = requested * row.samples
    if expected < MISSES_LEAST:
        verdict = "too few to tell whether the rate is kept"
    elif KEPT[0] * requested <= before <= KEPT[1] * requested:
        verdict = "the rate is kept"
    else:
        verdict = "too often" if before > requested else "more seldom than requested"
    times = int(row["spurious_timeouts"] or 0)
    fired = f"It would have had {counted(times, 'spurious timeout') if times else 'no spurious timeout'}."
    return (
        f"A miss rate of {hundredths(requested)} % was requested of {row.estimator}. In {row.flow}, with "
        f"{row['mean_flight_segments'] or 1:.3g} segments in flight, {before * row.samples:,.0f} of "
        f"{row.samples:,} samples ({hundredths(before)} %; {expected:,.0f} expected) outlasted the RTO in "
        f"force just before them: {verdict}. {hundredths(send)} % outlasted the RTO at the time of sending. "
        f"{fired}"
    )


def table(groups: Sequence[Sequence[Row]], labels: Sequence[str], most: int) -> Table:
    """Return the misses and timeouts of the timers in `labels` and of `jacobson` in at most `most` flows."""
    heads = ("flow", "timer", "samples", "in flight", "just before", "at send", "timeouts", "with TLP")
    out = Table(headed(*heads, words=(0, 1)), title="Misses and timeouts, % of samples")
    for rows in groups[:most]:
        for row in rows:
            if row.estimator in (*labels, BASELINE):
                flight = row["mean_flight_segments"]
                cells = [text(row.flow), text(row.estimator), count(row.samples)]
                cells.append(Cell() if flight is None else Cell(f"{flight:.3g}", flight))
                out.rows.append([*cells, *map(rate, shares(row).values())])
    if len(groups) > most:
        out.legend = f"{len(groups) - most:,} more flows: --format csv lists them."
    return out


def points(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return marks for each flow, as shares of its samples: those above the RTO just before them, those above
    the RTO at the time of sending, and spurious timeouts without and with tail loss probes. A share of 0 is
    drawn at a lower limit."""
    floor = data.miss_floor(rows)
    return [
        {
            "flow": printable(row.flow),
            "x": data.rounded((row["mean_flight_segments"] or 0.0) * _MARKS[kind][2]),
            "flight": data.rounded(row["mean_flight_segments"] or 0.0),
            "y": data.rounded(max(share * 100, floor)),
            "share": data.rounded(share * 100),
            "kind": kind,
        }
        for row in rows
        for kind, share in shares(row).items()
        if share is not None
    ]


def chart(groups: Sequence[Sequence[Row]], label: str) -> dict[str, Any] | None:
    """Return the chart of misses and timeouts of the timer `label` against segments in flight, or None
    without data. A dashed line shows the requested miss rate. Both axes are logarithmic."""
    rows = [r for rows in groups for r in rows if r.estimator == label and r["mean_flight_segments"]]
    marks = points(rows)
    if not marks:
        return None
    floor, requested = data.miss_floor(rows), (rows[0]["rto_miss_rate_requested"] or 0.0) * 100
    xs = [p["x"] for p in marks]
    x_domain = [min(1.0, *xs) / 1.3, max(10.0, *xs) * 1.3]
    y_domain = [min(floor, requested) / 1.8, max(requested, *(p["y"] for p in marks)) * 2]

    def across(field: str) -> alt.X:
        return alt.X(field, title="segments in flight, mean").scale(type="log", domain=x_domain, nice=False)

    y = alt.Y("y:Q", title="% of samples").scale(type="log", domain=y_domain, nice=False)
    kinds, (colours, shapes, _) = list(_MARKS), zip(*_MARKS.values(), strict=True)
    legend = alt.Legend(title=None, orient="top", columns=2, labelLimit=300)
    tooltip = charts.tooltips(
        {"flow:N": "flow", "kind:N": "share", "share:Q": "% of samples", "flight:Q": "in flight"}
    )
    base = alt.Chart(alt.NamedData("marks"))
    layers = [
        alt.Chart(alt.NamedData("requested")).mark_rule(color="#0072b2", strokeDash=[4, 3]).encode(y=y),
        base.mark_rule(color="#d9dde2").encode(
            x=across("flight:Q"), y="min(y):Q", y2="max(y):Q", detail="flow:N"
        ),
        base.mark_point(filled=True, size=80 if len(rows) < 20 else 35, opacity=0.9).encode(
            x=across("x:Q").axis(format=".6~g", values=charts.ticks(x_domain)),
            y=y.axis(
                values=[floor, *(v for v in charts.ticks(y_domain) if v > 2 * floor)],
                labelExpr=f"datum.value < {floor * 1.5} ? 'none' : format(datum.value, '.6~g')",
            ),
            color=alt.Color("kind:N", legend=legend).scale(domain=kinds, range=list(colours)),
            shape=alt.Shape("kind:N", legend=legend).scale(domain=kinds, range=list(shapes)),
            tooltip=tooltip,
        ),
    ]
    hint = "dashed: the rate requested; the marks side by side are a flow's"
    size = {"width": charts.WIDTH // 2 + 80, "height": charts.SQUARE_HEIGHT}
    title = charts.heading(f"{label}: misses and timeouts", hint)
    spec = charts.finished(alt.layer(*layers).properties(**size, title=title))
    spec["datasets"] = {"marks": marks, "requested": [{"y": requested}]}
    return spec
