# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a replay gave, as text: a block for each flow, made to fit the terminal."""

from __future__ import annotations

import io
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.output.files import plain

if TYPE_CHECKING:
    from tcplearn.replay.results import Replay, Row

#: More short flows than this are told in one line.
SHORT_FLOWS_SHOWN = 3

#: A note may come with every flow.
NOTES_SHOWN = 6

#: A pipe has no width: every column, no wrapping.
_ENDLESS = 10_000

_RULE_UNDER_HEAD = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


@dataclass(frozen=True)
class Column:
    name: str  # as the legend and the message about columns left out call it
    head: str  # its two lines in the table
    field: str
    keep: int  # the least goes first where the terminal is narrow
    meaning: str = ""
    ratio: bool = False
    percent: bool = False
    signed: bool = False
    rare: bool = False  # only where something was measured
    interval: bool = False  # of a ratio: with its 95 % interval


COLUMNS = (
    Column(
        "error",
        "error\nmean",
        "mean_abs_error_ms",
        99,
        "|prediction - sample| in ms, prediction taken just before",
    ),
    Column("error ×", "×", "mean_abs_error_ratio", 98, ratio=True),
    Column("median", "\nmedian", "median_abs_error_ms", 40),
    Column("95 %", "\n95 %", "p95_abs_error_ms", 60),
    Column("bias", "\nbias", "bias_ms", 35, "mean of prediction - sample, ms", signed=True),
    Column(
        "at send",
        "error\nat send",
        "at_send_error_ms",
        80,
        "error of the prediction when the segment was sent",
    ),
    Column("at send ×", "×", "at_send_error_ratio", 20, ratio=True),
    Column(
        "miss",
        "RTO\nmiss %",
        "rto_miss_rate",
        97,
        "samples above the RTO in force at their sending, %",
        percent=True,
    ),
    Column("miss ×", "×", "rto_miss_rate_ratio", 50, ratio=True),
    Column(
        "miss before",
        "\nbefore",
        "rto_miss_rate_before",
        88,
        "above the RTO just before the sample, which a chosen rate is about, %",
        percent=True,
    ),
    Column("spurious", "spurious\ntimeouts", "spurious_timeouts", 90, "timeouts with nothing lost"),
    Column("with TLP", "\nwith TLP", "spurious_timeouts_tlp", 55, "the same with tail loss probes"),
    Column("RTO", "RTO\nmean", "mean_rto_ms", 96, "mean RTO, ms"),
    Column("RTO ×", "×", "mean_rto_ratio", 70, ratio=True),
    Column("wait", "excess\nwait", "excess_wait_ms", 45, "time by which the RTO outlasts the RTT, ms"),
    Column("wait ×", "×", "excess_wait_ratio", 25, ratio=True),
    Column(
        "loss RTO",
        "loss\nRTO",
        "loss_detect_rto_ms",
        52,
        "time to notice a lost segment by the RTO alone, ms",
        rare=True,
    ),
    Column("loss RACK", "\nRACK", "loss_detect_rack_ms", 51, "the same with RACK-TLP", rare=True),
    Column(
        "regret",
        "× best\nswitching",
        "regret_best_switching_ratio",
        10,
        "error over that of the best sequence in hindsight among those listed, one switch in 100 samples",
        rare=True,
    ),
)


def by_error(rows: Iterable[Row]) -> list[Row]:
    """The smallest mean error first, what was not measured last."""

    def rank(row: Row) -> tuple[bool, float]:
        error = plain(row.mean_abs_error_ms)
        return error is None, error or 0.0

    return sorted(rows, key=rank)


