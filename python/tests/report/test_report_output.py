# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
import csv
import dataclasses
import io
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import fake
import numpy as np
import polars as pl
import pytest

from tcplearn import metrics
from tcplearn.errors import UserError
from tcplearn.output import files as output
from tcplearn.output import rows as kinds
from tcplearn.replay.results import Replay
from tcplearn.replay.row import IDENTITY, KEYS

File = TypeVar("File")


@pytest.fixture(scope="module")
def replay() -> Replay:
    made = fake.replay(2, short=1, samples=300)
    broken = {"bias_ms": float("nan"), "mean_rto_ms": float("inf"), "excess_wait_ms": None}
    made.rows[0] = dataclasses.replace(made.rows[0].changed(broken), samples=np.int64(300))
    return made


def to_json(records: Iterable[kinds.Record]) -> str:
    out = io.StringIO()
    return filled(out, kinds.JsonWriter(out.write), records).getvalue()


def to_csv(records: Iterable[kinds.Record]) -> str:
    out = io.StringIO()
    return filled(out, kinds.CsvWriter(out.write), records).getvalue()


def to_parquet(records: Iterable[kinds.Record], made_by: dict[str, str]) -> bytes:
    out = io.BytesIO()
    return filled(out, kinds.ParquetWriter(out, made_by), records).getvalue()


def filled(out: File, writer: kinds.Writer, records: Iterable[kinds.Record]) -> File:
    writer.add(records)
    writer.end()
    return out


def wide(replay: Replay, made_by: dict[str, str]) -> list[dict[str, object]]:
    return kinds.stamped([row.record() for row in replay.rows], made_by)


def test_json_round_trip(replay: Replay) -> None:
    back = json.loads(to_json(wide(replay, replay.made_by)), parse_constant=pytest.fail)
    assert len(back) == len(replay.rows)
    assert back[0]["bias_ms"] is None and back[0]["mean_rto_ms"] is None and back[0]["excess_wait_ms"] is None
    assert all(row.pop("commit") == "7749e64" and row.pop("version") == "0.1.0" for row in back)
    assert back[1:] == [row.record() for row in replay.rows[1:]]
    assert json.loads(to_json([])) == []


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@now", "'@now"),
        ("+1", "'+1"),
        ("-x.pcap", "'-x.pcap"),
        ("\t=1", "'\t=1"),
        ("-", "-"),
        ("a=1", "a=1"),
    ],
)
def test_a_cell_of_csv_is_no_formula(text: str, cell: str) -> None:
    assert next(csv.DictReader(io.StringIO(to_csv([{"source": text, "value": -1.5}])))) == {
        "source": cell,
        "value": "-1.5",
    }


def test_csv_round_trip(replay: Replay) -> None:
    text = to_csv(wide(replay, {**replay.made_by, "seed": "3"}))
    assert "nan" not in text.lower() and "inf" not in text.lower()
    back = list(csv.DictReader(io.StringIO(text)))
    assert list(back[0]) == [*IDENTITY, *KEYS, "version", "commit", "seed"]
    assert {(row["commit"], row["seed"]) for row in back} == {("7749e64", "3")}
    assert back[0]["bias_ms"] == ""
    assert float(back[1]["mean_abs_error_ms"]) == replay.rows[1]["mean_abs_error_ms"]
    assert {row["judged"] for row in back} == {"true", "false"}


def test_parquet_round_trip(replay: Replay) -> None:
    made = dataclasses.replace(replay, made_by={**replay.made_by, "seed": "3", "sender": "near"})
    packed = to_parquet(made.tidy(made.rows), made.made_by)
    frame = pl.read_parquet(io.BytesIO(packed))
    assert frame.columns == list(kinds.TIDY)
    assert frame["commit"].unique().to_list() == ["7749e64"]
    assert frame["seed"].unique().to_list() == [3]
    assert pl.read_parquet_metadata(io.BytesIO(packed))["command"] == made.made_by["command"]
    parameters = json.loads(frame["parameters"][0])
    assert parameters["arithmetic"] == "double" and parameters["sender"] == "near"
    assert "command" not in parameters and list(parameters) == sorted(parameters)
    assert frame["run"].n_unique() == 1
    assert frame.height == len(replay.rows) * (len(KEYS) + 2)  # samples and judged
    assert not frame["value"].is_nan().any()
    row = replay.rows[1]
    mine = frame.filter(flow=row.flow, algorithm=row.estimator, metric="mean_abs_error_ms")
    assert mine["value"].to_list() == [row["mean_abs_error_ms"]]
    assert mine["unit"].to_list() == ["ms"]
    assert to_parquet([], {})


def test_runs_that_differ_in_an_option_or_the_trace_have_other_keys() -> None:
    made = {"version": "1", "commit": "c", "command": "one", "seed": "0", "sender": "near"}

    def run(made: dict[str, str], source: str = "a.pcap") -> str:
        return kinds.head_of("replay", made, source=source, algorithm="last").run

    assert run(made) == run({**made, "command": "another"})
    others = [run({**made, key: "other"}) for key in ("version", "commit", "sender")]
    assert len({run(made), run(made, "b.pcap"), run({**made, "seed": "1"}), *others}) == 6


def test_words_stand_in_text() -> None:
    head = kinds.Head(host="replay", algorithm="last", run="r")
    rows = list(kinds.tidy(head, {"error_worst_series": "a", "mean_rto_ms": 2, "losses": None}))
    assert [(r["value"], r["text"], r["unit"]) for r in rows] == [
        (None, "a", ""),
        (2.0, None, "ms"),
        (None, None, "1"),
    ]


def test_every_metric_of_a_tidy_row_is_known(replay: Replay) -> None:
    assert all(metrics.known(row["metric"], row["host"]) for row in replay.tidy(replay.rows))


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
