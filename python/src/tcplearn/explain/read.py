# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read a capture into tables of requests, stalls (waits in which no data moved) and connections."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from tcplearn.errors import printable
from tcplearn.explain.candidates import SPECS
from tcplearn.explain.causes import CAUSES, ENDS
from tcplearn.traces import PCAP_MAGIC, CaptureTrace, Interface, TraceError, TraceOptions, open_trace
from tcplearn.traces.base import ByteStream, TraceFile

#: A function called while a source is read; it may stop the reading.
Watch = Callable[[CaptureTrace], None]

#: Columns of the native code whose numbers stand for words, and the names of such columns here.
_WORDS = {"cause": CAUSES, "ended_by": ENDS, "by_server": ("client", "server")}
_NAMES = {"by_server": "by"}
#: The tables that the native code returns.
TABLES = ("requests", "stalls", "connections")


@dataclass(slots=True)
class Capture:
    """A capture's tables (by their names, those in TABLES), its number of packets, and warnings."""

    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    packets: int = 0
    warnings: list[str] = field(default_factory=list)  # without the source's name


def capture(
    source: Path | Interface,
    watch: Watch | None = None,
    *,
    name: str = "",
    policies: tuple[str, ...] = SPECS,
) -> Capture:
    """Read `source`, which messages call `name`, and return its tables, with a forecast for each of the
    resend `policies`. `watch` is called while it is read. Raise TraceError or OSError."""
    trace = open_trace(source, options=TraceOptions(explain=policies), name=name)
    assert isinstance(trace, CaptureTrace)  # open_trace() refuses anything else here
    parts: dict[str, list[pl.DataFrame]] = {table: [] for table in TABLES}
    for batch in trace.batches():
        rows = cast("dict[str, dict[str, Any]]", batch.get("explained", {}))
        for table, columns in rows.items():
            parts[table].append(_table(columns))
        for ended in cast("Any", batch["ended"]).tolist():
            trace.release(ended)
        if watch:
            watch(trace)
    packets, warnings = trace.packets, list(trace.warnings)
    del trace  # free the trace's state before the tables are joined
    tables = {table: pl.concat(parts.pop(table)) for table in TABLES}
    times = tables["connections"].select("first_s", "last_s").drop_nulls()
    if tables["requests"].height and times["first_s"].min() == times["last_s"].max():
        raise TraceError(
            f"{name or printable(source)}: all packets have the same time: it was stored without times"
        )
    return Capture(_named(tables), packets, warnings)


def may_be_capture(source: Path | Interface) -> bool:
    """Return False if `source` is a file that can be read and is not a capture, otherwise True."""
    if not isinstance(source, Path) or not source.is_file():
        return True
    with contextlib.suppress(TraceError, OSError):
        head = ByteStream(TraceFile.of(source)).read()
        return not head or head.startswith(PCAP_MAGIC)
    return True


def _table(columns: dict[str, Any]) -> pl.DataFrame:
    """Return the native code's `columns` as a table with words for codes, ms or s for µs, and null for -1."""
    # a list holds names, and an array numbers
    frame = pl.DataFrame(
        [pl.Series(n, v, pl.String) if isinstance(v, list) else pl.Series(n, v) for n, v in columns.items()]
    )
    return frame.select(_column(name) for name in frame.columns)


def _column(name: str) -> pl.Expr:
    column, stem = pl.col(name), name.removesuffix("_us")
    known = pl.when(column >= 0).then(column)
    if name in _WORDS:
        words = _WORDS[name]
        return column.replace_strict(range(len(words)), words, return_dtype=pl.Enum(words)).alias(
            _NAMES.get(name, name)
        )
    if name != stem and stem in CAUSES:
        return (column / 1e3).cast(pl.Float32).alias(f"{stem}_ms")
    if name in ("start_us", "first_us", "last_us", "silent_until_us"):
        return (column / 1e6).round(6).alias(f"{stem}_s")
    if name != stem:
        return (known / 1e3).round(3).alias(f"{stem}_ms")
    if name.startswith(("same_", "repaired_")):
        return (known / 1e3).cast(pl.Float32)
    return column.cast(pl.Boolean) if name in ("pipelined", "silent") else column


def _named(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Return `tables` with the server's address and port, and the client's address, in requests and
    stalls."""
    connections = tables["connections"].with_columns(pl.col("server").cast(pl.Categorical))
    numbers = connections["connection"].to_numpy()
    rows = np.zeros(int(numbers.max(initial=0)) + 1, np.uint32)
    rows[numbers] = np.arange(len(numbers))
    # a server is an address with a port; a client only an address, because its ports change
    clients = connections.select(pl.col("client").str.replace(r":\d+$", "").cast(pl.Categorical))["client"]
    out = {"connections": connections}
    for name in ("requests", "stalls"):
        row = rows[tables[name]["connection"].to_numpy()]
        ends = [connections["server"].gather(row), clients.gather(row)]
        out[name] = tables.pop(name).with_columns(ends)
    return out
