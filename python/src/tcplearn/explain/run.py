# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Explain from captures why requests were slow: read each file, as a job of its own if there are several, and
combine the results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tcplearn import provenance
from tcplearn.errors import UserError, printable
from tcplearn.explain import advice, fades, forecast, handshakes, read, silence
from tcplearn.explain.answers import SIDES
from tcplearn.explain.causes import RESENT
from tcplearn.explain.model import SYN_SEEN, Explained
from tcplearn.output.numbers import counted
from tcplearn.traces.base import NOT_A_CAPTURE

if TYPE_CHECKING:
    from tcplearn.explain.read import Capture, Watch
    from tcplearn.jobs import Progress
    from tcplearn.replay.trace_jobs import Where
    from tcplearn.traces import CaptureTrace, Interface

#: The most servers for which advice is sought that leaves the requests to others out.
_MOST_ALONE = 4


def run(
    sources: Sequence[Path | Interface],
    *,
    host: str = "",
    seed: int = 0,
    anonymize: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
    where: Where | None = None,
) -> Explained:
    """Explain from captures, and folders of captures, why requests were slow. Only connections with the text
    `host` in an address or port are kept; `seed` is that of the forecasts' random draws; `anonymize` replaces
    addresses and file names; `watch` is called while a single source, or one that is not a file, is read;
    `where` says where jobs run. Raise UserError, or TraceError for a source that cannot be read."""
    named, below, problems = _files(sources)
    if len(named) == 1 and not below:
        captures = {named[0]: _alone(named[0], progress, watch)}
    else:
        from tcplearn.explain import files

        captures = files.several(named, below, problems, progress, watch, where)
    found = _together(captures)
    if host:
        found = _choose(found, host)
    found.warnings[:0] = [*problems, *_continued(found)]
    found.made_by = provenance.made_by(seed=str(seed), **({"host": host} if host else {}))
    found.paths = [one if isinstance(one, Path) and one.is_file() else None for one in captures]
    if anonymize:
        _replace_names(found, [*map(printable, named), *map(printable, sources)])
    given = found.sources if anonymize else list(map(printable, sources))
    found.named = " ".join(given) if len(given) < 4 else f"{len(found.sources)} captures"
    silence.name_silence(found)
    found.fades = fades.find(found.requests, found.stalls, found.connections)
    found.stalls = found.stalls.with_columns(fades.left_ms(found.stalls, found.fades))
    found.forecast, found.advice = advice.best(found, forecast.of_each(found, seed))
    if found.advice.chosen is None:
        found.advised_alone = list(_advised_alone(found, seed))
    found.handshakes = handshakes.of(found, seed)
    found.handshake_advice = advice.of_handshakes(found.handshakes)
    return found


def _files(sources: Sequence[Path | Interface]) -> tuple[list[Path | Interface], set[Path], list[str]]:
    """Return `sources`, each once and with folders replaced by the files in them; the files found in folders;
    and a line for each problem."""
    named: list[Path | Interface] = []
    lenient: set[Path] = set()
    problems: list[str] = []
    for source in sources:
        if not isinstance(source, Path) or not source.is_dir():
            named.append(source)
            continue
        from tcplearn.suite.suite import traces_in

        below, wrong = traces_in(source)
        if not below:
            raise UserError(f"{printable(source)}: the folder has no files; name a folder of captures")
        lenient.update(below)
        named += below
        problems += wrong
    return list(dict.fromkeys(named)), lenient, problems


def _alone(source: Path | Interface, progress: Progress | None, watch: Watch | None) -> Capture:
    name = printable(source)
    if not read.may_be_capture(source):
        raise UserError(f"{name}: {NOT_A_CAPTURE}")

    def seen(trace: CaptureTrace) -> None:
        if progress:
            progress(trace.progress, name)
        if watch:
            watch(trace)

    return read.capture(source, seen)


def _together(captures: dict[Path | Interface, Capture]) -> Explained:
    """Return the tables of all `captures` joined; the column `source` has the number of a row's capture."""

    def table(name: str) -> pl.DataFrame:
        parts = (one.tables.pop(name) for one in captures.values())
        return pl.concat(
            part.select(pl.lit(number, pl.UInt32).alias("source"), pl.all())
            for number, part in enumerate(parts)
        )

    sources = [printable(source) for source in captures]
    packets = sum(one.packets for one in captures.values())
    warnings = [f"{printable(source)}: {line}" for source, one in captures.items() for line in one.warnings]
    requests, stalls, connections = map(table, read.TABLES)
    return Explained(requests, stalls, connections, sources, packets=packets, warnings=warnings)


