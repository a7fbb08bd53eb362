# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Describes the results of `study experts` (parameters of an estimator) in sentences and as a table."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.output import numbers, terminal
from tcplearn.output import table as tables
from tcplearn.output.numbers import counted
from tcplearn.output.rows import Record
from tcplearn.output.table import Cell, Table, headed
from tcplearn.study.experts import PAPER, Study

#: Number of triples (N, eta, alpha) in the table, the best first; --format csv has all triples.
SHOWN = 12


def _times(value: float | None) -> str:
    return "an unknown multiple of" if value is None else f"{numbers.fine_ratio(value)} times"


def sentences(study: Study) -> list[str]:
    best, early, late = study.best, study.best_of_first_half, study.best_of_second_half
    cells, scores = study.cells, study.scores
    over = f"{counted(study.samples, 'sample')} in {counted(study.flows, 'flow')}"
    better = sum(s.error < study.references["jacobson"].error for s in scores)
    out = [
        f"Over {over}, the best of {counted(len(cells), 'triple')} of {study.options.preset} is "
        f"{cells[best].named}: its mean error is {_times(study.ratio(scores[best]))} jacobson's. "
        "It was chosen in hindsight, on the same samples: it shows what was possible, not what to expect.",
        f"Chosen on the first half of each flow, {cells[early].named}: on the second half its error is "
        f"{_times(study.half_ratio(scores[early], 1))} jacobson's there"
        + (
            ", the best triple of that half too."
            if early == late
            else f" (the best triple of that half, {cells[late].named}: "
            f"{_times(study.half_ratio(scores[late], 1))})."
        ),
    ]
    if study.paper is not None:
        paper = scores[study.paper]
        out.append(
            f"The paper's choice, {cells[study.paper].named}, has an error of {_times(study.ratio(paper))} "
            f"jacobson's, and its timer is too short for {paper.miss_rate * 100:.3g} % of the samples "
            f"(jacobson: {study.references['jacobson'].miss_rate * 100:.3g} %)."
        )
    last = study.ratio(study.references["last"])
    out.append(
        f"{better:,} of {len(cells):,} triples have a smaller error than jacobson; repeating the last sample "
        f"has {_times(last)} jacobson's."
    )
    return out


def notes(study: Study) -> list[str]:
    out = []
    if study.skipped:
        few = study.options.min_samples
        out.append(f"{counted(study.skipped, 'flow')} of fewer than {few} samples left out.")
    if study.at_edge:
        edge = ", ".join(study.at_edge)
        out.append(f"The best triple lies at the grid's edge ({edge}): a wider grid may have better.")
    if study.paper is None:
        n, eta, alpha = PAPER
        out.append(f"The paper's choice, N={n}, η={eta:g}, α={alpha:g}, is not in this grid.")
    return out


def _parameter(value: float | None) -> Cell:
    return Cell("" if value is None else f"{value:g}", value)


_COLUMNS: tuple[tuple[str, str, Callable[[Any], Cell]], ...] = (
    ("estimator", "estimator", tables.text),
    ("N", "n", _parameter),
    ("η", "eta", _parameter),
    ("α", "alpha", _parameter),
    ("error\nms", "mean_abs_error_ms", tables.milliseconds),
    ("×", "mean_abs_error_ratio", tables.ratio),
    ("first half\n×", "first_half_error_ratio", tables.ratio),
    ("second half\n×", "second_half_error_ratio", tables.ratio),
    ("RTO\nmiss %", "rto_miss_rate", tables.rate),
    ("mean RTO\nms", "mean_rto_ms", tables.milliseconds),
    ("", "note", tables.text),
)


def table(rows: Sequence[Record]) -> Table:
    triples = sorted((r for r in rows if r["n"] is not None), key=lambda r: r["mean_abs_error_ms"])
    shown = [r for i, r in enumerate(triples) if i < SHOWN or r["note"]]
    return Table(
        headed(*(heading for heading, _, _ in _COLUMNS), words=(0, 10)),
        [[cell(r[key]) for _, key, cell in _COLUMNS] for r in [*shown, *(r for r in rows if r["n"] is None)]],
        title="The best triples, those marked, and the baselines",
        legend="×: mean error to jacobson's on the same samples, below 1 is better.",
    )


def document(
    study: Study, rows: Sequence[Record], console: Console, *, quiet: bool = False
) -> RenderableType:
    parts: list[RenderableType] = []
    if not quiet:
        parts += [*(Text(printable(s)) for s in (*sentences(study), *notes(study))), Text("")]
    view = table(rows)
    more = len(study.cells) - (len(view.rows) - len(study.references))
    view.legend = "" if quiet else view.legend + (f" {more:,} triples more: --format csv." if more else "")
    return Group(*parts, terminal.titled(view, console))
