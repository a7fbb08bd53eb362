# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes result rows as JSON, CSV and Parquet. A wide row has all metrics of a measurement; a tidy row has
one metric. Tidy rows of replays, ns-3 simulations, lab experiments and explained captures have the same
columns."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

from tcplearn import metrics

Record = dict[str, Any]

#: The value of the column `flow` in rows over all flows together.
TOTAL = "total"

#: The columns of a tidy row, in this order, and their types.
TIDY: dict[str, type] = {
    "paper": str,
    "scenario": str,
    "host": str,
    "source": str,
    "flow": str,
    "algorithm": str,
    "run": str,
    "seed": int,
    "parameters": str,
    "metric": str,
    "value": float,
    "text": str,
    "unit": str,
    "version": str,
    "commit": str,
}

#: Characters with which a spreadsheet begins a formula.
_FORMULA = "=+-@\t\r"

#: The columns of every wide row that say how it was made.
STAMP = ("version", "commit", "seed")
#: Entries of `made_by` that are not parameters: they have columns of their own, or do not affect a run.
_NO_PARAMETERS = frozenset({*STAMP, "command"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The columns of a tidy row other than the metric and its value. One that does not apply is empty."""

    host: str  # replay, ns3, lab or explain
    algorithm: str
    run: str  # `key_of` everything that determines the run
    paper: str = ""
    scenario: str = ""
    source: str = ""  # the trace, or the folder of traces
    flow: str = ""  # TOTAL: all flows together
    seed: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    commit: str = ""


def key_of(what: Mapping[str, Any]) -> str:
    """Return the key of a run: a hash of `what`, which is everything that determines the run's result."""
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def head_of(host: str, made_by: Mapping[str, str], **fields: Any) -> Head:
    """Return the columns that all tidy rows of a run of `host` have in common. Version, commit, seed and
    parameters are from `made_by`, the other columns from `fields`."""
    options = {k: v for k, v in made_by.items() if k not in _NO_PARAMETERS}
    determined = {k: v for k, v in made_by.items() if k != "command"}
    made: dict[str, Any] = {k: made_by[k] for k in ("version", "commit") if k in made_by}
    if "seed" in made_by:
        made["seed"] = int(made_by["seed"])
    own = fields.pop("parameters", {})
    run = key_of({**determined, "source": fields.get("source", "")})
    return Head(host=host, run=run, parameters={**options, **own}, **made, **fields)


_PLAIN = frozenset({int, str, bool, type(None)})


def plain(value: Any) -> Any:
    """Return `value` with NumPy scalars as Python values. Numbers that are not finite become None."""
    if type(value) is float:  # the most frequent case first
        return value if math.isfinite(value) else None
    if type(value) in _PLAIN:
        return value
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def tidy(head: Head, measured: Mapping[str, Any]) -> Iterator[Record]:
    """Yield a row for each metric in `measured`, with its value in the column `text` or `value`. `head` has
    the other columns."""
    common = {name: getattr(head, name, None) for name in TIDY}
    common["parameters"] = json.dumps(dict(head.parameters), sort_keys=True, ensure_ascii=False)
    for metric, given in measured.items():
        value = plain(given)
        words = isinstance(value, str)
        yield common | {  # keeps the order of `common`
            "metric": metric,
            "value": None if words or value is None else float(value),
            "text": value if words else None,
            "unit": "" if words else metrics.unit_of(metric),
        }


def stamped(records: Iterable[Record], made_by: Mapping[str, str]) -> list[Record]:
    """Return the wide rows `records` with the columns version, commit and seed of `made_by`."""
    made = {key: int(made_by[key]) if key == "seed" else made_by[key] for key in STAMP if key in made_by}
    return [{**record, **made} for record in records]


class Writer(Protocol):
    """A writer of result rows. They are added in parts, so a large result need not be in memory at once."""

    def add(self, records: Iterable[Record]) -> None: ...

    def end(self) -> None:
        """Finish the file after the last row."""


_json_of = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class JsonWriter:
    """Writes a JSON array with one object on each line, so that files are readable and easy to compare."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write, self._before = write, "[\n"

    def add(self, records: Iterable[Record]) -> None:
        for record in records:
            values = {key: plain(value) for key, value in record.items()}
            self._write(self._before + _json_of(values))
            self._before = ",\n"

    def end(self) -> None:
        self._write("[]\n" if self._before == "[\n" else "\n]\n")


def _cell(value: Any) -> Any:
    """Return `value` as a cell of a CSV file; text that begins like a formula gets an apostrophe before
    it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value[1:] and value[0] in _FORMULA else value


class CsvWriter:
    """Writes rows as CSV. The header is `columns`, then the other keys of the first row."""

    def __init__(self, write: Callable[[str], object], columns: Sequence[str] = ()) -> None:
        self._columns, self._lines = columns, _Lines(write)
        self._writer: csv.DictWriter[str] | None = None

    def _head(self, names: Iterable[str]) -> csv.DictWriter[str]:
        writer = csv.DictWriter(self._lines, list(dict.fromkeys(names)), lineterminator="\n")
        writer.writeheader()
        return writer

    def add(self, records: Iterable[Record]) -> None:
        for record in records:
            self._writer = self._writer or self._head([*self._columns, *record])
            self._writer.writerow({key: _cell(plain(value)) for key, value in record.items()})

    def end(self) -> None:
        self._writer = self._writer or self._head(self._columns)


@dataclass(frozen=True)
class _Lines:
    """A file for the csv module, which needs only the method `write` of a file."""

    write: Callable[[str], object]


class ParquetWriter:
    """Writes tidy rows as Parquet. The file's metadata has all entries of `made_by`."""

    #: The number of rows held as Python objects. Earlier rows are held packed, as Parquet in memory.
    ROWS = 100_000

    def __init__(self, file: IO[bytes], made_by: Mapping[str, str]) -> None:
        self._file = file
        self._metadata = {key: str(value) for key, value in made_by.items()}
        self._held: list[Record] = []
        self._packed: list[IO[bytes]] = []

    def add(self, records: Iterable[Record]) -> None:
        for record in records:
            self._held.append(record)
            if len(self._held) == self.ROWS:
                self._pack()

    def _pack(self) -> None:
        import polars as pl

        types = {str: pl.String, int: pl.Int64, float: pl.Float64}
        packed = io.BytesIO()
        table = pl.DataFrame(self._held, schema={name: types[kind] for name, kind in TIDY.items()})
        table.write_parquet(packed)
        self._held.clear()
        packed.seek(0)
        self._packed.append(packed)

    def end(self) -> None:
        import polars as pl

        self._pack()
        # in the order of the rows, and never all of them unpacked; polars would hide that a disk is full
        whole = io.BytesIO()
        pl.scan_parquet(self._packed).sink_parquet(whole, metadata=self._metadata)
        self._file.write(whole.getbuffer())
