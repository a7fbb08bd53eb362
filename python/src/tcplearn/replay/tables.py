# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a replay gave, as text: a block for each flow, made to fit the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tcplearn import metrics
from tcplearn.errors import printable
from tcplearn.output import numbers, table, terminal
from tcplearn.output.numbers import counted
from tcplearn.replay.results import TOTAL, Replay, Row

#: Of more short flows than this only the number is shown.
SHORT_FLOWS_SHOWN = 3

#: A note may come with every flow.
NOTES_SHOWN = 6


@dataclass(frozen=True)
class Shown:
    """A metric, or its ratio to `jacobson`, as a column of a flow's table."""

    metric: metrics.Metric
    ratio: bool = False

    @property
    def key(self) -> str:
        return self.metric.ratio_key if self.ratio else self.metric.key

    @property
    def name(self) -> str:
        """As the legend and the message about columns left out call it."""
        name = self.metric.name or self.metric.heading.strip().replace("\n", " ")
        return f"{name} ×" if self.ratio else name

    @property
    def column(self) -> table.Column:
        if self.ratio:
            label = f"× {self.name.removesuffix(' ×')}"
            return table.Column("×", label, keep=self.metric.ratio, ratio=True, detailed=True)
        label = self.metric.heading.strip().replace("\n", " ")
        return table.Column(self.metric.heading, label, keep=self.metric.rank)


def _columns() -> list[Shown]:
    """In the order of `metrics`, rare ones last."""
    known = [m for m in metrics.METRICS if m.heading]
    rare = sorted((m for m in known if m.rare), key=lambda m: -m.rank)
    out = []
    for m in [*(m for m in known if not m.rare), *rare]:
        out += [Shown(m), Shown(m, ratio=True)] if m.ratio else [Shown(m)]
    return out


COLUMNS = tuple(_columns())


def by_error(rows: Iterable[Row]) -> list[Row]:
    """The smallest mean error first, what was not measured last."""

    def rank(row: Row) -> tuple[bool, float]:
        error = row["mean_abs_error_ms"]
        return error is None, error or 0.0

    return sorted(rows, key=rank)


