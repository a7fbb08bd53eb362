# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Format the results of a replay as text: a table for each flow, fitted to the terminal's width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tcplearn import metrics
from tcplearn.errors import printable
from tcplearn.output import numbers, table, terminal
from tcplearn.output.numbers import counted
from tcplearn.output.rows import TOTAL
from tcplearn.replay import sentences, verdict
from tcplearn.replay.results import Replay, Unlisted
from tcplearn.replay.row import Row
from tcplearn.replay.verdict import LINUX_RATIO

SHORT_FLOWS_SHOWN = 3  # if there are more flows with too few samples to be judged, they are counted

NOTES_SHOWN = 6


@dataclass(frozen=True)
class Shown:
    """A column of a flow's table: a metric, or its ratio to `jacobson` (RFC 6298 without its minimum RTO)."""

    metric: metrics.Metric
    ratio: bool = False
    head: str = ""  # its heading if the columns that usually stand beside it are missing

    @property
    def key(self) -> str:
        return self.metric.ratio_key if self.ratio else self.metric.key

    @property
    def name(self) -> str:
        """Return the column's name in the legend, and in the message about columns left out."""
        name = self.metric.name or self.metric.heading.strip().replace("\n", " ")
        return f"{name} ×" if self.ratio else name

    @property
    def rates(self) -> bool:
        """Return whether the column is a ratio to another estimator's value, which may have an interval."""
        return self.ratio or self.key == LINUX_RATIO

    @property
    def column(self) -> table.Column:
        if self.key == LINUX_RATIO:
            return table.Column(
                self.metric.heading, self.name, keep=self.metric.rank, ratio=True, detailed=True
            )
        if self.ratio:
            label = f"× {self.name.removesuffix(' ×')}"
            return table.Column("×", label, keep=self.metric.ratio, ratio=True, detailed=True)
        heading = self.head or self.metric.heading
        return table.Column(heading, heading.strip().replace("\n", " "), keep=self.metric.rank)


def _columns() -> list[Shown]:
    """Return all columns in the order of `tcplearn.metrics`, but those of rare metrics at the end."""
    known = [m for m in metrics.METRICS if m.heading]
    rare = sorted((m for m in known if m.rare), key=lambda m: -m.rank)
    out = []
    for m in [*(m for m in known if not m.rare), *rare]:
        out += [Shown(m), Shown(m, ratio=True)] if m.ratio else [Shown(m)]
    return out


COLUMNS = tuple(_columns())


#: The columns that are shown without --all, the most important first.
FEW_COLUMNS = (verdict.SPURIOUS, "mean_rto_ms", LINUX_RATIO, "rto_miss_rate", "mean_abs_error_ms")

RANKS = {  # the metric of each ranking, the least value is best; `timer` has its own rule (verdict.py)
    "wait": "mean_rto_ms",
    "timeouts": verdict.SPURIOUS,
    "error": "mean_abs_error_ms",
    "miss": "rto_miss_rate",
}


def by(key: str, rows: Iterable[Row]) -> list[Row]:
    """Return `rows` sorted by the metric `key`. Rows without this metric come last."""
    return sorted(rows, key=lambda row: ((value := row[key]) is None, value or 0.0))


def by_error(rows: Iterable[Row]) -> list[Row]:
    return by("mean_abs_error_ms", rows)


def in_order(rows: Sequence[Row], rank: str) -> list[Row]:
    """Return `rows` in the order of the ranking `rank` ("timer" or a key of `RANKS`), then of mean RTO."""
    return verdict.ranked(rows) if rank == "timer" else by(RANKS[rank], by("mean_rto_ms", rows))


