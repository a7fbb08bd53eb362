# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes causes.md: how often `tcplearn explain` names the true cause of a stall (a wait of a connection)."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from experiments.lib.batches import Batch, Figures, LabRuns
from experiments.lib.pages import Figure, scenarios
from experiments.lib.runs import Run, grouped
from experiments.stalls import packets, score
from experiments.stalls.score import NONE
from tcplearn.explain.causes import CAUSES, WORDS
from tcplearn.output.markdown import table_of

FILE = "conditions.toml"
#: Capture points, relative to the sender: the end whose data or whose time the stall concerns.
PLACES = ("sender", "middle", "receiver")
#: The causes. The file of runs stores a cause as its index in this list.
NAMES = (*CAUSES, NONE)
#: The criteria: the least shares of correct causes, by capture point and for captures without SACK or
#: timestamps; and the largest error of a duration that counts as close.
LEAST = {"sender": 0.97, "middle": 0.90, "receiver": 0.90}
LEAST_WITHOUT_OPTIONS, CLOSE_MS = 0.85, 5.0
WITHOUT_OPTIONS = ("no-options", "no-timestamps")


def conditions(folder: Path) -> list[str]:
    return list(tomllib.loads((folder / FILE).read_text())["profiles"])


def batches(folder: Path, profile: str) -> list[Batch]:
    folder = scenarios(folder, "experiments", "stalls")
    wanted = [profile] if profile else [name for name in conditions(folder) if name != "smoke"]
    return [LabRuns(folder / FILE, name, keep) for name in wanted]


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of a run: series with the true cause and duration of each stall, and with the
    cause and duration that `tcplearn explain` names."""
    sizes = chosen.transfer.bytes, chosen.transfer.talks.answer_bytes
    true = score.true_of(folder.parent, *sizes)
    rows: dict[str, list[tuple[float, ...]]] = {place: [] for place in PLACES}
    for k, place in enumerate(score.CAPTURES):
        file = score.capture_of(folder.parent, place)
        for v in score.verdicts(true, score.said_of(file, packets.begins_us(file)), place):
            numbers = (NAMES.index(v.true), NAMES.index(v.said))
            row = (*numbers, v.true_ms, v.said_ms, float(v.counts))
            rows[PLACES[k if v.stall.by == "client" else -1 - k]].append(row)
    series: dict[str, Any] = {}
    for place, each in rows.items():
        columns = np.array(each, float).reshape(-1, len(_COLUMNS)).T
        series |= {f"{place}.{name}": column for name, column in zip(_COLUMNS, columns, strict=True)}
    return {"stalls": float(len(true))}, series


_COLUMNS = ("true", "said", "true_ms", "said_ms", "counts")


@dataclass(frozen=True)
class Tally:
    """Counts of the stalls of some runs, by true cause and by the cause that `tcplearn explain` names from
    the captures at one point."""

    pairs: Counter[tuple[str, str]]  # by true cause and named cause
    close: int  # stalls with the correct cause and a duration within `CLOSE_MS`
    untraced: int  # stalls that leave no trace in the capture and were not named

    @property
    def count(self) -> int:
        return sum(self.pairs.values())

    @property
    def right(self) -> int:
        return sum(n for (true, said), n in self.pairs.items() if true == said)

    @property
    def share(self) -> float:
        return self.right / self.count if self.count else 1.0


def tally(runs: Sequence[Run], place: str) -> Tally:
    pairs: Counter[tuple[str, str]] = Counter()
    close = untraced = 0
    for run in runs:
        columns = (run.series[f"{place}.{name}"] for name in _COLUMNS)
        for true, said, true_ms, said_ms, counts in zip(*columns, strict=True):
            if not counts:
                untraced += 1
                continue
            pairs[NAMES[int(true)], NAMES[int(said)]] += 1
            close += int(true == said and abs(true_ms - said_ms) <= CLOSE_MS)
    return Tally(pairs, close, untraced)


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    by_condition = grouped(runs, lambda run: run.profile)
    every = conditions(scenarios(folder, "experiments", "stalls"))
    order = [name for name in every if name in by_condition]
    without = [f"`{name}`" for name in every if name not in (*order, "smoke")]
    if not order:
        return {}
    stripped = [name for name in order if name.endswith(WITHOUT_OPTIONS)]
    groups = {
        "with TCP's options": [run for name in order if name not in stripped for run in by_condition[name]],
        "without SACK or timestamps": [run for name in stripped for run in by_condition[name]],
    }
    return {
        "kernel": ", ".join(sorted({run.host_version for run in runs})),
        "without": ", ".join(without) or "none",
        "criteria": table_of(("captures", "seen from", "stalls", "cause right", "least"), _criteria(groups)),
        "conditions": _conditions(order, by_condition),
        "matrices": [
            {"group": group, "place": place, "table": _matrix(tally(of, place).pairs)}
            for group, of in groups.items()
            for place in PLACES
            if of
        ],
        "figures": [Figure("images/causes.svg", "", _chart(groups["with TCP's options"]))],
    }


def _criteria(groups: Mapping[str, Sequence[Run]]) -> list[list[str]]:
    rows = []
    for group, runs in groups.items():
        for place in PLACES if runs else ():
            t = tally(runs, place)
            least = LEAST[place] if group.startswith("with ") else LEAST_WITHOUT_OPTIONS
            verdict = f"{100 * least:.0f} %, {'met' if t.share >= least else 'missed'}"
            rows.append([group, place, str(t.count), _percent(t.right, t.count), verdict])
    return rows


def _conditions(order: Sequence[str], by_condition: Mapping[str, Sequence[Run]]) -> str:
    rows = []
    for name in order:
        tallies = [tally(by_condition[name], place) for place in PLACES]
        stalls = sum(run.metrics["stalls"] for run in by_condition[name])
        shares = [_percent(t.right, t.count) for t in tallies]
        close = [_percent(t.close, t.right) for t in tallies]
        untraced = ", ".join(str(t.untraced) for t in tallies)
        rows.append([f"`{name}`", f"{stalls:.0f}", *shares, *close, untraced])
    heads = (f"{what}, {place}" for what in ("right", "within 5 ms") for place in PLACES)
    return table_of(["condition", "true stalls", *heads, "no trace"], rows)


def _percent(part: int, of: int) -> str:
    return f"{100 * part / of:.1f} %" if of else "-"


def _matrix(pairs: Mapping[tuple[str, str], int]) -> str:
    trues, saids = ([name for name in NAMES if any(name == pair[k] for pair in pairs)] for k in (0, 1))
    rows = [[f"`{true}`", *(str(pairs.get((true, said), "")) for said in saids)] for true in trues]
    return table_of(["true \\ said", *(f"`{name}`" for name in saids)], rows)


def _chart(runs: Sequence[Run]) -> dict[str, Any]:
    """Returns a Vega-Lite chart of the causes that `tcplearn explain` names for each true cause, by capture
    point."""
    label = {name: WORDS[name].label if name in WORDS else "no stall" for name in NAMES}
    cells = []
    for place in PLACES:
        pairs = tally(runs, place).pairs
        of_true: Counter[str] = Counter()
        for (true, _), n in pairs.items():
            of_true[true] += n
        for (true, said), n in pairs.items():
            cell = {"true": label[true], "said": label[said], "share": n / of_true[true], "n": n}
            cells.append({"from": f"from the {place}", **cell})
    order = list(label.values())
    base = alt.Chart().encode(
        x=alt.X("said:N", sort=order, title="said, in the row of the true cause").axis(labelAngle=-40),
        y=alt.Y("true:N", sort=order, title=None),
    )
    color = alt.Color("share:Q", title=["share of", "the row"]).scale(scheme="blues")
    ink = alt.when("datum.share > 0.5").then(alt.value("white")).otherwise(alt.value("black"))
    layers = alt.layer(
        base.mark_rect().encode(color=color),
        base.mark_text(fontSize=9).encode(text="n:N", color=ink),
        data=alt.InlineData(values=cells),
    ).properties(width=330, height=300)
    facet = layers.facet(column=alt.Column("from:N", title=None, sort=[f"from the {p}" for p in PLACES]))
    # fonts differ in width
    return dict(facet.properties(padding={"left": 50, "right": 20, "top": 5, "bottom": 5}).to_dict())