def flows(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    out: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        out.setdefault((row.source, row.flow), []).append(row)
    return out


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def decimals(values: Sequence[float]) -> int:
    """As many as the column's middle value deserves: three or four digits."""
    sizes = [abs(v) for v in values if v]
    if not sizes:
        return 0
    middle = statistics.median(sizes)
    return 0 if middle >= 1000 else 1 if middle >= 100 else 2 if middle >= 1 else 3 if middle >= 0.1 else 4


def ratio_text(value: float) -> str:
    return f"×{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def interval_text(row: Row, field: str) -> str:
    low, high = plain(getattr(row, f"{field}_low")), plain(getattr(row, f"{field}_high"))
    if low is None or high is None or low == high == 1:  # jacobson beside itself
        return ""
    return f" ({ratio_text(low)[1:]}-{ratio_text(high)[1:]})"


def cells(column: Column, rows: Sequence[Row]) -> list[str]:
    values = [plain(getattr(row, column.field)) for row in rows]
    if column.ratio:
        texts = ["-" if v is None else ratio_text(v) for v in values]
        if not column.interval:
            return texts
        more = [interval_text(row, column.field) for row in rows]
        wide = max(map(len, more), default=0)  # so that the ratios stand under each other
        return [f"{a}{b:<{wide}}" for a, b in zip(texts, more, strict=True)]
    scale = 100.0 if column.percent else 1.0
    known = [v * scale for v in values if v is not None]
    whole = all(isinstance(v, int) for v in values if v is not None)
    if column.signed:  # a bias of nearly nothing deserves no more digits than the error it is part of
        known = [v for row in rows if (v := plain(row.mean_abs_error_ms)) is not None]
    digits = 0 if whole else decimals(known)
    sign = "+" if column.signed else ""
    smallest = 10.0**-digits

    def text(value: float | None) -> str:
        if value is None:
            return "-"
        if column.percent and 0 < value * scale < smallest / 2:  # rare is not never
            return f"<{smallest:.{digits}f}"
        return f"{value * scale:{sign}.{digits}f}"

    return [text(v) for v in values]


def best(column: Column, rows: Sequence[Row]) -> set[int]:
    """Positions of the smallest value (of the smallest size, where signs count); none if all agree."""
    values = [plain(getattr(row, column.field)) for row in rows]
    sizes = [abs(v) for v in values if v is not None]
    if column.ratio or not sizes or min(sizes) == max(sizes):
        return set()
    return {i for i, v in enumerate(values) if v is not None and abs(v) == min(sizes)}


def block(rows: Sequence[Row], columns: Sequence[Column]) -> Table:
    table = Table(box=_RULE_UNDER_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column(Text("\nestimator"), no_wrap=True)
    for column in columns:
        style = "dim" if column.ratio else ""
        head = f"\n{column.head}" if column.ratio else column.head
        table.add_column(Text(head), justify="right", no_wrap=True, style=style)
    ordered = by_error(rows)
    body = [[printable(row.estimator) for row in ordered]]
    bold: list[set[int]] = [set()]
    for column in columns:
        body.append(cells(column, ordered))
        bold.append(best(column, ordered))
    for i in range(len(ordered)):
        table.add_row(*(Text(c[i], style="bold" if i in b else "") for c, b in zip(body, bold, strict=True)))
    return table


def measured(rows: Iterable[Row]) -> list[Column]:
    """All columns but the rare ones that would be empty."""
    rows = list(rows)
    several = len({r.estimator for r in rows}) > 1
    return [
        c
        for c in COLUMNS
        if not c.rare
        or (any(getattr(r, c.field) is not None for r in rows) and (several or c.name != "regret"))
    ]


def fitting(groups: Sequence[Sequence[Row]], console: Console) -> tuple[list[Column], list[Column]]:
    """The columns that fit in the terminal for every flow alike, and those left out. Intervals come last."""
    known = measured(row for rows in groups for row in rows)
    columns, left_out = list(known), []
    endless = console.options.update(max_width=_ENDLESS)

    def fit(columns: Sequence[Column]) -> bool:
        widths = (console.measure(block(g, columns), options=endless).maximum for g in groups)
        return max(widths, default=0) <= console.width

    while len(columns) > 1 and not fit(columns):
        least = min(columns, key=lambda c: c.keep)
        columns.remove(least)
        left_out.append(least)
    for column in sorted((c for c in columns if c.ratio), key=lambda c: -c.keep):
        wider = [replace(c, interval=True) if c is column else c for c in columns]
        if not fit(wider):
            break
        columns = wider
    return columns, [c for c in known if c in left_out]


def heading(rows: Sequence[Row]) -> Text:
    first = rows[0]
    text = Text(printable(first.flow) if first.flow != "total" else "all flows together", style="bold")
    if first.source and first.flow != "total":
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


def legend(columns: Sequence[Column]) -> Text:
    parts = [f"{c.name}: {c.meaning}" for c in columns if c.meaning]
    if any(c.ratio for c in columns):
        parts.append("×: ratio to jacobson, below 1 is better")
    if any(c.interval for c in columns):
        parts.append("in brackets: its 95 % interval")
    return Text("; ".join([*parts, "bold: best of its column"]) + ".", style="dim")


def document(replay: Replay, console: Console, *, quiet: bool = False, total: bool = False) -> RenderableType:
    by_flow = list(flows(replay.rows).values())
    judged = [rows for rows in by_flow if any(r.judged for r in rows)]
    short = [rows for rows in by_flow if not any(r.judged for r in rows)]
    groups = list(judged)
    if replay.totals and (len(judged) > 1 or total):
        groups.append(replay.totals)
    columns, left_out = fitting(groups, console)
    parts: list[RenderableType] = []
    if not quiet:
        parts += [Text(line) for line in folded_notes(replay.notes)]
    for rows in groups:
        if rows is replay.totals and short:
            parts += [Text(""), *short_lines(short)]
        parts += [*([Text("")] if parts else []), heading(rows), block(rows, columns)]
    if short and not (groups and groups[-1] is replay.totals):
        parts += [*([Text("")] if parts else []), *short_lines(short)]
    if groups and not quiet:
        parts += [Text(""), legend(columns)]
        if left_out:
            names = ", ".join(c.name for c in left_out)
            parts.append(
                Text(f"Left out at this width: {names}; widen the terminal or use --format csv.", style="dim")
            )
    return Group(*parts)


def show(replay: Replay, console: Console, *, quiet: bool = False, total: bool = False) -> None:
    console.print(document(replay, console, quiet=quiet, total=total))


def to_text(render: Callable[[Console], RenderableType]) -> str:
    """Plain text for a pipe or a file: every column, no colour, no padding at the ends of lines."""
    out = io.StringIO()
    console = Console(file=out, width=_ENDLESS, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(render(console))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
