# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn study experts` from files to rows, sentences and heat maps."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tcplearn import estimators, metrics
from tcplearn.cli import main
from tcplearn.replay import replay
from tcplearn.study import experts as study

sys.path.append(str(Path(__file__).parents[1] / "suite"))
import suite_traces

GRID = ["--n", "20,100", "--eta", "0.5,2", "--alpha", "0.01,0.08,0.5"]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "home.csv"
    path.write_text(suite_traces.csv(6, 500))
    return path


def rows_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["study", "experts", *arguments, "--format", "json", "-q"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


@pytest.mark.parametrize("preset", study.PRESETS)
def test_each_triple_is_what_a_replay_gives(
    preset: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(capsys, str(trace), *GRID, "--preset", preset)
    triples = [r for r in rows if r["n"] is not None]
    assert len(triples) == 2 * 2 * 3
    names = tuple(f"{preset}:n={r['n']},eta={r['eta']},alpha={r['alpha']}" for r in triples)
    done = replay.run([trace], replay.Options(estimators=(*names, "jacobson", "last")))
    for row, wanted in zip(rows, done.rows, strict=True):
        assert row["mean_abs_error_ms"] == pytest.approx(wanted["mean_abs_error_ms"], rel=1e-9)
        assert row["mean_abs_error_ratio"] == pytest.approx(wanted["mean_abs_error_ratio"], rel=1e-9)
        assert row["rto_miss_rate"] == pytest.approx(wanted["rto_miss_rate"])
        assert row["mean_rto_ms"] == pytest.approx(wanted["mean_rto_ms"], rel=1e-9)
        assert row["excess_wait_ms"] == pytest.approx(wanted["excess_wait_ms"], rel=1e-9)
        halves = row["first_half_error_ms"], row["second_half_error_ms"]
        assert (249 * halves[0] + 250 * halves[1]) / 499 == pytest.approx(row["mean_abs_error_ms"])


def test_halves_are_of_the_same_run(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Test that the estimator keeps its state between both halves of a flow: the error of the second half
    equals that of a loop over all samples in Python."""
    row = rows_of(
        capsys, str(trace), "--n", "30", "--eta", "1", "--alpha", "0.05", "--preset", "experts/fitted"
    )[0]
    rtt = [round(float(line.split(",")[1]) * 1000) for line in trace.read_text().splitlines()[1:]]
    own = estimators.create("experts/fitted:n=30,eta=1,alpha=0.05")
    errors = []
    for k, y in enumerate(rtt):
        x = {"time_us": k * 20_000 + y, "sent_us": k * 20_000, "flight_segments": 1, "ttl": 0}
        errors.append(abs(own.predict_one(x) - y) / 1000)
        own.learn_one(x, y)
    scored = np.array(errors[1:])
    assert row["first_half_error_ms"] == pytest.approx(scored[:249].mean(), rel=1e-9)
    assert row["second_half_error_ms"] == pytest.approx(scored[249:].mean(), rel=1e-9)


def test_what_is_marked(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, str(trace), *GRID, "--preset", "experts/fitted")
    triples = [r for r in rows if r["n"] is not None]
    best = min(triples, key=lambda r: r["mean_abs_error_ms"])
    early = min(triples, key=lambda r: r["first_half_error_ms"])
    assert [r for r in triples if "best in hindsight" in r["note"]] == [best]
    assert [r for r in triples if "best of the first half" in r["note"]] == [early]
    (paper,) = (r for r in triples if "the paper's choice" in r["note"])
    assert (paper["n"], paper["eta"], paper["alpha"]) == (100, 2, 0.08)
    assert main(["study", "experts", str(trace), *GRID, "--preset", "experts/fitted"]) == 0
    out = capsys.readouterr().out
    assert "chosen in hindsight, on the same samples: it shows what was possible, not what to expect" in out
    assert "Chosen on the first half of each flow" in out
    assert f"{early['second_half_error_ratio']:.3f}" in out
    assert main(["study", "experts", str(trace), "--n", "50"]) == 0
    assert "is not in this grid" in capsys.readouterr().out


def test_the_same_whatever_the_threads(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = rows_of(capsys, str(trace), *GRID, "-j", "1", "--fresh")
    assert one == rows_of(capsys, str(trace), *GRID, "-j", "3", "--fresh")


def test_flows_are_pooled_and_short_ones_left_out(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short, other = tmp_path / "short.csv", tmp_path / "other.csv"
    short.write_text(suite_traces.csv(7, 20))
    other.write_text(suite_traces.csv(8, 300))
    arguments = [str(trace), str(short), str(other), "--n", "50", "--eta", "2", "--alpha", "0.08"]
    row = rows_of(capsys, *arguments)[0]
    assert (row["flows"], row["samples"]) == (2, 800)
    assert main(["study", "experts", *arguments]) == 0
    assert "1 flow of fewer than 30 samples left out" in capsys.readouterr().out


def test_report_pictures_and_formats(trace: Path, tmp_path: Path) -> None:
    page, folder, target = tmp_path / "study.html", tmp_path / "pictures", tmp_path / "rows.parquet"
    arguments = [
        *GRID,
        "--report",
        str(page),
        "--pictures",
        str(folder),
        "--format",
        "parquet",
        "-o",
        str(target),
    ]
    assert main(["study", "experts", str(trace), *arguments, "-q"]) == 0
    text = page.read_text()
    assert "hindsight" in text and "home.csv" in text
    assert {p.name for p in folder.iterdir()} == {"error.png", "error.svg", "misses.png", "misses.svg"}
    drawn = (folder / "error.svg").read_text()
    assert "N = 20" in drawn and "N = 100" in drawn and "NaN" not in drawn
    frame = pl.read_parquet(target)
    assert all(metrics.known(name, "replay") for name in frame["metric"])
    errors = frame.filter(metric="mean_abs_error_ms")["parameters"].to_list()
    assert sum(json.loads(text).get("n") == 100 for text in errors) == 6
    assert set(frame["text"].drop_nulls()) >= {"the paper's choice"} or "hindsight" in "".join(
        frame["text"].drop_nulls()
    )


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("FILE --n 10,x", "--n 10,x: give numbers with commas between them"),
        ("FILE --eta nan", "--eta nan: give numbers"),
        ("FILE --n 2.5", "a number of experts is whole"),
        ("FILE --n 1", "it takes a whole number from 2 to 1000"),
        ("FILE --alpha 2", "it takes a number from 0 to 0.999"),
        ("FILE --preset jacobson", "it has no parameter 'n'; give experts or experts/fitted"),
        ("FILE --preset expert", "did you mean experts"),
        ("FILE --min-samples 5000", "no flow of 5000 samples or more"),
        ("FILE --flow zebra", "no flow with 'zebra' in its name"),
        ("FILE --sender nobody", "not a sender"),
        ("FILE --jobs 0", "--jobs"),
        ("absent.csv", "absent.csv: no such file; check the path"),
        ("FILE --report absent/x.html", "cannot write"),
        ("BAD", "no column holds the round-trip time"),
    ],
)
def test_bad_usage(
    arguments: str, wanted: str, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    given = arguments.replace("FILE", str(trace)).replace("BAD", str(tmp_path / "bad.csv")).split()
    assert main(["study", "experts", *given]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and wanted in err, err


def test_bare_study_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "--help"]) == 0
    assert "experts" in capsys.readouterr().out
