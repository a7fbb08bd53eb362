# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Captures, explained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tcplearn import provenance
from tcplearn.errors import UserError, printable
from tcplearn.explain import advice, anonymous, forecast, read, silence
from tcplearn.explain.model import Explained

if TYPE_CHECKING:
    from tcplearn.explain.read import Progress, Watch
    from tcplearn.traces import Interface


def run(
    sources: Sequence[Path | Interface],
    *,
    host: str = "",
    seed: int = 0,
    anonymize: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Explained:
    """Explain captures and folders of them together. `host`: only connections whose names contain it.
    `seed`: of the draws behind forecasts. `anonymize`: addresses and files have other names in all that
    results. Raises UserError, and TraceError for what cannot be read."""
    named, lenient, problems = _files(sources)
    found = read.explained(named, progress, watch, lenient=lenient)
    found.warnings[:0] = problems
    if host:
        _choose(found, host)
    found.made_by = provenance.made_by(seed=str(seed), **({"host": host} if host else {}))
    again = {printable(source): source for source in named if isinstance(source, Path) and source.is_file()}
    found.files = [again.get(name) for name in found.sources]
    if anonymize:
        anonymous.replace_names(found, [*map(printable, named), *map(printable, sources)])
    silence.name_silence(found)
    found.forecast = forecast.of(found, seed)
    found.advice = advice.of(found, found.forecast)
    return found


def _files(
    sources: Sequence[Path | Interface],
) -> tuple[list[Path | Interface], list[Path], list[str]]:
    """Folders as the files below them, each file once."""
    named: list[Path | Interface] = []
    lenient: list[Path] = []
    problems: list[str] = []
    for source in sources:
        if not isinstance(source, Path) or not source.is_dir():
            named.append(source)
            continue
        from tcplearn.suite.suite import traces_in

        below, wrong = traces_in(source)
        if not below:
            raise UserError(f"{printable(source)}: there is no file in it; name a folder of captures")
        lenient += below
        named += below
        problems += wrong
    return list(dict.fromkeys(named)), lenient, problems


def _choose(found: Explained, host: str) -> None:
    import polars as pl

    ends = (pl.col(end).cast(pl.String).str.contains(host, literal=True) for end in ("client", "server"))
    mine = pl.any_horizontal(*ends)
    found.requests = found.requests.filter(mine)
    found.stalls = found.stalls.filter(mine)
    found.connections = found.connections.filter(mine)
    if not found.connections.height:
        raise UserError(
            f"--host {printable(host)}: no connection has it in a name; leave it out to see which there are"
        )
