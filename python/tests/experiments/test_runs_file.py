# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the file in which an experiment stores its runs, and the execution of runs that the file lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from experiments.lib import batches, command, pages, runs
from experiments.lib.runs import Identity, Run
from tcplearn.errors import FailedError, InterruptedWork, UserError


def run(number: int, value: float = 1.0, commit: str = "abc", algorithm: str = "reno") -> Run:
    made = {"commit": commit, "version": "0.1.0", "host_version": "3.37", "code": f"code of {commit}"}
    series = {"response_us": np.array([value, 2e9 + number, 0.1])}
    labels = {"tcp.resend": "stock", "load": [1, 2.5]}
    return Run(
        "ns3",
        "thin",
        "full",
        algorithm,
        number,
        number,
        labels,
        {"rtt_ms": 30},
        metrics={"m": value},
        series=series,
        **made,
    )


def equal(a: Run, b: Run) -> bool:
    series = all(np.array_equal(a.series[name], b.series[name]) for name in a.series)
    rest = all(getattr(a, name) == getattr(b, name) for name in Run.__dataclass_fields__ if name != "series")
    return series and rest and a.series.keys() == b.series.keys()


def test_runs_come_back_as_they_were_appended(tmp_path: Path) -> None:
    file = tmp_path / "runs.parquet"
    made = [run(0), run(1, 2.5), run(0, algorithm="cubic")]
    runs.append(file, made[:1])
    runs.append(file, made[1:])
    back = runs.read(file)
    assert len(back) == 3 and all(map(equal, back, made))
    assert runs.read(tmp_path / "none.parquet") == []


def test_a_later_run_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    file = tmp_path / "runs.parquet"
    runs.append(file, [run(0), run(1)])
    runs.append(file, [run(0, 5.0, "def")])
    found = runs.latest(runs.read(file))
    assert [(r.run, r.metrics["m"], r.commit) for r in found] == [(0, 5.0, "def"), (1, 1.0, "abc")]
    assert len(runs.read(file)) == 3  # nothing is taken out
    assert [(v.code, v.commits, v.runs) for v in runs.versions(found)] == [
        ("code of def", ("def",), 1),
        ("code of abc", ("abc",), 1),
    ]


def test_a_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "runs.parquet"
    file.write_text("no Parquet")
    with pytest.raises(UserError, match="not a file of runs"):
        runs.read(file)


class Made:
    """Simulates a batch of three runs that fail or are interrupted as a test demands."""

    name = "thin/full"

    def __init__(self, stops_at: int = 99, fails: Sequence[int] = ()) -> None:
        self.stops_at, self.fails, self.asked = stops_at, fails, list[int]()

    def planned(self) -> list[Identity]:
        return [run(n).identity for n in range(3)]

    def has(self, one: Run) -> bool:
        return one.scenario == "thin"

    def done(self, wanted: Sequence[Identity], work: batches.Work, failures: list[str]) -> Iterator[Run]:
        for *_, number in wanted:
            self.asked.append(number)
            if number == self.stops_at:
                raise InterruptedWork("stopped")
            if number in self.fails:
                failures.append(f"run {number} failed")
            else:
                yield run(number)


def test_what_was_stopped_goes_on_and_nothing_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = Made(stops_at=1)
    template = tmp_path / "page.md.j2"
    template.write_text("{{ price }}\n\n{{ versions }}\n")
    page = pages.Page(
        str(template), Path("page.md"), lambda *_: [batch], lambda found, _: {"price": len(found)}
    )
    monkeypatch.setattr(command.Chosen, "pages", lambda self: {"page": page})
    chosen = command.Chosen("x", file=tmp_path / "runs.parquet", output=tmp_path / "out")
    with pytest.raises(InterruptedWork):
        command.write(chosen, batches.Work(), print)
    assert [r.run for r in runs.read(chosen.runs_file)] == [0]

    batch.stops_at, batch.fails, batch.asked = 99, [1], []
    with pytest.raises(FailedError, match="1 runs failed"):
        command.write(chosen, batches.Work(), print)
    assert batch.asked == [1, 2]
    assert [r.run for r in runs.read(chosen.runs_file)] == [0, 2]
    text = (tmp_path / "out" / "page.md").read_text()
    assert text.startswith("2\n") and "`code of abc`" in text


def test_a_name_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="no experiment 'latencies'; "):
        command.Chosen("latencies").pages()
    with pytest.raises(UserError, match="--page labs: did you mean lab"):
        command.Chosen("latency", page="labs").pages()
    with pytest.raises(UserError, match="no runs 'thin-wired/none'"):
        command.Chosen("latency", page="lab", batches=("thin-wired/none",)).wanted()


def test_a_page_that_lacks_runs_is_refused_in_one_line_and_writes_nothing(tmp_path: Path) -> None:
    template = tmp_path / "page.md.j2"
    template.write_text("{{ timers['priced'] }}\n")
    drawn = pages.Figure("figures/one.svg", "one", {"mark": "point"})
    page = pages.Page(
        str(template), Path("page.md"), lambda *_: [], lambda *_: {"timers": {}, "figures": [drawn]}
    )
    with pytest.raises(
        UserError, match=r"page\.md: the page needs what the file of runs lacks .*'priced'.*--run --fresh"
    ):
        page.write([], tmp_path, tmp_path / "out" / "page.md")
    assert not (tmp_path / "out").exists()


def test_what_a_page_computes_may_lack_runs_too(tmp_path: Path) -> None:
    page = pages.Page("latency/lab.md.j2", Path("page.md"), lambda *_: [], lambda *_: {"p99": {}["priced"]})
    with pytest.raises(UserError, match=r"page\.md: the page needs what the file of runs lacks .*'priced'"):
        page.write([], tmp_path, tmp_path / "page.md")
