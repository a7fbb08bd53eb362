# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the lab in its virtual machine: the command of the README, the golden vectors in the kernel, and
errors."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn import debian, estimators
from tcplearn import metrics as vocabulary
from tcplearn.__main__ import main
from tcplearn.errors import FailedError, UserError
from tcplearn.lab import check, machine, run, scenario
from tcplearn.output.rows import TIDY
from tcplearn.traces import open_trace, tlog

LIVE = ROOT / "experiments" / "nunes2014" / "live-1.toml"
SMALL = """
name = "small"
[path.hop.link]
delay_ms = 10
forward = { rate_mbps = 10, queue_packets = 60, jitter_ms = 1, loss_percent = 1 }
[transfer]
bytes = "300kB"
[algorithms]
estimators = ["last", "experts/fitted", "eifel", "none"]
congestion = ["cubic", "vegas"]
tlp = [false]
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[scenario.Scenario, Path]]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "small.toml").write_text(SMALL)
    yield scenario.load(folder / "small.toml"), folder / "runs"


@pytest.mark.xdist_group("kernel-vectors")
def test_golden_vectors_in_the_kernel(compared_vectors: list[str]) -> None:
    kinds = dict(check.expected_outputs(ROOT / "vectors"))
    assert {"estimator", "loss", "loss/features", "startup", "resend", "first-rto"} == set(kinds)
    for kind, files in kinds.items():
        texts = [line for path in files for line in path.read_text().splitlines()]
        cases = sum(line.startswith("case,") for line in texts)
        answers = len(texts) - cases
        assert f"{kind} all cases {cases} answers {answers} wrong 0 untried 0" in (
            line if kind != "loss/features" else line.replace(f"untried {line.split()[-1]}", "untried 0")
            for line in compared_vectors
        )


MISS_RATE = ROOT / "linux" / "lab" / "scenarios" / "miss-rate.toml"


@pytest.mark.parametrize(
    ("profile", "specs", "tolerance"),
    [
        # twelve misses are expected
        pytest.param("smoke", ["conformal:miss=0.004"], 0.5, marks=pytest.mark.full),
        pytest.param("full", ["conformal", "conformal:miss=0.001"], 0.1, marks=pytest.mark.full),
    ],
)
def test_a_rate_of_misses_that_is_set_in_the_kernel_is_held(
    profile: str, specs: list[str], tolerance: float, ready: machine.Machine, tmp_path: Path
) -> None:
    """Test that the kernel's RTO has the miss rate set by net.tcplearn.estimator=conformal:miss=0.001. As the
    timer is rounded up to jiffies, it misses less often."""
    asked = scenario.load(MISS_RATE, profile)
    assert asked.algorithms.estimators == specs and asked.transfer.requests
    done = run.run(asked, run.Options(out=tmp_path / "runs"))
    timer = {row["algorithm"]: row["value"] for row in done.rows if row["metric"] == "rto_miss_rate_before"}
    for log in done.folders[0].glob("*/log.gz"):
        (connection,) = tlog.parse(gzip.decompress(log.read_bytes())).connections.values()
        samples = connection.acks[connection.acks["rtt_us"] >= 0]
        outlasts = samples["rtt_us"][1:] * 256 > samples["rto_q8"][:-1]
        assert len(samples) > asked.transfer.requests.count
        assert outlasts.mean() == pytest.approx(estimators.miss_rate(connection.spec), rel=tolerance)
        assert 0 < timer.pop(f"cubic+{connection.spec}") <= outlasts.mean()
    assert not timer


@pytest.mark.full
def test_smoke_of_a_live_experiment(
    ready: machine.Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--profile", "smoke", "--format", "json", "--out", str(tmp_path / "lab"), "-q"]
    assert main(["lab", "run", str(LIVE), *options]) == 0
    rows = json.loads(capsys.readouterr().out)
    for row in rows:
        assert tuple(row) == tuple(TIDY) and vocabulary.known(row["metric"], vocabulary.LAB), row
        if row["metric"] in ("replay_differences", "log_records_lost"):
            assert row["value"] == 0, row
    metrics = {row["metric"] for row in rows}
    assert {
        "mean_abs_error_ticks",
        "mean_cwnd_segments",
        "retransmitted_packets",
        "ss.rto_us",
        "nstat.TcpOutSegs",
    } <= metrics
    assert {row["algorithm"] for row in rows} == {
        "reno+eifel",
        "reno+stock",
        "reno+experts/nunes2014-linux",
    }
    # the same run is found again, and the page is made of what is kept of it
    words = [
        "experiments",
        "nunes2014",
        "live-1/smoke",
        "--page",
        "live",
        "--profile",
        "smoke",
        "--run",
        "-q",
    ]
    words += ["--file", str(tmp_path / "runs.parquet"), "--out", str(tmp_path), "-o", str(tmp_path / "page")]
    assert main(words) == 0
    assert "6 of 30 runs, 1 figures" in capsys.readouterr().err
    text = (tmp_path / "page" / "live.md").read_text()
    assert (
        text.count("| `experts/nunes2014-linux` |") == 4
    )  # errors and what was sent, with probes and without
    figure = (tmp_path / "page" / "live-figure-26.svg").read_text()
    assert "replayed on the same samples" in figure and ">live-1<" in figure


@pytest.mark.full
def test_twice_gives_identical_rows(
    ready: machine.Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Test that a second run on a busy machine gives identical rows, because the guest's clock is independent
    of the host's load. The first run may be stored (kept_guests.py); the second runs now in a process of its
    own."""
    text = SMALL.replace('["last", "experts/fitted", "eifel", "none"]', '["experts/fitted"]')
    (tmp_path / "s.toml").write_text(text.replace(', "vegas"', "").replace('"300kB"', '"100kB"'))
    words = ["lab", "run", str(tmp_path / "s.toml"), "--fresh", "--format", "json", "--out", str(tmp_path)]
    assert main(words) == 0
    first = capsys.readouterr().out
    load = max(1, len(os.sched_getaffinity(0)) // 2)  # beside what else is tested at this time
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    try:
        again = [sys.executable, "-m", "tcplearn", *words]
        done = subprocess.run(again, capture_output=True, text=True, timeout=600)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert done.returncode == 0, done.stderr
    assert len(json.loads(first)) > 20 and first == done.stdout


@pytest.mark.xdist_group("small-scenario")
def test_the_timer_is_armed_for_what_the_module_wrote(
    ready: machine.Machine, small: tuple[scenario.Scenario, Path]
) -> None:
    chosen, folder = small
    rows = run.run(chosen, run.Options(out=folder)).rows
    value = {(row["algorithm"], row["metric"]): row["value"] or 0.0 for row in rows}
    for algorithm in {row["algorithm"] for row in rows}:
        if algorithm.endswith("+none"):  # the plain kernel, beside ours
            assert value[algorithm, "module.connections"] == 0 and value[algorithm, "goodput_mbps"] > 0
            continue
        assert value[algorithm, "module.armed"] > 50
        assert value[algorithm, "armed_ours_at_once_share"] >= 0.99, algorithm
        assert value[algorithm, "replay_differences"] == 0
        assert value[algorithm, "module.connections"] == value[algorithm, "module.connections_ended"] == 1


@pytest.mark.xdist_group("small-scenario")
def test_finished_runs_are_kept_and_replay_reads_their_logs(
    ready: machine.Machine, small: tuple[scenario.Scenario, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, folder = small
    first = run.run(chosen, run.Options(out=folder)).rows
    monkeypatch.setattr(machine, "run", lambda *_, **__: pytest.fail("ran again"))
    assert run.run(chosen, run.Options(out=folder)).rows == first
    log = next(folder.glob("small-*/cubic+eifel+tlp-off/log.gz"))
    trace = open_trace(log)
    batches = list(trace.batches())
    samples = next(
        row["value"] for row in first if row["metric"] == "samples" and row["algorithm"] == "cubic+eifel"
    )
    assert trace.kind == "kernel log" and trace.warnings == []
    assert sum(int((batch["rtt_us"] >= 0).sum()) for batch in batches) == samples
    assert trace.flow(0)["name"].endswith(":5001 (eifel)")


@pytest.mark.full
@pytest.mark.parametrize("by", ["nginx", "iperf3"])
def test_real_programs_under_the_module(ready: machine.Machine, tmp_path: Path, by: str) -> None:
    text = (ROOT / "linux" / "lab" / "scenarios" / "programs.toml").read_text()
    text = text.replace('"none", "stock", "experts/fitted", "conformal"', '"none", "conformal"')
    (tmp_path / "p.toml").write_text(text.replace('"nginx"', f'"{by}"').replace('"4MB"', '"600kB"'))
    rows = run.run(scenario.load(tmp_path / "p.toml", "smoke"), run.Options(out=tmp_path / "runs")).rows
    value = {(row["algorithm"], row["metric"]): row["value"] or 0.0 for row in rows}
    assert all(by in json.loads(row["parameters"]) for row in rows)  # its version
    assert value["cubic+none", "module.connections"] == 0
    assert value["cubic+conformal", "replay_differences"] == 0
    assert value["cubic+conformal", "samples"] > 30
    for algorithm in ("cubic+none", "cubic+conformal"):
        assert 1 < value[algorithm, "goodput_mbps"] < 10.1
        assert value[algorithm, f"{by}.bytes"] > 100_000


@pytest.mark.full
def test_a_traced_link_passes_what_its_trace_has(ready: machine.Machine, tmp_path: Path) -> None:
    (tmp_path / "link").write_text(
        "".join(f"{ms}\n" for ms in range(10, 2001, 10) if ms <= 1000 or ms == 2000)
    )
    link = "rate_mbps = 10, queue_packets = 60, jitter_ms = 1, loss_percent = 1"
    assert link in SMALL
    text = SMALL.replace(link, 'trace = "link", queue_packets = 60').replace('"300kB"', '"600kB"')
    text = text.replace('["last", "experts/fitted", "eifel", "none"]', '["none"]').replace(', "vegas"', "")
    (tmp_path / "t.toml").write_text(text)
    rows = run.run(scenario.load(tmp_path / "t.toml"), run.Options(out=tmp_path / "runs")).rows
    goodput = next(row["value"] for row in rows if row["metric"] == "goodput_mbps")
    # a packet each 10 ms for a second, none for another: 0.6 Mbit/s of packets on average
    assert goodput is not None and 0.45 < goodput < 0.65


def test_a_machine_that_hangs_is_ended_and_finished_runs_stay(ready: machine.Machine, tmp_path: Path) -> None:
    with pytest.raises(FailedError, match=r"the guest ran longer than 3 s"):
        machine.run(ready, "while :; do :; done\n", tmp_path / "out", seed=987654321, limit_s=3)
    left = subprocess.run(["ps", "-ewwo", "stat,args"], capture_output=True, text=True).stdout
    mine = [line for line in left.splitlines() if "-seed 987654321 " in line and not line.startswith("Z")]
    assert mine == []


def test_a_scenario_that_fails_says_so(ready: machine.Machine, tmp_path: Path) -> None:
    with pytest.raises(FailedError, match=r"no such thing"):
        machine.run(ready, "echo no such thing; exit 3\n", tmp_path / "out", seed=1, limit_s=60)


@pytest.mark.full
def test_storm_of_connections(ready: machine.Machine) -> None:
    assert any(line.startswith("reloads 20") for line in check.check_stress(ready))


def test_missing_qemu_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "program", lambda _: None)
    with pytest.raises(UserError, match=r"^tcplearn lab .* apt-get install .* qemu-system-x86 gcc-12 make"):
        machine.prepare(machine.cache_folder())
