# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
import csv
import dataclasses
import io
import json
import os
import stat
from pathlib import Path

import fake
import numpy as np
import polars as pl
import pytest

from tcplearn.errors import UserError
from tcplearn.output import files as output
from tcplearn.replay.results import Replay, Row


@pytest.fixture(scope="module")
def replay() -> Replay:
    made = fake.replay(2, short=1, samples=300)
    made.rows[0] = dataclasses.replace(
        made.rows[0],
        bias_ms=float("nan"),
        mean_rto_ms=float("inf"),
        excess_wait_ms=None,
        samples=np.int64(300),
    )
    return made


def test_json_round_trip(replay: Replay) -> None:
    back = json.loads(output.to_json(replay.rows, replay.made_by), parse_constant=pytest.fail)
    assert len(back) == len(replay.rows)
    assert back[0]["bias_ms"] is None and back[0]["mean_rto_ms"] is None and back[0]["excess_wait_ms"] is None
    assert all(row.pop("commit") == "7749e64" and row.pop("version") == "0.1.0" for row in back)
    assert [Row(**row) for row in back[1:]] == replay.rows[1:]
    assert json.loads(output.to_json([], {})) == []


def test_csv_round_trip(replay: Replay) -> None:
    text = output.to_csv(replay.rows, {**replay.made_by, "seed": "3"})
    assert "nan" not in text.lower() and "inf" not in text.lower()
    back = list(csv.DictReader(io.StringIO(text)))
    assert list(back[0]) == [*(f.name for f in dataclasses.fields(Row)), "version", "commit", "seed"]
    assert {(row["commit"], row["seed"]) for row in back} == {("7749e64", "3")}
    assert back[0]["bias_ms"] == ""
    assert float(back[1]["mean_abs_error_ms"]) == replay.rows[1].mean_abs_error_ms
    assert {row["judged"] for row in back} == {"true", "false"}


def test_parquet_round_trip(replay: Replay) -> None:
    frame = pl.read_parquet(
        io.BytesIO(output.to_parquet(replay.rows, {**replay.made_by, "arithmetic": "double"}))
    )
    assert frame.columns[:8] == [
        "source",
        "flow",
        "estimator",
        "arithmetic",
        "judged",
        "metric",
        "value",
        "unit",
    ]
    assert frame["commit"].unique().to_list() == ["7749e64"]
    assert frame["run_arithmetic"].unique().to_list() == ["double"]  # the row has an arithmetic of its own
    assert frame.height == len(replay.rows) * len(output.METRICS)
    assert not frame["value"].is_nan().any()
    row = replay.rows[1]
    mine = frame.filter(flow=row.flow, estimator=row.estimator, metric="mean_abs_error")
    assert mine["value"].to_list() == [row.mean_abs_error_ms]
    assert mine["unit"].to_list() == ["ms"]
    assert output.to_parquet([], {})


def test_every_number_of_a_row_is_in_the_tidy_form() -> None:
    words = {"source", "flow", "estimator", "arithmetic", "judged", "note"}
    assert {name for name, _, _ in output.METRICS} == {f.name for f in dataclasses.fields(Row)} - words


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    output.write_atomically(target, "first")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    target.chmod(0o640)
    output.write_atomically(target, "second")
    assert target.read_text() == "second"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"out.csv: cannot write: no space left on device") as caught:
        output.write_atomically(target, "new")
    assert caught.value.exit_code == 1
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        output.write_atomically(tmp_path / "out.csv", "new")
    assert list(tmp_path.iterdir()) == []


def test_through_a_link_and_into_a_device(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    output.write_atomically(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    output.check_writable(Path(os.devnull))
    output.write_atomically(Path(os.devnull), "nothing")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("write", [output.check_writable, lambda p: output.write_atomically(p, "x")])
def test_unwritable_places(write: object, tmp_path: Path) -> None:
    assert callable(write)
    with pytest.raises(UserError, match="make its directory first"):
        write(tmp_path / "absent" / "out.csv")
    with pytest.raises(UserError, match="name a file"):
        write(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        write(tmp_path / "file" / "out.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_read_only_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="choose a place that you may write to"):
        output.write_atomically(tmp_path / "out.csv", "x")
