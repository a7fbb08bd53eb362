# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn suite` from files to rows, tables and pages, each figure against a simple implementation."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import suite_traces

import twin
from tcplearn import estimators, metrics
from tcplearn.cli import main
from tcplearn.output.numbers import fine_ratio
from tcplearn.output.rows import TIDY
from tcplearn.replay import flows, replay, verdict
from tcplearn.replay.row import Row
from tcplearn.suite import measure
from tcplearn.suite import rows as suite_rows
from tcplearn.traces import TraceOptions

SOME = ("last", "jacobson", "linux", "eifel", "experts/fitted", "linreg")
LONG = ["a.csv", "b.csv", "deep/er/c.csv.gz"]
NAMES = {info.name for info in estimators.available()}


def words(names: tuple[str, ...] = SOME) -> list[str]:
    return [w for name in names for w in ("-e", name)]


def rows_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["suite", *arguments, "--format", "json", "-q", "--jobs", "1"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def replayed(path: Path, names: tuple[str, ...] = SOME) -> dict[tuple[str, str], Row]:
    done = replay.run([path], replay.Options(estimators=names))
    return {(row.flow, row.estimator): row for row in done.rows}


def test_rows_are_geometric_means_over_series(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, str(traces), *words())
    assert [r["estimator"] for r in rows if r["group"] == "series"] == list(SOME)
    by_file = [replayed(traces / name) for name in LONG]
    for row in (r for r in rows if r["group"] == "series"):
        assert (row["series"], row["samples"]) == (3, 900 + 600 + 700)
        for prefix, field in (("error", "mean_abs_error_ms"), ("at_send", "at_send_error_ms")):
            ratios = []
            for found in by_file:
                value = {name: r[field] for (_, name), r in found.items()}
                ratios.append(value[row["estimator"]] / min(value["jacobson"], value["last"]))
            mean = math.prod(ratios) ** (1 / 3)
            assert row[f"{prefix}_ratio"] == pytest.approx(mean, rel=1e-9)
            assert row[f"{prefix}_worst"] == pytest.approx(max(ratios), rel=1e-9)
            assert row[f"{prefix}_worst_series"] == LONG[ratios.index(max(ratios))]
            assert row[f"{prefix}_wins"] == sum(r < 1 for r in ratios)
            assert row[f"{prefix}_as_good_share"] == pytest.approx(sum(r <= 1.03 for r in ratios) / 3)
            assert row[f"{prefix}_ratio_low"] <= mean * (1 + 1e-9)
            assert row[f"{prefix}_ratio_high"] >= mean * (1 - 1e-9)
    short = [r for r in rows if r["group"] == "short"]
    assert {(r["series"], r["samples"]) for r in short} == {(1, 200)}
    assert short[0]["error_ratio_low"] is None  # no interval of one


def test_the_interval_is_a_bootstrap() -> None:
    """Test that a simple bootstrap with another random generator gives the same interval within the noise of
    resampling."""
    values = np.exp(np.random.default_rng(5).normal(0, 0.3, 40))
    low, high = suite_rows.interval(values)
    assert suite_rows.interval(values) == (low, high)
    rng = np.random.default_rng(77)
    means = sorted(np.log(rng.choice(values, 40)).mean() for _ in range(4000))
    assert low == pytest.approx(math.exp(means[100]), rel=0.02)
    assert high == pytest.approx(math.exp(means[3900]), rel=0.02)
    assert suite_rows.interval(values[:1]) == (None, None)


def test_restarts_begin_fresh(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    only = traces / "only"
    only.mkdir()
    (traces / "a.csv").rename(only / "a.csv")
    rows = rows_of(capsys, str(only), *words(("last", "jacobson")), "--restart", "100", "--restart", "50")
    (flow,) = flows.Reader(only / "a.csv", TraceOptions())
    rtt, arrived, sent = (flow.rows[key].tolist() for key in ("rtt_us", "time_us", "sent_us"))
    starts = flows.windows(len(rtt), 100, measure.WINDOWS_MOST)
    assert len(starts) <= measure.WINDOWS_MOST and starts[-1] + 100 <= len(rtt)
    errors = dict.fromkeys(("last", "jacobson"), 0.0)
    for name in errors:
        for a in starts:
            own = estimators.create(name)
            for k in range(a, a + 100):
                x = {"time_us": arrived[k], "sent_us": sent[k], "flight_segments": 1, "ttl": 0}
                errors[name] += abs(own.predict_one(x) - rtt[k]) if k > a else 0.0
                own.learn_one(x, rtt[k])
    for row in rows:
        wanted = errors[row["estimator"]] / min(errors.values())
        assert row["restart_100_ratio"] == pytest.approx(wanted, rel=1e-9)
        assert row["restart_100_worst_series"] == "a.csv"
        assert list(row).index("restart_50_ratio") < list(row).index("restart_100_ratio")


@pytest.mark.parametrize(
    ("samples", "length", "most"), [(500, 200, 120), (7000, 50, 120), (200, 200, 5), (9, 10, 5)]
)
def test_windows(samples: int, length: int, most: int) -> None:
    starts = flows.windows(samples, length, most)
    assert len(starts) <= most
    assert all(a + length <= samples for a in starts)
    assert bool(starts) == (samples >= length)


def test_equal_miss_rates(traces: Path, plain_timer: str, capsys: pytest.CaptureFixture[str]) -> None:
    row, *_ = rows_of(capsys, str(traces), "-e", f"{plain_timer}:miss=0.1", "-e", "jacobson")
    assert row["rto_miss_rate_requested"] == 0.1
    assert row["miss_before_series"] == 3
    # the twin: the timer run at jacobson's own rate, series by series
    ratios, skipped, misses = [], 0, [0, 0]
    for name in LONG:
        (flow,) = flows.Reader(traces / name, TraceOptions())
        theirs = twin.figures(flow.rows, estimators.parse("jacobson")).before
        if theirs.misses < measure.MISSES_LEAST:
            skipped += 1
            continue
        spec = estimators.parse(f"{plain_timer}:miss={theirs.miss_rate!r}")
        mine = twin.figures(flow.rows, spec).before
        ratios.append(mine.excess / theirs.excess)
        misses[0] += mine.misses
        misses[1] += theirs.misses
    assert ratios, "the traces must give something to compare"
    p = "match_jacobson_before"
    assert (row[f"{p}_series"], row[f"{p}_skipped"]) == (len(ratios), skipped)
    assert row[f"{p}_excess_wait_ratio"] == pytest.approx(math.prod(ratios) ** (1 / len(ratios)), rel=1e-9)
    assert row[f"{p}_misses_ratio"] == pytest.approx(misses[0] / misses[1])


def test_no_match_where_nothing_can_be_matched(
    traces: Path, plain_timer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (["-e", "last"], ["-e", plain_timer, "--no-match"]):
        assert not [key for key in rows_of(capsys, str(traces), *more)[0] if key.startswith("match")]


@pytest.mark.skipif("conformal" not in NAMES, reason="no such estimator here")
def test_conformal_keeps_its_rate(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row, *_ = rows_of(capsys, str(traces), "-e", "conformal:miss=0.1")
    assert row["rto_miss_rate_requested"] == 0.1
    assert row["miss_before_kept"] == row["miss_before_series"] == 3
    assert row["match_jacobson_before_misses_ratio"] == pytest.approx(1, abs=0.25)


@pytest.mark.usefixtures("cache_with_script")
def test_the_same_whatever_the_workers(traces: Path, tmp_path: Path, plain_timer: str) -> None:
    """Test that rows and page do not depend on the number of workers, which must also find a user's
    estimator."""
    written = []
    for jobs in ("1", "2"):
        out, page = tmp_path / f"{jobs}.json", tmp_path / "page.html"
        arguments = [
            "--fresh",
            "--jobs",
            jobs,
            "-o",
            str(out),
            "--report",
            str(page),
            "--format",
            "json",
            "-q",
        ]
        more = [*words(("last", "jacobson", plain_timer)), "--restart", "50"]
        assert main(["suite", str(traces), *more, *arguments]) == 0
        written.append((out.read_text(), re.sub(r"--jobs \d|\d\.json", "", page.read_text())))
    assert written[0] == written[1]


def test_what_cannot_be_read_is_told_and_no_obstacle(
    traces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (traces / "cut.csv.gz").write_bytes((traces / "deep" / "er" / "c.csv.gz").read_bytes()[:-3000])
    (traces / "gone.csv").symlink_to(traces / "nowhere")
    (traces / "empty.pcap").touch()
    assert main(["suite", str(traces), *words(), "--jobs", "2"]) == 0
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert all(line.startswith("tcplearn: warning: ") for line in lines)
    for wanted in ("notes.txt: ", "gone.csv: no such file", "empty.pcap: the file is empty", "cut.csv.gz: "):
        assert len([line for line in lines if wanted in line]) == 1, (wanted, err)
    assert "3 files could not be read" in out
    assert "1 flow left out, with hardly any sample" in out
    assert "\x1b" not in out and "hidden" not in out


def test_the_table_says_what_the_rows_say(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, str(traces), *words(), "--all")
    assert main(["suite", str(traces), *words(), "--all", "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    for row in rows:
        assert fine_ratio(row["error_ratio"]) in out
    assert "Prediction, 3 series of 500 samples or more" in out
    assert "Shorter series: 1 of fewer than 500 samples" in out
    assert "the intervals are rough" in out
    more = ["--min-samples", "150", "-q", "--all", "--jobs", "1"]
    assert main(["suite", str(traces), *words(), *more]) == 0
    assert "4 series of 150 samples or more" in capsys.readouterr().out


def test_the_verdict_and_one_table_come_first(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {r["estimator"]: r for r in rows_of(capsys, str(traces)) if r["group"] == "series"}
    assert main(["suite", str(traces)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "Best RTO for this traffic: conformal.\nIn 2,200 samples conformal has 1 spurious timeout"
    )
    assert "but too many spurious timeouts: 5, where 3 would be allowed." in out
    assert (
        out.count("-----\n") == 1 and "Chosen miss rates" not in out and "\nNext: --report suite.html" in out
    )
    done = replay.run([traces / n for n in ("a.csv", "b.csv", "deep/er/c.csv.gz")])
    for total in done.totals:
        row = rows[total.estimator]
        for key in (verdict.SPURIOUS, verdict.PROBES):
            assert row[key] == total[key]
        assert row["mean_rto_ms"] == pytest.approx(total["mean_rto_ms"], rel=1e-9)
        assert row["mean_rto_linux_ratio"] == pytest.approx(total["mean_rto_linux_ratio"], rel=1e-9)
        assert row["mean_rto_linux_ratio_low"] <= row["mean_rto_linux_ratio"] + 1e-12
        assert f"\n{total.estimator} " in out and f" {total[verdict.SPURIOUS]:,} " in out


def test_formats_agree(traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, str(traces), *words(), "--restart", "60")
    target = tmp_path / "rows.parquet"
    assert main(["suite", str(traces), *words(), "--restart", "60", "--format", "csv", "-q"]) == 0
    read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [list(r) for r in read] == [list(r) for r in rows]
    assert [r["error_ratio"] for r in read] == [str(r["error_ratio"]) for r in rows]
    shown = ["--format", "parquet", "-q", "-o", str(target)]
    assert main(["suite", str(traces), *words(), "--restart", "60", *shown]) == 0
    frame = pl.read_parquet(target)
    assert frame.columns == list(TIDY)
    assert all(metrics.known(name, "replay") for name in frame["metric"])
    one = frame.filter(flow="series", algorithm="eifel", metric="mean_rto_ms")
    wanted = next(r for r in rows if r["group"] == "series" and r["estimator"] == "eifel")
    assert one["value"].to_list() == [wanted["mean_rto_ms"]] and one["unit"].to_list() == ["ms"]
    worst = frame.filter(pl.col("metric") == "error_worst_series")
    assert set(worst["text"]) <= {*LONG, "deep/short.csv"}


@pytest.mark.usefixtures("cache_with_script")
def test_report_and_pictures(
    traces: Path, plain_timer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (traces / "a.csv").rename(traces / "<b>&.csv")
    page, folder = tmp_path / "suite.html", tmp_path / "pictures"
    arguments = ["--report", str(page), "--pictures", str(folder), "--restart", "50", "--restart", "100"]
    arguments += ["--jobs", "1"]
    names = ("last", "jacobson", "experts", f"{plain_timer}:miss=0.1")
    assert main(["suite", str(traces), *words(names), *arguments, "-q"]) == 0
    text = page.read_text()
    assert "&lt;b&gt;&amp;.csv" in text and "<b>&" not in text.split("<script")[0]
    assert "a miss rate of 10 % was requested" in text and "notes.txt" in text
    assert "<h2>Young connections</h2>" in text and 'id="glossary"' in text
    assert "http:" not in re.sub(r"<script.*?</script>", "", text, flags=re.S)
    kinds = ("prediction", "worst", "timers", "miss-rates", "equal-misses", "restarts")
    assert {p.name for p in folder.iterdir()} == {f"{k}{s}" for k in kinds for s in (".png", ".svg")}
    for kind in kinds:
        drawn = (folder / f"{kind}.svg").read_text()
        assert "NaN" not in drawn and "undefined" not in drawn
    assert "K=8" in (folder / "timers.svg").read_text()


@pytest.mark.usefixtures("cache_with_script")
def test_one_series_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "flat.csv").write_text("rtt_ms\n" + "20\n" * 600)
    (tmp_path / "b.csv").write_text(suite_traces.csv(1, 600))
    report = ["--report", str(tmp_path / "out" / "page.html"), "--format", "json", "-q", "--jobs", "1"]
    (tmp_path / "out").mkdir()
    assert main(["suite", str(tmp_path), *report]) == 0
    row = json.loads(capsys.readouterr().out)[0]
    assert row["series"] == 2 and row["error_series"] == 1  # no ratio to an error of 0


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["suite", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert err.startswith("tcplearn: ") and "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("EMPTY", "no file in it; name a directory of traces"),
        ("BAD", "none of its files can be read: "),
        ("DIR --min-samples 5000", "no series of 5000 samples or more; the longest has 900"),
        ("DIR --flow zebra", "no series with 'zebra' in its name"),
        ("DIR -e jacobsen", "did you mean jacobson"),
        ("DIR -e conformal:miss=0.1 -e conformal:miss=0.10", "an estimator is named twice"),
        ("DIR/a.csv", "is a file"),
        ("DIR/absent", "no such directory; check the path"),
        ("DIR --match -e last", "none of the estimators compared has a miss rate"),
        ("DIR DIR/a.csv", "unexpected extra argument"),
        ("DIR --total", "no such option: --total"),
        ("DIR --rank wait", "no such option: --rank"),
        ("DIR --seed 1", "no such option: --seed"),
        ("DIR --jobs 0", "--jobs"),
        ("DIR --restart 1", "--restart"),
        ("DIR -o absent/rows.csv", "absent/rows.csv: cannot write"),
        ("DIR --sender nobody", "not a sender"),
        ("DIR --scheduler here:1 --slurm 2", "give one of them"),
    ],
)
def test_bad_usage(
    arguments: str, wanted: str, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.csv").write_text("nothing\n")
    for word, place in (("EMPTY", "empty"), ("BAD", "bad"), ("DIR", "traces")):
        arguments = (
            arguments.replace(word, str(tmp_path / place)) if word in arguments.split("/")[0] else arguments
        )
    assert wanted in refused(capsys, *arguments.split())


def test_a_users_estimator_that_fails(
    traces: Path, installed_example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import my_estimator

    monkeypatch.setattr(my_estimator.RunningMedian, "predict_one", lambda self, x: math.nan)
    assert "gave NaN or infinity" in refused(capsys, str(traces), "-e", installed_example, "--jobs", "1")


def test_real_traces(capsys: pytest.CaptureFixture[str]) -> None:
    """Test rough bounds on real traces, which have only a few series of very different paths."""
    data = suite_traces.shared()
    assert main(["suite", str(data), "--format", "json", "--min-samples", "250", "-q"]) == 0
    out, err = capsys.readouterr()
    rows = {r["estimator"]: r for r in json.loads(out) if r["group"] == "series"}
    assert "README.md" in err
    assert rows["last"]["series"] >= 10
    assert rows["jacobson"]["error_ratio"] >= 1 and rows["last"]["error_ratio"] >= 1
    assert rows["jacobson"]["at_send_ratio"] < rows["last"]["at_send_ratio"]
    if "tracking" in rows:
        assert rows["tracking"]["error_ratio_high"] < 1
