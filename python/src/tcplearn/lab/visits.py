# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines `[transfer.visits]` of a scenario file of `tcplearn lab`: requests by curl, or lines typed to an
echo server."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from . import requests
from .workload import Figures, Left, Lines, Setup, Workload


class Visits(Workload):
    programs: ClassVar[tuple[str, ...]] = ("nginx", "echo")
    function: ClassVar[str] = "{by}_visits"
    count: Annotated[int, Field(ge=1, le=900)] = 300  # nginx closes a connection after 1,000 requests
    a_minute: Annotated[int, Field(ge=1, le=60_000)] = 300  # on average
    on: Literal["kept", "fresh"] = "kept"  # kept: one connection; fresh: one for each request

    @property
    def one_connection(self) -> bool:
        return False

    def starts(self, setup: Setup) -> Lines:
        yield f"visits='{self.count} {self.a_minute} {setup.seed} {self.on}' nginx_kept=65"
        yield from super().starts(setup)

    def figures(self, left: Left) -> Figures:
        yield from requests.figures(left)
