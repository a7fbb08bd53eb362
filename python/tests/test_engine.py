# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the engine that replay, suite and study share: they give the same figures for every kind of trace, and
those of a simple implementation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kinds
import own_estimators
import twin
from samples import batch
from tcplearn import _native, estimators
from tcplearn.errors import UserError
from tcplearn.replay import flows, replay
from tcplearn.replay.engine import Engine, Figures, Measure
from tcplearn.suite import suite
from tcplearn.traces import TraceOptions

CORE = ("last", "jacobson", "linux", "rfc9002", "eifel", "experts/fitted", "linreg", "conformal")
OWN = "less-delay"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_estimators.installed(tmp_path / "site", monkeypatch):
        yield


def plain(f: Figures) -> list[float]:
    timers = (*dataclasses.astuple(f.send), *dataclasses.astuple(f.before))
    return [f.scored, f.error_us, f.sent, f.at_send_us, *timers]


@pytest.mark.parametrize(("arithmetic", "min_rto_us"), [("double", 0), ("fixed", 60_000)])
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_a_suite_has_the_figures_of_a_replay(
    kind: str, arithmetic: str, min_rto_us: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (replay, flows):
        monkeypatch.setattr(module, "BATCH_ROWS", 97)
    path = kinds.write(kind, tmp_path / "traces")
    same = {"estimators": (*CORE, OWN), "arithmetic": arithmetic, "min_rto_us": min_rto_us}
    replayed = replay.run([path], replay.Options(**same)).rows
    files = suite.run(path.parent, suite.Options(**same, min_samples=30, match=False)).files
    measured = {series.name: series for series in files[0].series}
    rows = [row for row in replayed if row.judged]
    assert len(rows) == len(measured) * (len(CORE) + 1) > 0
    for row in rows:
        series = measured[kind if row.flow == kind else f"{kind} {row.flow}"]
        f = series.figures[row.estimator]
        assert f.error is not None and f.at_send is not None
        assert (series.samples, f.send.timed) == (row.samples, row.samples - (row["handshakes"] or 0))
        assert f.before.timed == row.samples - 1
        assert row["mean_abs_error_ms"] == f.error / 1000
        assert row["at_send_error_ms"] == f.at_send / 1000
        assert row["mean_rto_ms"] == f.send.rto / 1000
        assert row["excess_wait_ms"] == f.send.excess / 1000
        assert row["rto_miss_rate"] == f.send.miss_rate
        assert row["rto_miss_rate_before"] == f.before.miss_rate


@pytest.mark.parametrize("arithmetic", ["double", "fixed"])
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_sums_are_those_of_a_plain_twin(kind: str, arithmetic: str, tmp_path: Path) -> None:
    specs = [estimators.parse(name) for name in ("jacobson", OWN, "rfc9002")]  # not in the engine's order
    read = [f for f in flows.Reader(kinds.write(kind, tmp_path / "traces"), TraceOptions())]
    flow = max((f for f in read if f.samples < 3000), key=lambda f: f.samples)
    found = Measure(specs, arithmetic, 45_000).flow(flow.rows)
    for spec, mine in zip(specs, found, strict=True):
        theirs = twin.figures(flow.rows, spec, arithmetic, 45_000)
        assert plain(mine) == pytest.approx(plain(theirs), rel=1e-12), spec.text


def test_delays_that_a_peer_reports_reach_every_estimator(tmp_path: Path) -> None:
    (flow,) = flows.Reader(kinds.write("quic.qlog", tmp_path / "traces"), TraceOptions())
    assert sorted(set(flow.rows["ack_delay_us"].tolist())) == [0, 20_000]
    without = {key: column for key, column in flow.rows.items() if key != "ack_delay_us"}
    for name, differs in (("rfc9002", True), (OWN, True), ("jacobson", False)):
        measure = Measure([estimators.parse(name)])
        assert (measure.flow(flow.rows) != measure.flow(without)) == differs


def test_sums_only_are_the_sums_of_a_whole_replay() -> None:
    b = batch(3, 700, 6, overtaking=True)
    specs = [estimators.parse(name) for name in (*CORE, OWN)]
    whole, lean = Engine(specs, min_rto_us=9_000), Engine(specs, min_rto_us=9_000, sums_only=True)
    for engine in (whole, lean):
        engine.feed(b)
    assert whole.figures(0) == lean.figures(0)
    flow = lean.finish(0)
    assert flow is not None and flow.samples == int((b["rtt_us"] >= 0).sum())
    for what in (flow.metrics, flow.cdf, flow.series, flow.blocks, flow.hindsight):
        with pytest.raises(ValueError, match="there are sums only"):
            what()
    with pytest.raises(ValueError, match="there are sums only"):
        _native.ReplayTotals(len(specs)).add(flow)
    assert lean.finish(0) is None


@pytest.mark.parametrize("rows", [1, 2, 3, 300])
def test_halves_are_split_at_the_middle_of_the_scored_samples(rows: int) -> None:
    b = batch(8, 400)
    last = int(np.flatnonzero(b["rtt_us"] >= 0)[rows - 1]) + 1
    b = {key: column[:last] for key, column in b.items()}
    specs = [estimators.parse(name) for name in ("jacobson", OWN)]
    for spec, (first, whole) in zip(specs, Measure(specs).halves(b), strict=True):
        rtt, _ = twin.answers(b, spec)
        scored = np.flatnonzero(b["rtt_us"] >= 0)[1:]
        errors = np.abs(np.array(rtt) - b["rtt_us"])[scored]
        middle = len(errors) // 2
        assert (first.scored, whole.scored) == (middle, rows - 1)
        assert first.error_us == pytest.approx(errors[:middle].sum(), rel=1e-12)
        assert whole.error_us == pytest.approx(errors.sum(), rel=1e-12)


def test_each_window_begins_fresh() -> None:
    b = flows.samples_only(batch(9, 500))
    specs = [estimators.parse(name) for name in (OWN, "jacobson")]
    starts = flows.windows(len(b["rtt_us"]), 40, 25)
    for spec, got in zip(specs, Measure(specs).restarts(b, starts, 40), strict=True):
        each = [{key: column[a : a + 40] for key, column in b.items()} for a in starts]
        errors = [twin.figures(window, spec).error_us for window in each]
        assert got == pytest.approx(sum(errors) / (39 * len(starts)), rel=1e-12)


def test_threads_do_not_disturb_one_another() -> None:
    b = batch(10, 3000)
    measure = Measure([estimators.parse(name) for name in CORE])
    alone = measure.flow(b)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == alone for found in pool.map(lambda _: measure.flow(b), range(12)))


def test_what_the_core_refuses_is_one_line() -> None:
    spec = estimators.Spec("jacobson:k=-1", "jacobson", {"k": -1.0}, core=True)
    with pytest.raises(UserError, match="allowed is"):
        Measure([spec]).flow(batch(1, 50))
