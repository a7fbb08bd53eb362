# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a chart of the mean of the slowest 2 % of the response times relative to that under stock Linux's
timer, for each family of paths and each timer."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from experiments.families.draw import FAMILIES
from experiments.families.logs import LIMITS, SLOW, Drawing, Paths
from experiments.lib.statistics import interval

Spec = dict[str, Any]
#: Colours of our timers, of the limits that no timer can reach, and of others.
COLORS = {"ours": "#0072b2", "limit": "#d55e00", "": "#6b6b6b"}


def by_family(kept: Paths, drawing: Drawing, timers: Sequence[str], titles: Mapping[str, str]) -> Spec:
    rows = []
    order = {family: "\n".join(textwrap.wrap(FAMILIES[family][0], 36)) for family in kept.families()}
    for family in kept.families():
        for timer in timers:
            value, drawn = drawing.over_stock(timer, SLOW, family)
            low, high = interval(drawn)
            rows.append(
                {
                    "family": order[family],
                    "timer": titles.get(timer, timer),
                    "x": value,
                    "a": low,
                    "b": high,
                }
            )
    names = [titles.get(timer, timer) for timer in timers]
    x = alt.X("x:Q", title="slowest 2 %, × stock").scale(type="log", nice=False)
    x = x.axis(values=[0.03, 0.1, 0.3, 1, 3, 10], format="~g")
    y = alt.Y("timer:N", title=None, sort=names).axis(labelLimit=250)
    kinds = ["ours" if timer.startswith("priced") else "limit" if timer in LIMITS else "" for timer in timers]
    color = alt.Color("timer:N", legend=None).scale(domain=names, range=[COLORS[kind] for kind in kinds])
    marks = alt.Chart()
    layers = alt.layer(
        marks.mark_rule().encode(x=alt.X("a:Q"), x2="b:Q", y=y, color=color),
        marks.mark_point(filled=True, size=40).encode(x=x, y=y, color=color),
        marks.mark_rule(strokeDash=[3, 3], color="gray").encode(x=alt.XDatum(1)),
        data=alt.InlineData(values=rows),
    ).properties(width=230, height=120)
    header = alt.Header(labelExpr="split(datum.label, '\\n')", labelLineHeight=13)
    facet = alt.Facet("family:N", title=None, sort=[*order.values()], header=header)
    return dict(layers.facet(facet, columns=3).properties(padding={"left": 40}).to_dict())
