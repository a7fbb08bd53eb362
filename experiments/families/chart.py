# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws the slowest 2 % of response times relative to stock's, by family and timer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from experiments.families.draw import FAMILIES
from experiments.families.logs import SLOW, Drawing, Paths
from experiments.lib.statistics import interval

Spec = dict[str, Any]


def by_family(kept: Paths, drawing: Drawing, timers: Sequence[str], titles: Mapping[str, str]) -> Spec:
    rows = []
    for family in kept.families():
        for timer in timers:
            value, drawn = drawing.over_stock(timer, SLOW, family)
            low, high = interval(drawn)
            rows.append(
                {
                    "family": FAMILIES[family][0],
                    "timer": titles.get(timer, timer),
                    "x": value,
                    "a": low,
                    "b": high,
                }
            )
    names = [titles.get(timer, timer) for timer in timers]
    x = alt.X("x:Q", title="slowest 2 % of response times, × stock").scale(type="log", nice=False)
    y = alt.Y("timer:N", title=None, sort=names)
    color = alt.Color("timer:N", sort=names, legend=None)
    base = alt.Chart(alt.InlineData(values=rows))
    drawn_rows = alt.layer(
        base.mark_rule().encode(x=alt.X("a:Q"), x2="b:Q", y=y, color=color),
        base.mark_point(filled=True, size=40).encode(x=x, y=y, color=color),
        alt.Chart(alt.InlineData(values=[{"x": 1}]))
        .mark_rule(strokeDash=[3, 3], color="gray")
        .encode(x="x:Q"),
    ).properties(width=230, height=120)
    order: list[str] = [FAMILIES[family][0] for family in kept.families()]
    facet = alt.Facet("family:N", title=None, sort=order)
    return dict(drawn_rows.facet(facet, columns=3).to_dict())
