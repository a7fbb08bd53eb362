# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Handshakes that lose packets on purpose (`[handshakes]`)."""

from typing import Annotated, Literal

from pydantic import Field

from tcplearn.scenario.check import Table

#: The router that drops packets, the first after the sender.
ROUTER = "c1"


class Handshakes(Table):
    """Drops `count` SYNs or SYN-ACKs of each connection on the first router, from the nth on."""

    lose: Literal["syn", "syn-ack"] = "syn-ack"
    nth: Annotated[int, Field(ge=1, le=10)] = 1
    count: Annotated[int, Field(ge=1, le=10)] = 1
    percent: Annotated[float, Field(gt=0, le=100)] = 100  # of the pages, drawn by the run's seed

    def dropped(self) -> str:
        return f"{self.lose} {self.nth} {self.count}"
