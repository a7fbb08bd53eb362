# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test web connections and startup policies: short runs of each scenario, tambuwal2018's page, and input that
is refused."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import ROOT, Simulate
from experiments.lib import runs as kept
from tcplearn import algorithms, metrics
from tcplearn.__main__ import main
from tcplearn.output.rows import TIDY
from tcplearn.simulate.policies import FirstRto

PAPER = ROOT / "experiments" / "tambuwal2018"
FILES = ("levels.toml", "mixes.toml")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which tests store the runs of these profiles. The first test that needs a run
    simulates it."""
    return tmp_path_factory.mktemp("runs")


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("name", FILES)
def test_smoke(name: str, simulate: Simulate, runs: Path) -> None:
    rows = simulate(PAPER / name, "--profile", "smoke", "--flows", out=runs)
    assert rows and all(tuple(row) == tuple(TIDY) for row in rows)
    assert all(metrics.known(row["metric"], metrics.NS3) for row in rows)
    for run in {r["run"] for r in rows}:
        of_run = {r["metric"]: r["value"] for r in rows if r["run"] == run and r["flow"] == "total"}
        assert of_run["connections"] == 150
        assert of_run["connections_died"] == of_run["connections_unfinished"] == 0
        assert of_run["connections_forced"] > 10
        responses = [r["value"] for r in rows if r["run"] == run and r["metric"] == "response_rtts"]
        assert len(responses) >= of_run["connections_forced"] and min(responses) >= 2 - 1e-6


@pytest.mark.usefixtures("ns3")
def test_the_same_connections_whatever_the_startup(simulate: Simulate, runs: Path) -> None:
    rows = simulate(PAPER / "levels.toml", "--profile", "smoke", "--flows", out=runs)
    sizes: dict[str, dict[str, float]] = {}
    for r in rows:
        if r["metric"] == "response_bytes":
            startup = json.loads(r["parameters"])["load.startup"]
            sizes.setdefault(startup, {})[r["flow"]] = r["value"]
    first, *others = sizes.values()
    assert len(sizes) == 4
    for other in others:
        both = first.keys() & other.keys()
        assert len(both) > 10 and all(first[flow] == other[flow] for flow in both)


@pytest.mark.usefixtures("ns3")
def test_the_page(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page"
    words = ["experiments", "tambuwal2018", "--page", "simulated", "--profile", "smoke", "-j", "1", "-q"]
    words += ["--file", str(tmp_path / "runs.parquet"), "--out", str(runs), "-o", str(out)]
    assert main(words) == 2
    assert "--run does them" in capsys.readouterr().err
    assert main([*words, "--run"]) == 0
    assert "10 of 10 runs, 14 figures" in capsys.readouterr().err
    text = (out / "simulated.md").read_text()
    assert "10 runs (" in text and "neither reproduced nor refuted" in text
    for startup in ("standard", "tsl/3-16", "linux", "tsl-feedback"):
        assert f"| 40 % | `{startup}` | 1 |" in text
    assert "| file_bytes | 0.5 | 2258 |" in text
    assert "agree with those of ns-2.35 within 5 %" in text and "| server_rtt_ms | -4.7 % at 0.9982 |" in text
    pictures = sorted((out / "figures").glob("*.svg"))
    assert len(pictures) == 14
    assert (
        "| Figure 2 | – | – | responses of at most three segments | 0.75 share | 0.727 (0.726 to 0.728) |"
        in text
    )
    assert "| initial RTO | 1 s | 1 | set alike | `common.toml` |" in text
    for picture in pictures:
        ElementTree.parse(picture)
        assert f"(figures/{picture.name})" in text
    shown = [
        " | ".join(f"{sorted(rtts)[int(p * len(rtts))]:.1f}" for p in (0.5, 0.9, 0.99))
        for rtts in (run.series["lost_rtts"] for run in kept.read(tmp_path / "runs.parquet"))
    ]
    assert sum(f" | {quantiles} |" in text for quantiles in shown) >= 4  # the fifth run mixes two startups


BAD = [
    ("load.level = 3.5", "scenario.load.level: should be less than or equal to 3, not 3.5"),
    ("load.connections = 750001", "load.connections: should be less than or equal to 750000"),
    ("load.response_max_bytes = 10.0", "load.response_max_bytes: should be greater than or equal to 1000"),
    (
        'load.startup = "tsl-feedbak"',
        "load.startup: no startup policy 'tsl-feedbak'; did you mean tsl-feedback",
    ),
    ('load.startup = "tsl:iw_min=0"', "load.startup: tsl: iw_min=0: it takes a whole number from 1 to 65535"),
    ('load.startup = "tsl:iw=2"', "load.startup: startup policy 'tsl' has no parameter 'iw'"),
    ("load.startup_share = 2.0", "load.startup_share: should be less than or equal to 1"),
    ("load.warmup_s = 1e6", "load.warmup_s has to be less than duration_s"),
    ("load.level = 0.0", "load.level: should be greater than or equal to 0.01"),
    ("load.connections = 0", "load.connections: should be greater than or equal to 1"),
    ("load.warmup_s = 5e4", "load.warmup_s: 25,000 MB are offered in the warm-up, more than 7,500"),
    ("topology.rate_mbps = 1e9", "topology: rate_mbps: the bottleneck is faster than edge_mbps, 1000"),
    ("topology.loss = [0.1, 0.0]", "topology.loss: give [lowest, highest]"),
    ("topology.syn_ack_loss = 1.0", "topology.syn_ack_loss: should be less than 1"),
]


@pytest.mark.parametrize(("line", "expected"), BAD, ids=[line for line, _ in BAD])
def test_refused_in_one_line(
    line: str, expected: str, fake_engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    profile = f"[profiles.t]\nscenario = {{ {line} }}\n[[profiles.t.grids]]\nseeds = 1\n"
    file.write_text(f'extends = "{PAPER / "levels.toml"}"\nname = "T"\n{profile}')
    assert main(["simulate", str(file), "--profile", "t", "--out", str(tmp_path / "o")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and expected in lines[0]


def test_web_needs_its_topology(
    fake_engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ROOT / "experiments" / "nunes2014" / "scenario-5.toml"
    (tmp_path / "bad.toml").write_text(f'extends = "{other}"\nname = "T"\n[scenario.load]\nkind = "web"\n')
    assert main(["simulate", str(tmp_path / "bad.toml"), "--profile", "smoke"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_every_policy_of_the_core_is_read() -> None:
    names = [info.name for info in algorithms.available(algorithms.STARTUP)]
    assert len(names) == len(set(names)) >= 10
    for info in algorithms.available(algorithms.STARTUP):
        changed = ",".join(f"{p.key}={p.low:g}" for p in info.params)
        assert algorithms.parse(algorithms.STARTUP, f"{info.name}:{changed}").params == {
            p.key: p.low for p in info.params
        }


FIRST_RTO = ROOT / "experiments" / "baddam2018" / "simulated.toml"


@pytest.mark.usefixtures("ns3")
def test_first_rtos_of_places(simulate: Simulate, tmp_path: Path) -> None:
    rows = simulate(FIRST_RTO, "--profile", "smoke", "--flows")
    whole: dict[str, list[float]] = {}
    for r in rows:
        if r["metric"] == "handshake_ms":
            whole.setdefault(json.loads(r["parameters"])["variant"], []).append(r["value"])
    assert set(whole) == {"stock", "constant", "model", "wrong"} and all(map(len, whole.values()))
    assert sum(whole["model"]) / len(whole["model"]) < 0.6 * sum(whole["stock"]) / len(whole["stock"])


@pytest.mark.usefixtures("ns3")
def test_a_first_rto_is_a_spec_too(simulate: Simulate, tmp_path: Path) -> None:
    """Test that the parameters of a first-RTO model and the same model written as a spec give the same
    policy."""
    model = FirstRto(last=0.0, high=1.4335479736328125, nothing_us=305643)
    file = tmp_path / "spec.toml"
    file.write_text(
        f'extends = "{FIRST_RTO}"\nname = "spec"\n[variants]\n'
        """table = { "load.first_rto" = { last = 0.0, high = 1.4335479736328125, nothing_us = 305643 } }\n"""
        f"""text = {{ "load.first_rto" = "{model.algorithm()}" }}\n"""
        """other = { "load.first_rto" = "rfc6298" }\n"""
        '[grid]\nvariants = ["table", "text", "other"]\n'
    )
    found: dict[str, list[tuple[str, float]]] = {}
    for r in simulate(file, "--profile", "smoke", "--flows"):
        found.setdefault(json.loads(r["parameters"])["variant"], []).append((r["metric"], r["value"]))
    assert found["text"] == found["table"] and found["other"] != found["table"]


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("places = 0", "first_rto needs a number of places"),
        ("first_rto = { last = 65.0, high = 0.0, nothing_us = 20000 }", "first_rto.last: "),
        ("first_rto = { last = 1.0, high = 0.0 }", "first_rto.nothing_us: is missing"),
        (
            "first_rto = { lats = 1.0, high = 0.0, nothing_us = 20000 }",
            "first_rto.lats: no such key; did you mean last?",
        ),
        ('first_rto = "emulate"', "load.first_rto: no first RTO policy 'emulate'; did you mean emulated?"),
        (
            'first_rto = "rfc6298:cap_us=0.5"',
            "load.first_rto: rfc6298: cap_us=0.5: it takes a whole number from ",
        ),
    ],
)
def test_of_a_mistaken_first_rto_one_line_is_said(
    mistake: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load = {"places": "3", "first_rto": "{ last = 1.0, high = 0.0, nothing_us = 20000 }"}
    load |= [mistake.split(" = ", 1)]
    lines = "\n".join(f"{key} = {value}" for key, value in load.items())
    file = tmp_path / "x.toml"
    file.write_text(f'extends = "{PAPER}/common.toml"\nname = "x"\n[scenario.load]\n{lines}\n')
    assert main(["simulate", str(file), "--profile", "full", "-q"]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
