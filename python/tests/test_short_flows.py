# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test many flows that are too short to be judged: their rows are written to the file as they end, and are
not kept in memory."""

import copy
import functools
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tcplearn.replay import replay, tables
from tcplearn.replay.copies import Names
from tcplearn.replay.row import Row

MAKE = Path(__file__).parents[2] / "bench" / "make_short_flows.py"
TCPLEARN = [sys.executable, "-m", "tcplearn"]
REPLAY = [*TCPLEARN, "replay", "-q"]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Return a function that returns a capture of the given number of flows, made once."""
    folder = tmp_path_factory.mktemp("captures")

    @functools.cache
    def made(flows: int) -> Path:
        path = folder / f"{flows}.pcap"
        subprocess.run([sys.executable, MAKE, path, "--flows", str(flows)], check=True)
        return path

    return made


#: What a process takes counts from its fork on: from one that is small.
PEAK_KB = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_mb(trace: Path, more: list[str], verb: str = "replay") -> float:
    line = [sys.executable, "-S", "-c", PEAK_KB, *TCPLEARN, verb, "-q", trace, *more]
    return int(subprocess.run(line, check=True, capture_output=True, text=True).stdout) / 1024


def kept_bytes(capture: Callable[[int], Path], few: int, many: int, output: list[str], most: int) -> float:
    """Return the growth of peak memory in bytes per flow, from `few` to `many` flows. If it is `most` or
    more, also measure the growth over as many flows again, and return the lesser one: the allocator may take
    8 MB more in one step, whereas memory that is kept for each flow grows in both steps."""
    least = float("inf")
    for less, more in ((few, many), (many, 2 * many - few)):
        growth = peak_mb(capture(more), output) - peak_mb(capture(less), output)
        least = min(least, growth * 2**20 / (more - less))
        if least < most:
            break
    return least


@pytest.mark.parametrize(
    ("few", "many", "most_bytes"),
    [(1_000, 9_000, 1_000), pytest.param(20_000, 200_000, 120, marks=pytest.mark.full)],
)
def test_memory_does_not_grow_with_the_flows(
    capture: Callable[[int], Path], tmp_path: Path, few: int, many: int, most_bytes: int
) -> None:
    """Test report and rows in one run if there are few flows, so that memory of either is found, and
    otherwise apart."""
    report = ["--report", str(tmp_path / "report.html")]
    json_rows = ["--format", "json"]
    for output in ([*json_rows, *report],) if many < 10_000 else ([], json_rows, report):
        assert kept_bytes(capture, few, many, output, most_bytes) < most_bytes


@pytest.mark.full
def test_memory_of_parquet_does_not_grow_either(capture: Callable[[int], Path]) -> None:
    few, many, most_bytes = 450, 1_500, 45_000  # each has more rows than are held
    assert kept_bytes(capture, few, many, ["--format", "parquet"], most_bytes) < most_bytes


@pytest.mark.full
def test_explain_of_many_short_connections_fits(capture: Callable[[int], Path]) -> None:
    """Test that `explain` of 200,000 connections keeps only their rows, in columns, and not their states."""
    assert peak_mb(capture(200_000), ["--format", "json"], "explain") < 300


def test_what_is_streamed_is_what_would_be_kept(capture: Callable[[int], Path]) -> None:
    trace = capture(200)
    streamed: list[list[Row]] = []
    lean = replay.run([trace], sink=streamed.append, all_rows=False)
    whole = replay.run([trace])
    assert [row for rows in streamed for row in rows] == whole.rows
    assert lean.rows == whole.rows[: len(lean.rows)] and lean.totals == whole.totals
    flows = [rows[0].samples for rows in streamed]
    assert len(lean.rows) == replay.SHORT_KEPT * len(streamed[0])
    unlisted = flows[replay.SHORT_KEPT :]
    assert (lean.unlisted.flows, lean.unlisted.samples) == (len(unlisted), sum(unlisted))
    assert (lean.unlisted.least, lean.unlisted.most) == (min(unlisted), max(unlisted))
    assert [tables.pooled(r) for r in (lean, whole)] == [True, True]


def test_names_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Names, "MOST_NEW", 7)
    chance, names, twin = random.Random(1), Names(), Counter[str]()
    for _ in range(500):
        name = str(chance.randrange(100))
        twin[name] += 1
        assert copy.copy(names).times("a", name) == names.times("a", name) == twin[name]


def test_the_file_has_every_flow(capture: Callable[[int], Path], tmp_path: Path) -> None:
    trace, out = capture(50), tmp_path / "rows.json"
    subprocess.run([*REPLAY, trace, "--format", "json", "-o", out], check=True)
    rows = json.loads(out.read_text())
    assert len({row["flow"] for row in rows}) == 50 + 1  # all together, as none is judged alone
    assert list(tmp_path.iterdir()) != [] and not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_a_replay_that_fails_leaves_nothing_behind(capture: Callable[[int], Path], tmp_path: Path) -> None:
    trace, out = capture(50), tmp_path / "rows.json"
    beside = set(trace.parent.iterdir())
    run = subprocess.run([*REPLAY, trace, tmp_path / "none.pcap", "--format", "json", "-o", out])
    assert run.returncode == 2 and list(tmp_path.iterdir()) == []
    assert set(trace.parent.iterdir()) == beside
    (tmp_path / "bad.pcap").write_bytes(trace.read_bytes()[:24])
    run = subprocess.run([*REPLAY, trace, tmp_path / "bad.pcap", "--format", "json", "-o", out])
    assert run.returncode == 2 and not out.exists()
