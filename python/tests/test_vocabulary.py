# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that metrics are named only in tcplearn.metrics, from which rows, pages and tables take the names."""

import pkgutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import samples
from tcplearn import _native, estimators, metrics
from tcplearn.metrics import page as metrics_page
from tcplearn.metrics import registry
from tcplearn.replay import bootstrap, replay, row_values
from tcplearn.replay.row import IDENTITY, KEYS
from tcplearn.report import glossary

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_the_metrics_of_every_module_are_registered() -> None:
    for found in pkgutil.iter_modules(metrics.__path__):
        module = import_module(f"tcplearn.metrics.{found.name}")
        for name in ("METRICS", "FAMILIES"):
            missing = set(getattr(module, name, ())) - set(getattr(registry, name))
            assert not missing, f"{name} of {found.name}.py: a line in metrics/registry.py"


def test_the_page_has_the_table_of_today() -> None:
    page = PAGE.read_text()
    assert metrics_page.BEGIN in page and metrics_page.END in page
    assert page == metrics_page.written(page), "python -m tcplearn.metrics.page --write"


def test_a_metric_that_the_engine_gives_is_in_the_row() -> None:
    counters = dict.fromkeys((c for m in metrics.METRICS for c in m.share_of or ()), 0)
    given = {"mean_rto_us": 1500.0, "bias_us": None, "misses": 1, "timed": 4, "timed_before": 5, "losses": 7}
    wanted = {
        "mean_rto_ms": 1.5,
        "bias_ms": None,
        "rto_miss_rate": 0.25,
        "rto_miss_rate_before": 0.0,
        "losses": 7,
    }
    found = row_values.values_of(counters | given)
    assert {key: found[key] for key in wanted} == wanted
    assert "excess_wait_ms" not in found


def test_rows_have_the_metrics_of_a_replay_and_no_others(tmp_path: Path) -> None:
    rtt_us = 20_000 + np.random.default_rng(1).integers(0, 9000, 400)
    (tmp_path / "a.csv").write_text("\n".join(["rtt_us", *map(str, rtt_us)]))
    done = replay.run([tmp_path / "a.csv"], replay.Options(estimators=("jacobson", "last", "conformal")))
    for row in done.rows:
        assert list(row.record()) == [*IDENTITY, *KEYS]
        assert set(row.values) <= set(KEYS)
        missing = {key for key in KEYS if row[key] is None}
        of_losses = {"losses", "loss_detect_actual_ms", "loss_detect_rto_ms", "loss_detect_rack_ms"}
        assert missing <= of_losses | {"rto_miss_rate_requested", *(k for k in KEYS if "_ratio" in k)}
    with pytest.raises(KeyError):
        done.rows[0]["mean_rto"]


def test_every_ratio_with_an_interval_has_a_sum_in_the_engine() -> None:
    engine = _native.ReplayEngine([("last", "double", {})])
    engine.feed(samples.batch(np.full(50, 10_000)))
    flow = engine.finish(0)
    assert flow is not None
    assert flow.blocks().shape[2] == len(bootstrap.RATIOS) == len(list(metrics.with_ratio()))


def test_the_glossary_has_every_estimator_and_every_column() -> None:
    shown, others = glossary.of_estimators(["last", "experts/fitted:n=50"])
    assert {name for name, _ in shown} == {"last", "experts/fitted"}
    terms = dict([*glossary.of_replay(), *shown, *others])
    for info in estimators.available():
        assert terms[info.name]
    for metric in metrics.METRICS:
        assert not metric.heading or any(metric.key in term for term in terms)


def test_what_learns_is_the_registry_s_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = {info.name: info.learned for info in estimators.available()}
    assert not any(learned[name] for name in ("last", "jacobson", "linux", "rfc9002", "eifel"))
    assert all(learned[name] for name in ("experts", "linreg", "tracking", "conformal"))
    for name, of_preset in learned.items():
        assert of_preset == learned[name.partition("/")[0]], name
    assert estimators.learned("experts/fitted:n=50") and not estimators.learned("jacobson:alpha=0.5")
    assert estimators.learned("of an older version")

    class Mine:
        """Predicts the last sample."""

    monkeypatch.setattr(estimators, "_users", lambda: {"mine": None})
    monkeypatch.setattr(estimators, "_load", lambda _: Mine)
    assert estimators.learned("mine")
    monkeypatch.setattr(Mine, "learned", False, raising=False)
    assert not estimators.learned("mine")