def flows(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    out: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        out.setdefault((row.source, row.flow), []).append(row)
    return out


def _interval(row: Row, key: str) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    if low is None or high is None or low == high == 1:  # jacobson beside itself
        return ""
    return f" ({numbers.ratio(low)}-{numbers.ratio(high)})"


def _cells(shown: Shown, rows: Sequence[Row]) -> list[table.Cell]:
    values = [row[shown.key] for row in rows]
    if shown.ratio:
        texts = ["-" if v is None else f"×{numbers.ratio(v)}" for v in values]
        more = [_interval(row, shown.key) for row in rows]
        return [table.Cell(*cell) for cell in zip(texts, values, [False] * len(rows), more, strict=True)]
    percent, signed = shown.metric.percent, shown.metric.signed
    scale = 100.0 if percent else 1.0
    known = [v * scale for v in values if v is not None]
    whole = all(isinstance(v, int) for v in values if v is not None)
    if signed:  # a bias of nearly nothing deserves no more digits than the error it is part of
        known = [v for row in rows if (v := row["mean_abs_error_ms"]) is not None]
    digits = 0 if whole else numbers.decimals(known)
    sign = "+" if signed else ""
    smallest = 10.0**-digits

    def text(value: float | None) -> str:
        if value is None:
            return "-"
        if percent and 0 < value * scale < smallest / 2:  # rare is not never
            return f"<{smallest:.{digits}f}"
        return f"{value * scale:{sign}.{digits}f}"

    return [table.Cell(text(v), v) for v in values]


def block(rows: Sequence[Row], columns: Sequence[Shown]) -> table.Table:
    """A flow's estimators, the best first."""
    ordered = by_error(rows)
    cells = [[table.text(row.estimator) for row in ordered], *(_cells(c, ordered) for c in columns)]
    out = table.Table(
        [table.Column("estimator", words=True), *(c.column for c in columns)],
        [list(row) for row in zip(*cells, strict=True)],
        sorted_by=1,
    )
    return out.mark_best(i for i, c in enumerate(columns, 1) if not c.ratio)


def measured(rows: Iterable[Row]) -> list[Shown]:
    """All columns but the rare ones that would be empty."""
    rows = list(rows)
    several = len({r.estimator for r in rows}) > 1
    return [
        c
        for c in COLUMNS
        if not c.metric.rare
        or (any(r[c.key] is not None for r in rows) and (several or c.metric.name != "regret"))
    ]


def heading(rows: Sequence[Row]) -> Text:
    first = rows[0]
    text = Text(printable(first.flow) if first.flow != TOTAL else "all flows together", style="bold")
    if first.source and first.flow != TOTAL:
        text.append(f"  {printable(first.source)}", style="dim not bold")
    text.append(f"  {counted(first.samples, 'sample')}", style="not bold")
    for note in dict.fromkeys(printable(r.note) for r in rows if r.note):
        text.append(f"  {note}", style="dim not bold")
    return text


def short_lines(short: Sequence[Sequence[Row]]) -> list[Text]:
    """Flows that nothing is claimed about: named while they are few."""
    if len(short) <= SHORT_FLOWS_SHOWN:
        return [
            Text(
                f"{printable(rows[0].flow)}  {printable(rows[0].source)}  "
                f"too short to judge ({counted(rows[0].samples, 'sample')})",
                style="dim",
            )
            for rows in short
        ]
    sizes = [rows[0].samples for rows in short]
    return [
        Text(
            f"{len(short):,} more flows too short to judge ({min(sizes)} to {max(sizes)} samples each); "
            "--format csv lists them",
            style="dim",
        )
    ]


def folded_notes(notes: Sequence[str]) -> list[str]:
    shown = [printable(note) for note in notes[:NOTES_SHOWN]]
    more = len(notes) - len(shown)
    return [*shown, f"and {counted(more, 'note')} more, which --report shows"] if more else shown


def legend(columns: Sequence[Shown], *, intervals: bool) -> Text:
    parts = [f"{c.name}: {c.metric.short}" for c in columns if c.metric.short and not c.ratio]
    if any(c.ratio for c in columns):
        parts.append("×: ratio to jacobson, below 1 is better")
    if intervals:
        parts.append("in brackets: its 95 % interval")
    return Text("; ".join([*parts, "bold: best of its column"]) + ".", style="dim")


def document(replay: Replay, console: Console, *, quiet: bool = False, total: bool = False) -> RenderableType:
    by_flow = list(flows(replay.rows).values())
    judged = [rows for rows in by_flow if any(r.judged for r in rows)]
    short = [rows for rows in by_flow if not any(r.judged for r in rows)]
    groups = list(judged)
    if replay.totals and (len(judged) > 1 or total):
        groups.append(replay.totals)
    columns = measured(row for rows in groups for row in rows)
    blocks = [block(rows, columns) for rows in groups]
    kept, detailed = terminal.fitted(blocks, console)
    parts: list[RenderableType] = []
    if not quiet:
        parts += [Text(line) for line in folded_notes(replay.notes)]
    for rows, shown in zip(groups, blocks, strict=True):
        if rows is replay.totals and short:
            parts += [Text(""), *short_lines(short)]
        parts += [*([Text("")] if parts else []), heading(rows), terminal.grid(shown.only(kept), detailed)]
    if short and not (groups and groups[-1] is replay.totals):
        parts += [*([Text("")] if parts else []), *short_lines(short)]
    if groups and not quiet:
        seen = [c for i, c in enumerate(columns, 1) if i in kept]
        parts += [Text(""), legend(seen, intervals=bool(detailed))]
        if left_out := ", ".join(c.name for c in columns if c not in seen):
            parts.append(
                Text(
                    f"Left out at this width: {left_out}; widen the terminal or use --format csv.",
                    style="dim",
                )
            )
    return Group(*parts)


def show(replay: Replay, console: Console, *, quiet: bool = False, total: bool = False) -> None:
    console.print(document(replay, console, quiet=quiet, total=total))