def _continued(found: Explained) -> Iterator[str]:
    """Yield a line if the start of the same connections is in several sources, and one if connections go on
    from one source to another, as in the files of a rotated capture: a source does not have their start, and
    another has the same addresses and ports."""
    if len(found.sources) < 2:
        return
    if found.in_several:
        yield f"{counted(found.in_several, 'connection')} in more than one file: counted in each"
    own = found.connections.select("source", "client", "server", begun=pl.col("options") & SYN_SEEN > 0)
    again = own.filter(~pl.col("begun")).join(own, on=["client", "server"], suffix="_of_other")
    again = again.filter(pl.col("source_of_other") != pl.col("source")).select("client", "server").unique()
    if again.height:
        go = "goes" if again.height == 1 else "go"
        yield (
            f"{counted(again.height, 'connection')} {go} on from one file to another, and each file's part "
            "counts as a connection of its own; if the files are parts of one capture, read them as one: "
            "mergecap -w - FILE... | tcplearn explain -"
        )


def _advised_alone(found: Explained, seed: int) -> Iterator[str]:
    """Yield the servers for which a setting is advised if the requests to others are left out. Only the
    `_MOST_ALONE` servers with the most stalls that a timer ended are tried."""
    servers = found.requests["server"].unique()
    timed = found.stalls.filter(pl.col("cause").cast(pl.String).is_in(RESENT))
    if len(servers) < 2 or not timed.height:
        return
    most = timed.group_by("server").len().sort("len", "server", descending=[True, False]).head(_MOST_ALONE)
    for server, stalls in most.iter_rows():
        if stalls < advice.LEAST_STALLS:
            return
        alone = _only(found, pl.col("server") == server)
        if advice.best(alone, forecast.of_each(alone, seed))[1].chosen is not None:
            yield str(server)


def _only(found: Explained, mine: pl.Expr) -> Explained:
    tables: dict[str, Any] = {name: getattr(found, name).filter(mine) for name in read.TABLES}
    return replace(found, **tables)


def _choose(found: Explained, host: str) -> Explained:
    # a whole address, which is followed by a port, before one that only contains the text
    for text in (rf"^\[?{re.escape(host)}\]?(:\d+)?$", re.escape(host)):
        ends = [pl.col(end).cast(pl.String).str.contains(text) for end in SIDES]
        if not found.connections.filter(pl.any_horizontal(ends)).is_empty():
            break
    chosen = _only(found, pl.any_horizontal(ends))
    if not chosen.connections.height:
        raise UserError(
            f"--host {printable(host)}: no connection has this text in an address or port; leave --host "
            "out to see all connections"
        )
    return chosen


def _replace_names(found: Explained, files: Iterable[str]) -> None:
    """Replace addresses in `found` by host-1, host-2, ..., and `files` and sources by capture-1, capture-2,
    ... Port numbers stay, because they identify services."""
    hosts: dict[str, str] = {}
    names: dict[str, str] = {}
    for pair in found.connections.select(SIDES).iter_rows():
        for end in pair:
            address, _, port = end.rpartition(":")
            host = hosts.setdefault(address, f"host-{len(hosts) + 1}")
            names |= {end: f"{host}:{port}", address: host}
    for name in read.TABLES:
        table: pl.DataFrame = getattr(found, name)
        ends = (pl.col(end).cast(pl.String).replace(names).cast(table.schema[end]) for end in SIDES)
        setattr(found, name, table.with_columns(*ends))
    captures = {name: f"capture-{n}" for n, name in enumerate(dict.fromkeys([*found.sources, *files]), 1)}
    found.sources = [captures[name] for name in found.sources]
    # warnings may only name files; the longest name is replaced first, because it may contain another
    for old, new in sorted(captures.items(), key=lambda pair: -len(pair[0])):
        word = re.compile(rf"(?<![\w.-]){re.escape(old)}(?!\w)")
        found.warnings = [word.sub(new, line) if old != "-" else line for line in found.warnings]
    found.anonymized = True
    found.made_by["command"] = "tcplearn explain --anonymize"
    found.made_by.pop("host", None)