def flows(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    out: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        out.setdefault((row.source, row.flow), []).append(row)
    return out


def _interval(row: Row, key: str) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    if low is None or high is None or low == high == 1:  # an estimator compared with itself
        return ""
    return f" ({numbers.ratio(low)}-{numbers.ratio(high)})"


def _cells(shown: Shown, rows: Sequence[Row]) -> list[table.Cell]:
    values = [row[shown.key] for row in rows]
    if shown.rates:
        texts = ["-" if v is None else f"×{numbers.ratio(v)}" for v in values]
        more = [_interval(row, shown.key) for row in rows]
        return [table.Cell(*cell) for cell in zip(texts, values, [False] * len(rows), more, strict=True)]
    percent, signed = shown.metric.percent, shown.metric.signed
    scale = 100.0 if percent else 1.0
    known = [v * scale for v in values if v is not None]
    whole = all(isinstance(v, int) for v in values if v is not None)
    if signed:  # a small bias gets no more digits than the mean error
        known = [v for row in rows if (v := row["mean_abs_error_ms"]) is not None]
    digits = 0 if whole else numbers.decimals(known)
    sign = "+" if signed else ""
    smallest = 10.0**-digits

    def text(value: float | None) -> str:
        if value is None:
            return "-"
        if percent and 0 < value * scale < smallest / 2:  # a small rate is not shown as 0
            return f"<{smallest:.{digits}f}"
        return f"{value * scale:{sign}.{digits}f}"

    return [table.Cell(text(v), v) for v in values]


def block(rows: Sequence[Row], columns: Sequence[Shown], rank: str = "timer") -> table.Table:
    """Return the table of a flow's metrics: a row for each estimator, sorted by the ranking `rank`."""
    ordered = in_order(rows, rank)
    cells = [[table.text(row.estimator) for row in ordered], *(_cells(c, ordered) for c in columns)]
    out = table.Table(
        [table.Column("estimator", words=True), *(c.column for c in columns)],
        [list(row) for row in zip(*cells, strict=True)],
        sorted_by=next((i for i, c in enumerate(columns, 1) if c.key == RANKS.get(rank)), None),
    )
    return out.mark_best(i for i, c in enumerate(columns, 1) if not c.rates)


def measured(rows: Iterable[Row]) -> list[Shown]:
    """Return all columns for a table of `rows`, except those of rare metrics that would be empty."""
    rows = list(rows)
    several = len({r.estimator for r in rows}) > 1
    return [
        c
        for c in COLUMNS
        if not (c.metric.rare or c.key == LINUX_RATIO)
        or (any(r[c.key] is not None for r in rows) and (several or c.metric.name != "regret"))
    ]


def few(columns: Sequence[Shown], *, requested: bool = False) -> list[Shown]:
    """Return those of `columns` that a table shows by default. If Linux's timer was not measured, the ratio
    of mean RTOs to `jacobson` replaces that to Linux's timer. If the user `requested` a miss rate, the column
    of miss rates is for the RTO just before each sample, not for the RTO when its segment was sent."""
    keys = [c.key for c in columns]
    other = {LINUX_RATIO: metrics.BY_KEY["mean_rto_ms"].ratio_key} if LINUX_RATIO not in keys else {}
    if requested:
        other["rto_miss_rate"] = "rto_miss_rate_before"
    wanted = [other.get(key, key) for key in FEW_COLUMNS]
    chosen = sorted((c for c in columns if c.key in wanted), key=lambda c: wanted.index(c.key))
    heads = {"rto_miss_rate_before": "miss %\nbefore", verdict.SPURIOUS: "spurious\ntimeouts"}
    return [replace(c, head=heads.get(c.key, "")) for c in chosen]


def heading(rows: Sequence[Row], flows: int = 0, short: int = 0) -> Text:
    """Return the heading of the table of `rows`. If the rows are over several flows, `flows` is the number of
    flows, and `short` the number of those with too few samples to be judged alone."""
    first = rows[0]
    text = Text(printable(first.flow) if first.flow != TOTAL else "all flows together", style="bold")
    if (file := Path(first.source).name) not in ("", first.flow) and first.flow != TOTAL:
        text.append(f"  {printable(file)}", style="dim not bold")
    text.append(f"  {counted(first.samples, 'sample')}", style="not bold")
    if flows:
        text.append(f" in {counted(flows, 'flow')}", style="not bold")
    if short:
        which = "each" if short == flows > 1 else f"{short:,} of them"
        text.append(f", {which} too short to judge alone", style="dim not bold")
    for note in dict.fromkeys(printable(r.note) for r in rows if r.note):
        text.append(f"  {note}", style="dim not bold")
    return text


def short_lines(short: Sequence[Sequence[Row]], unlisted: Unlisted) -> list[Text]:
    """Return a line for each flow that is too short to judge, or one line with their number if there are
    many. `unlisted` is a summary of those without rows."""
    more = len(short) + unlisted.flows
    if more <= SHORT_FLOWS_SHOWN:
        lines = [
            f"{printable(rows[0].flow)}  {printable(rows[0].source)}  "
            f"too short to judge ({counted(rows[0].samples, 'sample')})"
            for rows in short
        ]
    else:
        sizes = [rows[0].samples for rows in short]
        if unlisted.flows:
            sizes += [unlisted.least, unlisted.most]
        samples = f"{min(sizes)} to {max(sizes)} samples each"
        lines = [f"{more:,} more flows too short to judge ({samples}); --format csv lists them"]
    return [Text(line, style="dim") for line in lines]


def _unsourced(replay: Replay) -> list[str]:
    """Return the notes of `replay`, without the source's name in front if there is only one source."""
    sources = {row.source for row in replay.rows}
    prefix = f"{sources.pop()}: " if len(sources) == 1 else ""
    return [note.removeprefix(prefix) for note in replay.notes]


def folded_notes(notes: Sequence[str], width: int) -> list[str]:
    """Return `notes` joined in one line if they fit into `width` characters, otherwise one line for each."""
    line = "; ".join(map(printable, notes[:NOTES_SHOWN]))
    if notes and len(notes) <= NOTES_SHOWN and len(line) <= width:
        return [line]
    shown = [printable(note) for note in notes[:NOTES_SHOWN]]
    more = len(notes) - len(shown)
    return [*shown, f"and {counted(more, 'note')} more, which --report shows"] if more else shown


def legend(columns: Sequence[Shown], *, intervals: bool, standard: bool) -> Text:
    """Return the text that explains the `columns` of a table. It also explains the confidence intervals if
    the table has them (`intervals`), and the row of RFC 6298's timer if there is one (`standard`)."""
    shown = [c for c in columns if c.metric.short and not c.ratio]
    parts = [f"{c.head.replace(chr(10), ' ') or c.name}: {c.metric.short}" for c in shown]
    if len(columns) <= len(FEW_COLUMNS):
        parts += ["×: divided by jacobson's"] if any(c.ratio for c in columns) else []
        parts += [f"{verdict.STANDARD}: RFC 6298"] if standard else []
        return Text(f"{'; '.join(parts)}.", style="dim")
    if any(c.ratio for c in columns):
        parts.append("×: ratio to jacobson, below 1 is better")
    if intervals:
        parts.append("in brackets: its 95 % interval")
    return Text("; ".join([*parts, "bold: best of its column"]) + ".", style="dim")


def pooled(replay: Replay) -> bool:
    """Return whether only all flows together have enough samples to be judged."""
    return not any(row.judged for row in replay.rows) and any(row.judged for row in replay.totals)


def document(
    replay: Replay,
    console: Console,
    *,
    quiet: bool = False,
    total: bool = False,
    everything: bool = False,
    rank: str = "timer",
    reported: bool = False,
) -> RenderableType:
    """Return what `tcplearn replay` prints: sentences on which estimators suit the traffic best, tables, and
    the command to run next. With `quiet`, return only tables; with `total`, add a table over all flows; with
    `everything`, show all columns and a table for each flow. Rows are in the order `rank`, a key of `RANKS`
    or "timer". If `reported`, the command has also written a report, so the text names no command that would
    write one."""
    by_flow = list(flows(replay.rows).values())
    judged = [rows for rows in by_flow if any(r.judged for r in rows)]
    short = [rows for rows in by_flow if not any(r.judged for r in rows)]
    flow_count = len(by_flow) + replay.unlisted.flows
    together = replay.totals and (flow_count > 1 or total) and any(r.judged for r in replay.totals)
    groups = list(judged) if everything or not together or total else []
    if together:
        groups.append(replay.totals)
    columns = measured(row for rows in groups for row in rows)
    answer = replay.answer()
    columns = columns if everything else few(columns, requested=bool(answer and answer.requested))
    blocks = [block(rows, columns, rank) for rows in groups]
    kept, detailed = terminal.fitted(blocks, console)
    parts: list[RenderableType] = []
    if not quiet:
        wanted = everything or rank == "error"
        parts += [Text(line) for line in sentences.of(answer, prediction=wanted)]
    for rows, shown in zip(groups, blocks, strict=True):
        of = (flow_count, len(short) + replay.unlisted.flows) if rows is replay.totals else ()
        parts += [
            *([Text("")] if parts else []),
            heading(rows, *of),
            terminal.grid(shown.only(kept), detailed),
        ]
    if short and (everything or not together):
        parts += [*([Text("")] if parts else []), *short_lines(short, replay.unlisted)]
    if quiet:
        return Group(*parts)
    if groups:
        seen = [c for i, c in enumerate(columns, 1) if i in kept]
        standard = any(row.estimator == verdict.STANDARD for rows in groups for row in rows)
        parts.append(legend(seen, intervals=bool(detailed), standard=standard))
        if missing := terminal.left_out([c.name for c in columns if c not in seen]):
            parts.append(Text(missing, style="dim"))
    parts += [Text(line, style="dim") for line in folded_notes(_unsourced(replay), console.width)]
    return Group(*parts, Text(sentences.todo(answer, everything=everything, reported=reported)))
