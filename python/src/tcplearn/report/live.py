# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the page of `tcplearn live report`: how much time learned RTO floors saved against a control group of
connections, and the decisions of the guard, which limits how many connections get floors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from tcplearn import provenance
from tcplearn.live import report as live_report
from tcplearn.live.effect import Effect, Mean, boundary
from tcplearn.report import charts
from tcplearn.report.page import Page


def write(sessions: Sequence[dict[str, Any]], to: Path) -> None:
    """Write the page on `sessions` of `tcplearn live` to the HTML file `to`. Raise UserError."""
    page(sessions).write(to, None)


def page(sessions: Sequence[dict[str, Any]]) -> Page:
    made_by = provenance.made_by()
    out = Page("tcplearn live", made_by.get("version", ""))
    said = live_report.lines(sessions)
    out.head(
        "What learned floors were worth",
        "Connections with learned floors against a control group of the same time. The intervals may be "
        "looked at any time. How they are made is in tcplearn's documentation, `docs/live-guard.md`.",
        [" ".join(line.split()) for line in said],
    )
    if effect := live_report.effect_of(sessions):
        out.picture("lossy-rounds", _chart(effect), "Mean time of a round in which a packet was lost.")
    journal = [
        f"{session['host']}: {entry['text']}"
        for session in sessions
        if session["guard"]
        for entry in session["guard"]["journal"]
    ]
    out.notes(journal, "of the guard's decisions")
    out.facts(made_by)
    return out


def _chart(effect: Effect) -> dict[str, Any]:
    rows = [_row("stock", effect.control), _row("learned floors", effect.ours)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=alt.Y("timer:N", title=None, sort=None))
    bars = base.mark_bar(color="#0072b2", height=18).encode(x=alt.X("ms:Q", title="ms"))
    spans = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q")
    return charts.finished((bars + spans).properties(width=420, height=80))


def _row(timer: str, mean: Mean) -> dict[str, Any]:
    wide = boundary(mean.rounds) * mean.variance**0.5
    return {"timer": timer, "ms": mean.ms, "low": max(0.0, mean.ms - wide), "high": mean.ms + wide}
