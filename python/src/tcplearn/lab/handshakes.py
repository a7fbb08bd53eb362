# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines `[handshakes]` of a lab scenario file: which SYNs or SYN-ACKs are dropped on purpose."""

from typing import Annotated, Literal

from pydantic import Field

from tcplearn.scenario.check import Table

ROUTER = "c1"  # the router that drops the packets: the first one after the sender


class Handshakes(Table):
    lose: Literal["syn", "syn-ack"] = "syn-ack"
    nth: Annotated[int, Field(ge=1, le=10)] = 1  # the first to be dropped
    count: Annotated[int, Field(ge=1, le=10)] = 1
    percent: Annotated[float, Field(gt=0, le=100)] = 100  # of the pages, chosen by the run's seed

    def dropped(self) -> str:
        return f"{self.lose} {self.nth} {self.count}"
