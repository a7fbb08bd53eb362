# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn train rtt` on invented rows: its output, the input that it refuses, and its fits and history
against simple implementations."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rtts_made_up import table
from sklearn.linear_model import LinearRegression, QuantileRegressor

from tcplearn.cli.app import main
from tcplearn.errors import UserError
from tcplearn.learn import export
from tcplearn.learn.rtt import data, history, ladder, quantile, regression, trials
from tcplearn.learn.rtt import model as models

QUICK = ("--folds", "2", "-q")


def written(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return path


@pytest.fixture(scope="module")
def rows_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(table(), tmp_path_factory.mktemp("rows") / "hosts.parquet")


def test_a_model_and_its_card(rows_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "rtt", str(rows_file), "-o", str(tmp_path), "--name", "tried", *QUICK]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Coefficients: [") and "\nMAPE: " in out
    for name in (
        "(min + max) / 2",
        "1 s (RFC 6298)",
        "constant (quantile)",
        "kernel's metrics cache",
        "ladder",
    ):
        assert name in out
    card = (tmp_path / "rtt_tried.md").read_text()
    for heading in ("## Data", "## The paper's regression", "## Before the handshake", "## The model"):
        assert heading in card
    model = models.read(tmp_path / "rtt_tried.json")
    assert model.name == "tried" and model.steps["place"] and model.floor_us == 20_000
    assert "train rtt" in str(model.about["command"])


def test_several_files_and_csv_give_the_same(tmp_path: Path) -> None:
    frame = table()
    one = data.read([written(frame, tmp_path / "one.parquet")])
    parts = [written(frame.slice(k * 60, 60), tmp_path / f"{k}.csv") for k in range(2)]
    for a, b in zip(one, data.read(parts), strict=True):
        for field in a.__slots__:
            assert np.array_equal(getattr(a, field), getattr(b, field)), field


Change = Callable[[pl.DataFrame], pl.DataFrame]


def with_first(**values: Any) -> Change:
    """Return a function that sets these columns of the first row to other values."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        first = pl.int_range(pl.len()) == 0
        return frame.with_columns(
            pl.when(first).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
            for name, value in values.items()
        )

    return change


BAD: dict[str, tuple[Change, str]] = {
    "no column": (lambda f: f.drop("hops"), "no column hops"),
    "no columns": (lambda f: f.drop("hops", "ttl"), "no column hops and 1 more"),
    "nan": (with_first(rtt_avg_us=float("nan")), "row 1: rtt_avg_us is nan"),
    "infinite": (with_first(rtt_max_us=float("inf")), "row 1: rtt_max_us is inf"),
    "zero": (with_first(rtt_min_us=0), "row 1: rtt_min_us is 0"),
    "hours": (with_first(rtt_max_us=10**11), "row 1: rtt_max_us"),
    "words": (lambda f: f.with_columns(ttl=pl.lit("x")), "ttl is no number"),
    "hops beyond": (with_first(hops=300), "row 1: hops is 300"),
    "order": (with_first(rtt_min_us=2_000_000_000), "not in this order"),
    "half a row": (with_first(rtt_min_us=None), "without rtt_min_us"),
    "a sample": (with_first(rtts_us="12 -5"), "row 1: rtts_us has -5"),
    "a time": (lambda f: f.with_columns(started_us=pl.lit("noon")), "started_us is no integer"),
    "all hops equal": (lambda f: f.with_columns(hops=pl.lit(5)), "hops are 5 in every row"),
    "min is max": (
        lambda f: f.with_columns(rtt_max_us=pl.col("rtt_min_us"), rtt_avg_us=pl.col("rtt_min_us")),
        "depend on each other",
    ),
    "few destinations": (lambda f: f.head(3), "3 destinations"),
    "few for the folds": (lambda f: f.head(5), "fewer than 10 folds"),
    "no hops": (lambda f: f.with_columns(hops=pl.lit(None, pl.Int64)), "0 rows have hops"),
    "no rows": (lambda f: f.head(0), "0 destinations"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", ["hosts.csv", "hosts.parquet"])
def test_bad_data(case: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, message = BAD[case]
    path = written(change(table(12, 2)), tmp_path / name)
    folds = "10" if case == "few for the folds" else "2"
    assert main(["train", "rtt", str(path), "-o", str(tmp_path / "out"), "-q", "--folds", folds]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b"\x00\xff" * 50])
def test_no_table_of_hosts(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("hosts.parquet", "hosts.csv"):
        (tmp_path / name).write_bytes(content)
        assert main(["train", "rtt", str(tmp_path / name), "-o", str(tmp_path / "out"), *QUICK]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["train", "rtt", "lost.csv", "-o", str(tmp_path / "out"), "--name", "a-b"]) == 2
    assert main(["train", "rtt", "lost.csv", "-o", str(tmp_path / "out")]) == 2
    assert "no such file" in capsys.readouterr().err.splitlines()[-1]


def test_the_regression_is_least_squares(rows_file: Path) -> None:
    rows = regression.usable(data.read([rows_file])[0])
    found = regression.fit(rows)
    x = np.stack([rows.hops, rows.min_us / 1000, rows.max_us / 1000, rows.ttl], axis=1)
    twin = LinearRegression().fit(x, rows.avg_us / 1000)
    assert np.allclose(found.values(), [twin.intercept_, *twin.coef_], rtol=1e-6, atol=1e-9)
    assert np.allclose(found.predicted_us(rows), twin.predict(x) * 1000)


def test_ttl_that_says_what_hops_say_gets_no_weight(tmp_path: Path) -> None:
    frame = table().with_columns(ttl=64 - pl.col("hops"))
    rows = regression.usable(data.read([written(frame, tmp_path / "x.parquet")])[0])
    assert regression.fit(rows).b4_ttl_ms == 0


def test_what_was_published_is_what_linreg_has() -> None:
    """Test that the coefficients of the published models are those of the presets of `linreg`."""
    text = (export.CORE / "include" / "tcplearn" / "estimators" / "linreg.h").read_text()
    for values, _ in regression.PUBLISHED.values():
        for value in values:
            assert f"{abs(value):.8f}"[2:].strip("0") in text


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_a_quantile_is_scikit_learns(level: float) -> None:
    draw = np.random.default_rng(2)
    x = np.stack([np.ones(300), draw.uniform(1, 5, 300), draw.uniform(1, 5, 300)], axis=1)
    y = 2 + 3 * x[:, 1] + 0.5 * x[:, 2] + draw.exponential(2, 300)
    weight = draw.uniform(0.5, 2, 300)
    twin = QuantileRegressor(quantile=level, alpha=0, fit_intercept=False).fit(x, y, sample_weight=weight)

    def loss(w: np.ndarray[Any, Any]) -> float:
        error = y - x @ w
        return float((weight * np.maximum(level * error, (level - 1) * error)).sum())

    found = quantile.linear(x, y, weight, level)
    assert (found >= 0).all() and loss(found) <= loss(twin.coef_) * (1 + 1e-6) + 1e-9


def test_a_weighted_quantile() -> None:
    values, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    assert [quantile.of_weighted(values, weight, q) for q in (0.25, 0.26, 0.75, 0.76, 1)] == [1, 2, 2, 3, 3]


def test_history_is_what_came_before(rows_file: Path) -> None:
    """Test the history against a simple loop over all rows: before a handshake, nothing of this handshake or
    of a later one is known."""
    rows = data.read([rows_file])[1]
    max_age_us = 5_000_000
    known = history.replay(rows, max_age_us)
    for k in range(0, len(rows), 7):
        for of, last_us, high_us in (
            (rows.destination, known.place_last_us, known.place_high_us),
            (rows.prefix, known.prefix_last_us, known.prefix_high_us),
        ):
            before = [j for j in range(k) if of[j] == of[k]]
            if not before or rows.time_us[k] - rows.time_us[before[-1]] > max_age_us:
                assert last_us[k] == high_us[k] == 0
                continue
            high = 0
            for j in before:
                rtt = int(rows.rtt_us[j])
                high = rtt if rtt >= high else high - (high - rtt) // 8
            assert (last_us[k], high_us[k]) == (rows.rtt_us[before[-1]], high)


def test_destinations_held_out_are_not_learned_from(rows_file: Path) -> None:
    """Test that multiplying the RTTs of the held-out destinations by a thousand does not change the model."""
    _, rows = data.read([rows_file])
    train = np.arange(0, 40, 2)
    other = rows.rtt_us.copy()
    other[~np.isin(rows.destination, train)] *= 1000
    known = history.replay(rows, 10**12)
    changed = data.Handshakes(rows.time_us, rows.destination, rows.prefix, rows.hops, rows.ttl, other)
    one, two = (ladder.fit("m", known, r, train, 0.99) for r in (rows, changed))
    assert one == two
    folds = trials.folds_of(40, 5, 1)
    assert sorted(itertools.chain(*folds)) == list(range(40))


def test_known_places_get_short_timers_that_hold(rows_file: Path) -> None:
    _, rows = data.read([rows_file])
    known = history.replay(rows, 10**12)
    passive, active = trials.timers(rows, known, trials.folds_of(40, 2, 1), 0.99, 1)
    seen = np.flatnonzero(known.place_last_us > 0)
    ours = {g.name: g.rows(seen) for g in passive}
    assert ours["ladder"].miss_rate <= 0.02
    assert ours["ladder"].mean_ms < 0.5 * ours["constant (quantile)"].mean_ms
    assert ours["1 s (RFC 6298)"].mean_ms == 1000
    assert [g.name for g in active] == [g.name for g in passive if not g.name.startswith("boosting")]


def document() -> dict[str, Any]:
    return json.loads(models.text(export.shipped_rtt()[1]))


def with_step(**terms: Any) -> Callable[[dict[str, Any]], None]:
    return lambda d: d["steps"].update(place=terms)


HOSTILE: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a key less": (lambda d: d.pop("cap_us"), "cap_us missing"),
    "a name": (lambda d: d.update(name="a b"), "identifier"),
    "nan": (with_step(constant_us=float("nan"), last=1, high=0), "place.constant_us is nan"),
    "infinite": (with_step(constant_us=0, last=float("inf"), high=0), "place.last is inf"),
    "negative": (with_step(constant_us=0, last=-1, high=0), "place.last is -1"),
    "huge": (with_step(constant_us=0, last=65, high=0), "it has to be 0 to 64"),
    "words": (with_step(constant_us=0, last="1", high=0), "not a number"),
    "a truth": (with_step(constant_us=0, last=True, high=0), "not a number"),
    "a term less": (with_step(constant_us=0), "place needs constant_us and last and high"),
    "a term more": (with_step(constant_us=0, last=1, high=0, low=2), "place needs"),
    "a list": (lambda d: d.update(steps=[1]), "steps has to be"),
    "floor": (lambda d: d.update(floor_us=2_000_000), "floor_us is 2e+06"),
    "no floor": (lambda d: d.update(floor_us=0), "floor_us is 0"),
    "cap": (lambda d: d.update(cap_us=10**12), "cap_us is 1e+12"),
    "age": (lambda d: d.update(max_age_us=-1), "max_age_us is -1"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_model_is_refused(case: str, tmp_path: Path) -> None:
    change, message = HOSTILE[case]
    made = document()
    change(made)
    path = tmp_path / "m.json"
    path.write_text(json.dumps(made))
    with pytest.raises(UserError, match=r"m\.json: ") as raised:
        models.read(path)
    assert message in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["", "[" * 100_000, "[]", "null", "{}", "\x00"])
def test_a_corrupt_model_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(content)
    with pytest.raises(UserError) as raised:
        models.read(path)
    assert "\n" not in str(raised.value)


def test_a_model_reads_as_it_was_written_and_is_in_the_header(tmp_path: Path) -> None:
    for model in export.shipped_rtt():
        path = tmp_path / "m.json"
        path.write_text(models.text(model))
        assert models.read(path) == model
    assert export.RTT_HEADER.read_text() == export.rtt_header(export.shipped_rtt())


def test_the_shipped_model_is_of_the_shipped_rows() -> None:
    _, rows = data.read([export.CORE.parent / "examples" / "hosts" / "emulated.parquet"])
    shipped = export.shipped_rtt()[1]
    known = history.replay(rows, shipped.max_age_us)
    made = ladder.fit("emulated", known, rows, np.unique(rows.destination), 1 - 0.005)
    assert made.steps == shipped.steps
