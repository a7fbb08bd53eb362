# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows to JSON, CSV and Parquet.

Wide: a row for each thing measured, its metrics beside each other. Tidy: a row for each metric, with the same
columns whichever host measured it, so that files of several hosts can be read as one table.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcplearn import metrics

Record = dict[str, Any]

#: The flow of rows that are of all flows together.
TOTAL = "total"

#: Columns of a tidy row, in their order, and their types.
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

#: What every wide row says of its making.
STAMP = ("version", "commit", "seed")
#: What a tidy row has columns for, or no run depends on.
_NO_PARAMETERS = frozenset({*STAMP, "command"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What tidy rows say beside their metric. Empty: it does not apply."""

    host: str  # replay, ns3 or lab
    algorithm: str
    run: str  # of `key_of`: of all that determines the run
    paper: str = ""
    scenario: str = ""
    source: str = ""  # the trace, or the folder of traces
    flow: str = ""  # TOTAL for all of them together
    seed: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    commit: str = ""


def key_of(what: Mapping[str, Any]) -> str:
    """A run's key, of what determines it."""
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def head_of(host: str, made_by: Mapping[str, str], **fields: Any) -> Head:
    """The head of rows whose options, seed, version and commit are those of `made_by`."""
    options = {k: v for k, v in made_by.items() if k not in _NO_PARAMETERS}
    determined = {k: v for k, v in made_by.items() if k != "command"}
    made: dict[str, Any] = {k: made_by[k] for k in ("version", "commit") if k in made_by}
    if "seed" in made_by:
        made["seed"] = int(made_by["seed"])
    own = fields.pop("parameters", {})
    run = key_of({**determined, "source": fields.get("source", "")})
    return Head(host=host, run=run, parameters={**options, **own}, **made, **fields)


def plain(value: Any) -> Any:
    """A value of Python itself: NumPy's scalars unwrapped, and None for what is not a number."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def tidy(head: Head, measured: Mapping[str, Any]) -> Iterator[Record]:
    """A row for each metric of `measured`; one whose value is a word has it in `text`."""
    common = {name: getattr(head, name) for name in TIDY if hasattr(head, name)}
    common["parameters"] = json.dumps(dict(head.parameters), sort_keys=True, ensure_ascii=False)
    for metric, given in measured.items():
        value = plain(given)
        words = isinstance(value, str)
        row = common | {
            "metric": metric,
            "value": None if words or value is None else float(value),
            "text": value if words else None,
            "unit": "" if words else metrics.unit_of(metric),
        }
        yield {name: row[name] for name in TIDY}


def stamped(records: Iterable[Record], made_by: Mapping[str, str]) -> list[Record]:
    """Wide rows with what made them."""
    made = {key: int(made_by[key]) if key == "seed" else made_by[key] for key in STAMP if key in made_by}
    return [{**record, **made} for record in records]


def to_json(records: Iterable[Record]) -> str:
    """An array of objects, one on a line, so that it is readable and can be compared by line."""
    plainly = ({key: plain(value) for key, value in r.items()} for r in records)
    lines = [json.dumps(r, ensure_ascii=False, allow_nan=False) for r in plainly]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def to_csv(records: Sequence[Record], columns: Sequence[str] = ()) -> str:
    """`columns`: those of the head where there are no records to take them from."""
    out = io.StringIO()
    names = dict.fromkeys([*columns, *(key for r in records for key in r)])
    writer = csv.DictWriter(out, list(names), lineterminator="\n")
    writer.writeheader()
    for record in records:
        values = ((key, plain(value)) for key, value in record.items())
        writer.writerow({k: str(v).lower() if isinstance(v, bool) else v for k, v in values})
    return out.getvalue()


def to_parquet(rows: Iterable[Record], made_by: Mapping[str, str]) -> bytes:
    """Of tidy rows; the file's own metadata has all of `made_by`, the command line too."""
    import polars as pl

    types = {str: pl.String, int: pl.Int64, float: pl.Float64}
    frame = pl.DataFrame(list(rows), schema={name: types[kind] for name, kind in TIDY.items()})
    out = io.BytesIO()
    frame.write_parquet(out, metadata={key: str(value) for key, value in made_by.items()})
    return out.getvalue()
