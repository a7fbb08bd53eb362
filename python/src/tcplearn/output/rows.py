# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows whose columns are known only when they are made, for machines: JSON, CSV, Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tcplearn.output.files import plain

Record = dict[str, Any]


#: What every row says of its making; Parquet has all of it.
STAMP = ("version", "commit", "seed")


def _plain(record: Record) -> Record:
    return {key: plain(value) for key, value in record.items()}


def _stamped(record: Record, made_by: Mapping[str, str]) -> Record:
    made = {key: made_by[key] for key in STAMP if key in made_by}
    return _plain(record) | {key: int(value) if key == "seed" else value for key, value in made.items()}


def to_json(records: Iterable[Record], made_by: Mapping[str, str]) -> str:
    """An array of objects, one on a line, so that it is readable and can be compared by line."""
    lines = [json.dumps(_stamped(r, made_by), ensure_ascii=False, allow_nan=False) for r in records]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def to_csv(records: Sequence[Record], made_by: Mapping[str, str], columns: Sequence[str] = ()) -> str:
    """`columns`: those of the head where there are no records to take them from."""
    out = io.StringIO()
    names = dict.fromkeys(
        [*columns, *(key for r in records for key in r), *(k for k in STAMP if k in made_by)]
    )
    writer = csv.DictWriter(out, list(names), lineterminator="\n")
    writer.writeheader()
    for record in records:
        values = _stamped(record, made_by).items()
        writer.writerow({k: str(v).lower() if isinstance(v, bool) else v for k, v in values})
    return out.getvalue()


def _typed(values: Sequence[Any]) -> tuple[list[Any], Any]:
    import polars as pl

    known = [v for v in values if v is not None]
    if known and all(isinstance(v, bool) for v in known):
        return list(values), pl.Boolean
    if all(isinstance(v, (int, float)) for v in known):
        whole = bool(known) and all(isinstance(v, int) for v in known)
        return [None if v is None else v if whole else float(v) for v in values], (
            pl.Int64 if whole else pl.Float64
        )
    return [None if v is None else str(v) for v in values], pl.String


def to_parquet(records: Sequence[Record], keys: Sequence[str], made_by: Mapping[str, str]) -> bytes:
    """Tidy: `keys` tell what is measured, then one metric a row, with what made it beside it.

    A metric that is a text (the worst series' name) stands in `text`, not in `value`.
    """
    import polars as pl

    tidy: dict[str, list[Any]] = {name: [] for name in (*keys, "metric", "value", "text", "unit")}
    for record in map(_plain, records):
        for metric, value in record.items():
            if metric in keys:
                continue
            for key in keys:
                tidy[key].append(record[key])
            tidy["metric"].append(metric.removesuffix("_ms"))
            words = isinstance(value, str)
            tidy["value"].append(None if words or value is None else float(value))
            tidy["text"].append(value if words else None)
            tidy["unit"].append("" if words else "ms" if metric.endswith("_ms") else "1")
    columns = {}
    for name, values in tidy.items():
        numbers = name == "value"
        typed, kind = (values, pl.Float64) if numbers else _typed(values)
        columns[name] = pl.Series(name, typed, dtype=pl.String if name in ("text", "metric") else kind)
    frame = pl.DataFrame(columns)
    made = [
        pl.lit(str(value), dtype=pl.String).alias(f"run_{key}" if key in columns else key)
        for key, value in made_by.items()
    ]
    out = io.BytesIO()
    frame.with_columns(made).write_parquet(out)
    return out.getvalue()
