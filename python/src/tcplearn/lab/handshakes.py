# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Handshakes that lose packets on purpose (`[handshakes]`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tcplearn.scenario.check import Table

#: The router that drops: the first after the sender.
ROUTER = "c1"


class Handshakes(Table):
    """Of each connection: from the nth SYN or SYN-ACK on so many are dropped, on the first router."""

    lose: Literal["syn", "syn-ack"] = "syn-ack"
    nth: Annotated[int, Field(ge=1, le=10)] = 1
    count: Annotated[int, Field(ge=1, le=10)] = 1
    percent: Annotated[float, Field(gt=0, le=100)] = 100  # of pages; drawn with the run's seed

    def dropped(self) -> str:
        return f"{self.lose} {self.nth} {self.count}"
