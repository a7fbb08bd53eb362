# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Result rows of the hosts that run scenarios: tidy, one metric a row, the same columns in each."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tcplearn import metrics
from tcplearn.output import rows as records

Json = dict[str, Any]

COLUMNS = (
    "paper",
    "scenario",
    "host",
    "source",
    "flow",
    "algorithm",
    "run",
    "seed",
    "parameters",
    "metric",
    "value",
    "text",
    "unit",
    "version",
    "commit",
)
#: Of rows that are of a run's flows together, or of its only one.
ALL_FLOWS = "all"


def parameters(of: Mapping[str, Any]) -> str:
    return json.dumps(of, sort_keys=True)


def rows(head: Mapping[str, Any], figures: Iterable[tuple[str, float]]) -> Iterator[Json]:
    """One for each figure; `head` has what they share, `source` and `text` are not of these hosts."""
    for metric, value in figures:
        own = {"metric": metric, "value": value, "unit": metrics.unit_of(metric)}
        yield {column: own.get(column, head.get(column)) for column in COLUMNS}


def rendered(of: Sequence[Json], format: str) -> str | bytes:
    """As JSON, CSV or Parquet."""
    match format:
        case "json":
            return records.to_json(of, {})
        case "csv":
            return records.to_csv(of, {}, COLUMNS)
        case _:
            return _parquet(of)


def _parquet(of: Sequence[Json]) -> bytes:
    import polars as pl

    out = io.BytesIO()
    types = {column: pl.String for column in COLUMNS} | {"seed": pl.Int64, "value": pl.Float64}
    pl.DataFrame(list(of), schema=types).write_parquet(out)
    return out.getvalue()
