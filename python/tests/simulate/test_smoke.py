# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test a short run of each shipped scenario, and properties that any simulation must have."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conftest import PAPER, ROOT, Simulate
from tcplearn import metrics
from tcplearn.output.rows import TIDY
from tcplearn.simulate import engine

pytestmark = pytest.mark.usefixtures("ns3")

SCENARIOS = sorted(PAPER.glob("scenario-*.toml"))


#: As scenario I, but nobody moves.
STATIC = "scenario-3"


@pytest.mark.parametrize(
    "file",
    [pytest.param(p, marks=[pytest.mark.full] if p.stem == STATIC else [], id=p.stem) for p in SCENARIOS],
)
def test_smoke_of_every_scenario(file: Path, simulate: Simulate) -> None:
    rows = simulate(file, "--profile", "smoke")
    assert rows and all(tuple(row) == tuple(TIDY) for row in rows)
    assert all(metrics.known(row["metric"], metrics.NS3) for row in rows)
    assert {json.loads(row["parameters"])["tick_ms"] for row in rows} == {500}
    by = {(r["run"], r["metric"]): r["value"] for r in rows}
    runs = {r["run"] for r in rows}
    assert len(runs) >= 4
    for run in runs:
        assert by[run, "flows_died"] == 0
        assert by[run, "flows"] >= 3
        assert by[run, "needless_timeouts"] >= by[run, "spurious_timeouts"] >= 0
    # a sparse network may carry nothing in five seconds; the others must
    if file.stem != "scenario-2":
        assert all(by[run, "delivered_packets"] > 0 and by[run, "mean_abs_error_ticks"] >= 0 for run in runs)


def test_same_seed_same_rows(simulate: Simulate, tmp_path: Path) -> None:
    file = PAPER / "scenario-5.toml"
    first = simulate(file, "--profile", "smoke", "--fresh", "--flows", out=tmp_path / "a")
    again = simulate(file, "--profile", "smoke", "--fresh", "--flows", out=tmp_path / "b")
    assert first == again
    assert len({r["flow"] for r in first}) == 31


def test_stock_estimator_gives_the_same_network(simulate: Simulate, tmp_path: Path) -> None:
    """Test that `jacobson` with RFC 6298's G and floor gives the same results as ns-3's own estimator in a
    scenario."""
    file = tmp_path / "scenario.toml"
    file.write_text(
        f'extends = "{PAPER / "scenario-7.toml"}"\nname = "T"\n[profiles.t]\n'
        "scenario = { duration_s = 30.0, load.start_s = [0.0, 2.0] }\n[[profiles.t.grids]]\nseeds = 2\n"
        'algorithms = ["ns3", "jacobson:granularity_us=1000,rto_min_us=1000000"]\ntimings = ["every-ack"]\n'
        'variants = ["droptail-50"]\nvary = { "load.flows" = [4] }\n'
    )
    rows = simulate(file, "--profile", "t")
    values: dict[str, dict[str, float]] = {}
    for r in rows:
        values.setdefault(r["algorithm"], {})[f"{r['parameters']} {r['seed']} {r['metric']}"] = r["value"]
    stock, ours = values.values()
    assert len(stock) > 50
    for key, value in stock.items():
        near = 1e-3 if key.endswith("_ms") else 1e-6  # 1 us
        assert ours[key] == pytest.approx(value, abs=near, rel=1e-6), key


def test_fixed_point_gives_nearly_the_same(simulate: Simulate, tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(
        f'extends = "{PAPER / "scenario-5.toml"}"\nname = "T"\n[profiles.t]\n'
        "scenario = { duration_s = 10.0, load.start_s = [0.0, 2.0] }\n[[profiles.t.grids]]\nseeds = 1\n"
        'algorithms = ["jacobson/nunes2014", "jacobson/nunes2014@fixed"]\ntimings = ["every-ack"]\n'
        'variants = ["1Mbps"]\nvary = {}\n'
    )
    rows = [r for r in simulate(file, "--profile", "t") if r["metric"] == "mean_abs_error_ticks"]
    assert len(rows) == 2
    assert rows[0]["value"] == pytest.approx(rows[1]["value"], rel=1e-3)


def test_a_users_python_estimator(
    simulate: Simulate, tmp_path: Path, installed_example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT / 'examples' / 'my_estimator'}")
    file = tmp_path / "scenario.toml"
    file.write_text(
        f'extends = "{PAPER / "scenario-5.toml"}"\nname = "T"\n[profiles.t]\n'
        "scenario = { duration_s = 5.0, load.start_s = [0.0, 1.0] }\n[[profiles.t.grids]]\nseeds = 1\n"
        f'algorithms = ["{installed_example}"]\ntimings = ["every-ack"]\nvariants = ["1Mbps"]\n'
        'vary = { "load.flows" = [3] }\n'
    )
    rows = simulate(file, "--profile", "t")
    assert next(r["value"] for r in rows if r["metric"] == "mean_abs_error_ticks") > 0


def test_the_program_refuses_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"seed": 1}))
    done = subprocess.run([engine.program(), file], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
