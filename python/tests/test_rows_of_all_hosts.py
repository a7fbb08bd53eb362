# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the rows of replay, ns-3 and the lab in one table: they have the same columns, and a metric means the
same in each."""

from __future__ import annotations

import json

import polars as pl
import pytest

from samples import ROOT
from tcplearn import metrics
from tcplearn.cli import main
from tcplearn.output.rows import TIDY

CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"
NETWORK = """
name = "one-link"
tick_ms = 4
[path.hop.link]
delay_ms = 10
forward = { rate_mbps = 10, queue_packets = 60, jitter_ms = 1, loss_percent = 1 }
[transfer]
bytes = "300kB"
[algorithms]
estimators = ["stock", "tracking"]
congestion = ["cubic"]
tlp = [true]
"""
COMMANDS = {
    "replay": ("replay", str(CAPTURE), "-e", "jacobson", "-e", "conformal", "--total"),
    "suite": ("suite", str(CAPTURE.parent), "-e", "jacobson", "-e", "last", "--min-samples", "30"),
    "study": ("study", "experts", str(CAPTURE), "--n", "10", "--eta", "2", "--alpha", "0.08"),
    "ns3": ("simulate", str(ROOT / "experiments" / "nunes2014" / "scenario-5.toml"), "--profile", "smoke"),
    "lab": ("lab", "run"),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "one-link.toml").write_text(NETWORK)
    frames = []
    for name, words in COMMANDS.items():
        arguments = [*words, "--format", "parquet", "-q", "-o", str(folder / f"{name}.parquet")]
        if name == "lab":
            arguments += [str(folder / "one-link.toml"), "--out", str(folder / "lab")]
        if name == "ns3":
            arguments += ["--flows", "--cost", "--out", str(folder / "ns3")]
        assert main(arguments) == 0
        frames.append(pl.read_parquet(folder / f"{name}.parquet"))
    return pl.concat(frames)  # which refuses other columns or types


def test_the_same_columns_in_every_host(table: pl.DataFrame) -> None:
    assert table.columns == list(TIDY)
    assert set(table["host"]) == {metrics.REPLAY, metrics.NS3, metrics.LAB}
    for name in ("host", "algorithm", "run", "parameters", "metric", "unit", "commit"):
        assert table[name].null_count() == 0, name
    assert all(len(run) == 24 or len(run) == 20 for run in set(table["run"]))
    assert all(isinstance(json.loads(text), dict) for text in set(table["parameters"]))


def test_every_metric_is_of_the_vocabulary_in_its_unit(table: pl.DataFrame) -> None:
    for host, metric, unit, text in table.select("host", "metric", "unit", "text").unique().iter_rows():
        assert metrics.known(metric, host), f"{host}: {metric}"
        assert text is not None or unit == metrics.unit_of(metric), f"{host}: {metric} in {unit}"


def test_what_several_hosts_measure_is_of_one_size(table: pl.DataFrame) -> None:
    """Test that values of different programs have similar sizes. A wrong unit, such as microseconds or
    percent, would change them by a factor of a thousand or a hundred."""
    middle = (
        table.filter(pl.col("value").is_not_null()).group_by("host", "metric").agg(pl.col("value").median())
    )
    value = {(host, metric): v for host, metric, v in middle.iter_rows()}
    for host in (metrics.REPLAY, metrics.NS3, metrics.LAB):
        assert 0 < value[host, "mean_abs_error_ms"] < 5000
        assert value[host, "mean_abs_error_ms"] < value[host, "mean_rto_ms"] < 120_000
        assert 0 <= value[host, "rto_miss_rate"] <= 1
    for host in (metrics.NS3, metrics.LAB):
        assert 0 <= value[host, "retransmitted_share"] < 1


def test_a_tick_is_the_scenario_s(table: pl.DataFrame) -> None:
    wanted = table.filter(pl.col("metric").is_in(["mean_abs_error_ms", "mean_abs_error_ticks"]))
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for row in wanted.filter(pl.col("host") == metrics.LAB).iter_rows(named=True):
        key = (row["run"], row["algorithm"], row["parameters"])
        found.setdefault(key, {})[row["metric"]] = row["value"]
    assert found
    for (*_, parameters), errors in found.items():
        tick_ms = json.loads(parameters)["tick_ms"]
        assert errors["mean_abs_error_ticks"] == pytest.approx(errors["mean_abs_error_ms"] / tick_ms)
