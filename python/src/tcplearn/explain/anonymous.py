# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replace the names of hosts and files in explained captures, so that a report or rows can be shared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from tcplearn.explain.model import Explained

COMMAND = "tcplearn explain --anonymize"


def replace_names(found: Explained, files: Iterable[str]) -> None:
    """Replace addresses in `found` by host-1, host-2, ..., and `files` and sources by capture-1, capture-2,
    ... Port numbers stay, because they identify services."""
    hosts: dict[str, str] = {}
    names: dict[str, str] = {}
    for name in found.connections.select("client", "server").iter_rows():
        for end in name:
            address, _, port = end.rpartition(":")
            host = hosts.setdefault(address, f"host-{len(hosts) + 1}")
            names |= {end: f"{host}:{port}", address: host}
    for table in ("requests", "stalls", "connections"):
        setattr(found, table, _renamed(getattr(found, table), names))
    captures = {name: f"capture-{n}" for n, name in enumerate(dict.fromkeys([*found.sources, *files]), 1)}
    found.sources = [captures[name] for name in found.sources]
    # warnings may only name files; the longest name is replaced first, because it may contain another
    for old, new in sorted(captures.items(), key=lambda pair: -len(pair[0])):
        word = re.compile(rf"(?<![\w.-]){re.escape(old)}(?!\w)")
        found.warnings = [word.sub(new, line) if old != "-" else line for line in found.warnings]
    found.made_by["command"] = COMMAND
    found.made_by.pop("host", None)


def _renamed(table: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    import polars as pl

    ends = (
        pl.col(end).cast(pl.String).replace(names).cast(table.schema[end]) for end in ("client", "server")
    )
    return table.with_columns(*ends)
