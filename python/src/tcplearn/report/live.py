# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the page of `tcplearn live report`: how much time learned minimum RTOs saved, compared with a control
group of connections, and the decisions of the guard, which limits how many connections get learned minimum
RTOs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from tcplearn import provenance
from tcplearn.live import report as live_report
from tcplearn.live.by_place import AtPlace, by_place
from tcplearn.live.effect import Effect, Mean, boundary
from tcplearn.live.report import NOTHING, span
from tcplearn.output.numbers import local_time
from tcplearn.output.table import Cell, Column, Table
from tcplearn.report import charts
from tcplearn.report.page import Page

_ABOUT = (
    "A floor is the least time that Linux's retransmission timer adds to the round-trip time: 200 ms, or "
    "less if `tcplearn live` has learned it. Connections with learned floors are compared with a control "
    "group of the same time, which has Linux's own timer. A round is a request and its answer, or a flight "
    "of segments and its ACK. In parentheses are 95 % intervals, which hold however often the page is made; "
    "`docs/live-guard.md` of tcplearn says how they are computed."
)
_CAPTION = "Mean time of a round in which a packet was lost, and its interval. Shorter is better."
#: What the page calls the lines of the report on the screen.
_FACTS = {"hosts": "hosts", "time": "time", "connections": "connections", "places": "destination prefixes"}


def write(sessions: Sequence[dict[str, Any]], to: Path) -> None:
    """Write the page on `sessions` of `tcplearn live` to the HTML file `to`. Raise UserError."""
    page(sessions).write(to, None)


def page(sessions: Sequence[dict[str, Any]]) -> Page:
    made_by = provenance.made_by()
    out = Page("tcplearn live", made_by.get("version", ""))
    acting = live_report.acting_of(sessions)
    effect = live_report.effect_of(acting)
    out.head("What learned floors were worth", _ABOUT, [*_gained(effect), *_cost(acting)])
    if effect:
        out.picture("lossy-rounds", _chart(effect), _CAPTION)
    if acting:
        out.facts({}, _spoken(acting))
    if places := by_place(acting):
        out.folded(_table(places), {}, f"By destination prefix: {len(places)} with enough rounds")
    journal = [
        f"{session['host']}, {local_time(entry['at_s'])}: {entry['text']}"
        for session in acting
        if session["guard"]
        for entry in session["guard"]["journal"]
    ]
    out.notes(journal, "of the guard's decisions")
    out.facts(made_by)
    return out


def _gained(effect: Effect | None) -> Iterator[str]:
    if not effect:
        yield "Too few rounds have lost a packet: nothing can be told yet about the time that was saved."
        return
    yield (
        f"A round in which a packet was lost took {effect.ours.ms:.0f} ms with learned floors and "
        f"{effect.control.ms:.0f} ms with Linux's own timer: {span(effect.less_ms, 0)} ms less."
    )
    saved = f"{span(effect.saved_s(), 0)} s"
    if effect.is_sure:
        yield f"In {effect.ours.rounds:,} such rounds this saved {saved} of waiting."
    else:
        yield f"The interval includes no difference, so {NOTHING} about the time that was saved."
        yield f"The estimate of the waiting that was saved in {effect.ours.rounds:,} such rounds is {saved}."


def _cost(sessions: Sequence[dict[str, Any]]) -> Iterator[str]:
    ours, control = (live_report.spurious_of(sessions, arm) for arm in ("ours", "control"))
    if not ours:
        return
    text = f"Of 1,000 rounds with learned floors {span(ours, 2)} had a spurious retransmission"
    if control:
        yield f"{text}, and of 1,000 with Linux's own timer {span(control, 2)}."
    else:
        yield f"{text}. There was no round with Linux's own timer, so {NOTHING} about what floors cost."


def _spoken(sessions: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return, by name, the facts about `sessions` that are in no sentence of the page."""
    facts = {_FACTS[name]: said for name, said in live_report.summed(sessions) if name in _FACTS}
    for session in sessions:
        if session["guard"]:
            name = f"guard of {session['host']}, cgroup {session['cgroup']}"
            facts[name] = f"learned floors for {100 * session['guard']['share']:.2g} % of the new connections"
    return facts


def _table(places: Sequence[AtPlace]) -> Table:
    columns = (
        Column("destination prefix", words=True),
        Column("rounds with floors"),
        Column("spurious in 1,000 of them"),
        Column("spurious in 1,000 with the kernel's timer"),
        Column("lossy rounds with floors"),
        Column("ms less each"),
    )
    return Table(columns, [_cells(of) for of in places])


def _cells(of: AtPlace) -> list[Cell]:
    lossy, less = (of.effect.ours.rounds, of.effect.less_ms) if of.effect else (None, None)
    return [
        Cell(of.place, of.place),
        Cell(f"{of.rounds:,}", of.rounds),
        *(Cell(span(one, 1) if one else "-", one.value if one else None) for one in (of.ours, of.control)),
        Cell(f"{lossy:,}" if lossy else "too few", lossy),
        Cell(span(less, 0) if less else "-", less.value if less else None),
    ]


def _chart(effect: Effect) -> dict[str, Any]:
    rows = [_row("Linux's own timer", effect.control), _row("learned floors", effect.ours)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=alt.Y("timer:N", title=None, sort=None))
    bars = base.mark_bar(color="#0072b2", height=18).encode(x=alt.X("ms:Q", title="ms").axis(tickCount=6))
    spans = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q")
    return charts.finished((bars + spans).properties(width=420, height=80))


def _row(timer: str, mean: Mean) -> dict[str, Any]:
    wide = boundary(mean.rounds) * mean.variance**0.5
    return {"timer": timer, "ms": mean.ms, "low": max(0.0, mean.ms - wide), "high": mean.ms + wide}
