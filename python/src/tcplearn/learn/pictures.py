# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draw a loss classifier's calibration and the importance of its features."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt

from tcplearn.learn import scores
from tcplearn.learn.trials import Outcome
from tcplearn.report.charts import SQUARE_HEIGHT, SQUARE_WIDTH, Spec, finished, heading
from tcplearn.report.page import write_stills
from tcplearn.report.palette import FAMILIES, SAMPLE

_COLOUR = FAMILIES["conformal"]


def _chart(rows: Sequence[Mapping[str, object]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=list(rows)))


def calibration(outcome: Outcome) -> Spec:
    """Return a chart of the share of congestion among the losses in `outcome`, by predicted probability of
    congestion."""
    found = scores.bins(outcome.data.congested, outcome.score)
    points = [{"p": p, "share": share, "rows": rows} for p, share, rows in found]
    line = _chart([{"p": 0, "share": 0}, {"p": 1, "share": 1}]).mark_line(color=SAMPLE)
    dots = _chart(points).mark_line(color=_COLOUR, point={"filled": True, "size": 60})
    x = alt.X("p:Q", title="probability of congestion that the model gives").scale(domain=[0, 1])
    y = alt.Y("share:Q", title="losses that were congestion").scale(domain=[0, 1])
    error = outcome.calibration_error or 0.0
    return finished(
        (line.encode(x=x, y=y) + dots.encode(x=x, y=y)).properties(
            width=SQUARE_WIDTH,
            height=SQUARE_HEIGHT,
            title=heading("Calibration", f"scenarios held out; expected calibration error {error:.3f}"),
        )
    )


def importances(falls: Mapping[str, float]) -> Spec:
    names = sorted(falls, key=lambda name: -falls[name])
    rows = [{"feature": name, "fall": falls[name]} for name in names]
    return finished(
        _chart(rows)
        .mark_bar(color=_COLOUR)
        .encode(
            y=alt.Y("feature:N", sort=names, title=None),
            x=alt.X("fall:Q", title="fall of the balanced accuracy when it is shuffled"),
        )
        .properties(
            width=SQUARE_WIDTH, title=heading("Importance of each feature", "permutation, scenarios held out")
        )
    )


def write(outcome: Outcome, falls: Mapping[str, float], stem: str, folder: Path) -> list[Path]:
    named = ((f"{stem}-calibration", calibration(outcome)), (f"{stem}-importances", importances(falls)))
    return write_stills(named, folder)
