# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Requests by real programs (`[transfer.visits]`): curl's to nginx, or lines typed to an echo server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from tcplearn.scenario.check import Table


class Visits(Table):
    """So many of the transfer's bytes: by nginx, to a curl that keeps its connection or opens one for each,
    so many a minute; by echo, typed and echoed on one connection, on average so many a minute."""

    count: Annotated[int, Field(ge=1, le=900)] = 300  # nginx closes a connection after a thousand
    a_minute: Annotated[int, Field(ge=1, le=60_000)] = 300
    on: Literal["kept", "fresh"] = "kept"


def start(visits: Visits, seed: int) -> Iterator[str]:
    """Before the program starts."""
    yield f"visits='{visits.count} {visits.a_minute} {seed} {visits.on}' nginx_kept=65"
