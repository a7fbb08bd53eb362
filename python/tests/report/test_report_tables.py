# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
import io
from dataclasses import replace
from typing import Any

import fake
import pytest
from rich.console import Console

from tcplearn.output import terminal
from tcplearn.replay import sentences, tables, verdict
from tcplearn.replay.results import Replay
from tcplearn.replay.row import Row


def text(replay: Replay, **options: Any) -> str:
    return terminal.to_text(lambda console: tables.document(replay, console, **options))


def everything(replay: Replay, **options: Any) -> str:
    return text(replay, everything=True, **options)


def at_width(replay: Replay, width: int, **options: Any) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(tables.document(replay, console, **options))
    out: str = console.file.getvalue()  # type: ignore[attr-defined]
    return out


@pytest.fixture(scope="module")
def one() -> Replay:
    return fake.replay(1, samples=400)


def names(out: str) -> list[str]:
    lines = out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("---")) + 1
    return [line.split()[0] for line in lines[start : start + len(fake.ESTIMATORS)]]


@pytest.mark.parametrize("rank", ["wait", "timeouts", "error", "miss"])
def test_rows_are_sorted_by_the_question(one: Replay, rank: str) -> None:
    def key(row: Row) -> tuple[float, float]:
        return row[tables.RANKS[rank]] or 0.0, row["mean_rto_ms"] or 0.0

    assert names(text(one, rank=rank)) == [row.estimator for row in sorted(one.rows, key=key)]


def test_a_timer_with_too_many_spurious_timeouts_comes_last(one: Replay) -> None:
    rows = {row.estimator: row for row in one.rows}
    most, probes = verdict.allowed(one.rows), verdict.allowed_probes(one.rows)
    got = [rows[name] for name in names(text(one))]
    fit = [row for row in got if verdict.spurious(row) <= most and verdict.probes(row) <= probes]
    assert got[: len(fit)] == sorted(fit, key=lambda r: r["mean_rto_ms"] or 0.0)
    assert got[len(fit) :] == sorted(got[len(fit) :], key=verdict.spurious)


def test_six_columns_and_the_verdict_first(one: Replay) -> None:
    out = text(one)
    assert out.splitlines()[0] == sentences.of(one.answer())[0]
    rule = next(i for i, line in enumerate(out.splitlines()) if line.startswith("---"))
    row = out.splitlines()[rule + 1]
    assert len(row.split()) == 6
    assert out.splitlines()[-1].startswith("Next: ")
    assert "Left out" not in out and "Left out" not in at_width(one, 80)


def test_every_column_in_a_pipe_and_no_line_ends_in_spaces(one: Replay) -> None:
    out = everything(one)
    assert "Left out" not in out
    assert all(line == line.rstrip() for line in out.splitlines())
    assert "with TLP" in out and "×0." in out


@pytest.mark.parametrize("width", [50, 80, 120])
def test_narrow_terminals_lose_columns_and_say_so(one: Replay, width: int) -> None:
    out = at_width(one, width, everything=True)
    assert all(len(line) <= width for line in out.splitlines())
    assert "…" not in out
    assert "Left out at this width:" in out.replace("\n", " ")
    assert "experts/nunes2014-linux" in out


def test_all_columns_on_a_wide_terminal(one: Replay) -> None:
    assert "Left out" not in at_width(one, 230, everything=True)


def test_short_flows_are_named_while_few_and_folded_when_many() -> None:
    few = everything(fake.replay(1, short=2, samples=100))
    assert few.count("too short to judge (1") == 2
    many = everything(fake.replay(1, short=20, samples=100))
    assert "20 more flows too short to judge (12 to 16 samples each)" in many
    assert many.count("too short") == 1


def test_totals_where_there_is_more_than_one_flow(one: Replay) -> None:
    assert "all flows together" not in text(one)
    two = fake.replay(2, samples=200)
    assert "all flows together" in text(two)
    assert two.rows[0].flow not in text(two) and two.rows[0].flow in everything(two)


def test_only_short_flows() -> None:
    out = text(fake.replay(0, short=1))
    assert "too short to judge (12 samples)" in out
    assert "bold" not in out


def test_nothing_measured_is_a_hyphen(one: Replay) -> None:
    row = one.rows[0].changed({"mean_abs_error_ms": None, "rto_miss_rate": float("nan"), "bias_ms": None})
    out = everything(Replay(rows=[row, one.rows[1]]), rank="error")
    assert "nan" not in out.lower()
    last = next(line for line in out.splitlines() if line.startswith(f"{row.estimator} "))
    assert last.split()[1] == "-"


def test_rare_is_not_never(one: Replay) -> None:
    rows = [r.changed({"rto_miss_rate": 1e-7 if r.estimator == "last" else 0.02}) for r in one.rows]
    assert "<0.01" in text(Replay(rows=rows))


def test_markup_and_control_characters_of_a_trace_are_text(one: Replay) -> None:
    rows = [replace(r, flow="[bold]x[/bold]\x1b[31m") for r in one.rows]
    out = text(Replay(rows=rows, notes=["[red]note\x07"]))
    assert "[bold]x[/bold]" in out and "[red]note" in out
    assert "\x1b" not in out and "\x07" not in out


def test_quiet_has_the_tables_only(one: Replay) -> None:
    out = everything(one, quiet=True)
    assert "sender seen" not in out and "ratio to jacobson" not in out
    assert "Next: " not in out and "spurious timeout" not in out
    assert "jacobson" in out


def test_best_of_a_column_is_bold_unless_all_agree(one: Replay) -> None:
    def best(rows: list[Row]) -> list[int]:
        shown = tables.block(rows, tables.COLUMNS[:1], "error").rows
        return [i for i, row in enumerate(shown) if row[1].best]

    rows = tables.by_error(one.rows)
    assert 0 in best(rows)
    assert best([rows[0], rows[0]]) == []


def test_many_notes_are_folded(one: Replay) -> None:
    out = text(Replay(rows=one.rows, notes=[f"note {i}" for i in range(50)]))
    assert "and 44 notes more, which --report shows" in out


def with_intervals(replay: Replay) -> Replay:
    ends = {"mean_abs_error_ratio_low": 0.491, "mean_abs_error_ratio_high": 12.34}
    return Replay(rows=[r.changed(ends) if r.estimator == "last" else r for r in replay.rows])


def test_intervals_stand_beside_ratios_where_there_is_room(one: Replay) -> None:
    rows = with_intervals(one)
    assert "(0.49-12.3)" in everything(rows)
    assert "in brackets: its 95 % interval" in everything(rows)
    assert "(0.49-12.3)" in at_width(rows, 230, everything=True)
    narrow = at_width(rows, 90, everything=True)
    assert "(0.49" not in narrow and "×" in narrow and "in brackets" not in narrow.replace("\n", " ")
    assert all(len(line) <= 200 for line in at_width(rows, 200, everything=True).splitlines())
    half = Replay(rows=[r.changed({"mean_abs_error_ratio_high": None}) for r in rows.rows])
    assert "(0.49" not in everything(half)


def test_losses_have_columns_where_there_are_any(one: Replay) -> None:
    assert "RACK" not in everything(one)
    lost = [
        r.changed({"losses": 2, "loss_detect_rto_ms": 321.0, "loss_detect_rack_ms": 45.0}) for r in one.rows
    ]
    out = everything(Replay(rows=lost))
    assert "RACK" in out and "321" in out and "notice a lost segment" in out
