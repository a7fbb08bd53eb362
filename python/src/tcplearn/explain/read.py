# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Captures to tables of requests, stalls and connections."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tcplearn.errors import UserError, printable
from tcplearn.explain.candidates import SPECS
from tcplearn.explain.causes import CAUSES, ENDS
from tcplearn.explain.model import Explained
from tcplearn.output.numbers import counted
from tcplearn.traces import PCAP_MAGIC, CaptureTrace, Interface, TraceError, TraceOptions, open_trace
from tcplearn.traces.base import ByteStream, TraceFile

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[float, str], None]
#: Called while something live is read; may stop it.
Watch = Callable[[CaptureTrace], None]

#: Numbers of native code that stand for words, and those that are no duration.
_WORDS = {"cause": CAUSES, "ended_by": ENDS, "by_server": ("client", "server")}
_NAMES = {"by_server": "by"}
#: Of native tables, as columns of tables here.
_TABLES = ("requests", "stalls", "connections")


def explained(
    sources: Sequence[Path | Interface],
    progress: Progress | None = None,
    watch: Watch | None = None,
    *,
    lenient: Sequence[Path] = (),
    policies: tuple[str, ...] = SPECS,
) -> Explained:
    """Read captures; raise TraceError, UserError. `lenient`: files of a folder, left out where they are no
    captures; `policies`: that are forecast."""
    import polars as pl

    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in _TABLES}
    names: list[str] = []
    warnings: list[str] = []
    packets = 0
    may_differ = frozenset(lenient)
    others = 0
    for number, source in enumerate(sources):
        name = printable(source)
        if not _may_be_capture(source):
            if source not in may_differ:
                raise UserError(f"{name}: not a capture (pcap, pcapng); explain needs the packets themselves")
            others += 1
            continue
        show = _scaled(progress, number, len(sources), name)
        try:
            packets += _read(source, len(names), parts, warnings, show, watch, policies)
        except (TraceError, UserError, OSError) as error:
            if source not in may_differ:
                raise
            warnings.append(f"left out: {printable(error)}")
            continue
        names.append(name)
    if others:
        warnings.append(f"{counted(others, 'file')} of folders that are no captures left out")
    if not names:
        raise UserError("no capture in what was named; give pcap or pcapng files")
    tables = {name: pl.concat(parts.pop(name), rechunk=True) for name in _TABLES}
    return _named(tables, names, packets, warnings)


def _may_be_capture(source: Path | Interface) -> bool:
    """False for a file that can be read, and is none."""
    if not isinstance(source, Path) or not source.is_file():
        return True
    with contextlib.suppress(TraceError):
        head = ByteStream(TraceFile.of(source)).read()
        return not head or head.startswith(PCAP_MAGIC)
    return True


def _scaled(progress: Progress | None, number: int, of: int, name: str) -> Callable[[float], None]:
    return lambda share: progress((number + share) / of, name) if progress else None


def _read(
    source: Path | Interface,
    number: int,
    parts: dict[str, list[pl.DataFrame]],
    warnings: list[str],
    progress: Callable[[float], None],
    watch: Watch | None,
    policies: tuple[str, ...],
) -> int:
    """Adds the tables of one source; returns how many packets it has."""
    trace = open_trace(source, options=TraceOptions(explain=policies))
    name = printable(source)
    if not isinstance(trace, CaptureTrace):
        raise UserError(f"{name}: a {trace.kind}; only a capture has the packets that this needs")
    found: dict[str, list[pl.DataFrame]] = {table: [] for table in _TABLES}
    for batch in trace.batches():
        rows = cast("dict[str, dict[str, Any]]", batch.get("explained", {}))
        for table, columns in rows.items():
            found[table].append(_table(columns, number))
        for ended in cast("Any", batch["ended"]).tolist():
            trace.release(ended)
        progress(trace.progress)
        if watch:
            watch(trace)
    for table in _TABLES:
        parts[table] += found[table]
    warnings += [f"{name}: {line}" for line in trace.warnings]
    return trace.packets


def _table(columns: dict[str, Any], source: int) -> pl.DataFrame:
    """Words for numbers, milliseconds for microseconds; what is not known is -1 there and null here."""
    import polars as pl

    # lists are of names
    frame = pl.DataFrame(
        [pl.Series(n, v, pl.String) if isinstance(v, list) else pl.Series(n, v) for n, v in columns.items()]
    )
    return frame.select(pl.lit(source, pl.UInt32).alias("source"), *(_column(name) for name in frame.columns))


def _column(name: str) -> pl.Expr:
    import polars as pl

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
    if name.startswith(("first_", "repaired_")):
        return (known / 1e3).cast(pl.Float32)
    return column.cast(pl.Boolean) if name in ("pipelined", "silent") else column


def _named(tables: dict[str, pl.DataFrame], names: list[str], packets: int, warnings: list[str]) -> Explained:
    """Who talked to whom, beside each request and stall."""
    import polars as pl

    connections = tables["connections"].with_columns(pl.col("server").cast(pl.Categorical))
    # a service is an address and a port; its clients' ports come and go
    ends = connections.select(
        "source",
        "connection",
        "server",
        pl.col("client").str.replace(r":\d+$", "").cast(pl.Categorical).alias("client"),
    )
    joined = {
        name: tables[name].join(ends, on=["source", "connection"], how="left", maintain_order="left")
        for name in ("requests", "stalls")
    }
    return Explained(joined["requests"], joined["stalls"], connections, names, packets, warnings)
