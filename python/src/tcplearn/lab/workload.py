# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the base class of workloads (tables of a scenario of `tcplearn lab` that add shell commands and
metrics) and the table `[handshakes]`: which SYNs or SYN-ACKs are dropped on purpose."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from tcplearn.scenario.check import Table
from tcplearn.scenario.path import DrawnFades

from .arm import Arm

Lines = Iterator[str]
Figures = Iterator[tuple[str, float]]
Flow = tuple[str, Mapping[str, Any], Mapping[str, float]]  # name, additional parameters, figures

SENT = "TcpExtTCPOrigDataSent"  # counts new data segments and no retransmissions
ROUTER = "c1"  # the router that drops packets of handshakes: the first one after the sender


class Handshakes(Table):
    lose: Literal["syn", "syn-ack"] = "syn-ack"
    nth: Annotated[int, Field(ge=1, le=10)] = 1  # the first to be dropped
    count: Annotated[int, Field(ge=1, le=10)] = 1
    percent: Annotated[float, Field(gt=0, le=100)] = 100  # of the pages, chosen by the run's seed

    def dropped(self) -> str:
        return f"{self.lose} {self.nth} {self.count}"


@dataclass(frozen=True, slots=True)
class Setup:
    by: str  # the program that makes the transfers
    bytes: int
    seed: int  # random choices are the same under every algorithm of a run
    last: int  # the receiver's namespace is c`last`; the sender's is c0
    congestion: list[str]
    handshakes: Handshakes | None
    drawn_fades: DrawnFades | None  # of the path
    fading: tuple[str, str, str]  # a namespace, and tc arguments that begin and end a fade there

    @property
    def receiver(self) -> str:
        return f"c{self.last}"


@dataclass(frozen=True, slots=True)
class Left:
    folder: Path
    info: Mapping[str, float]  # the numbers that the transfer's program printed
    nstat: Mapping[str, float]  # increments of the kernel's counters during the transfer

    @property
    def data_segments(self) -> float:
        """Return the data segments sent, as the transfer's program printed them, else from TCP's counters."""
        if "data_segs_out" in self.info:
            return self.info["data_segs_out"]
        return self.nstat[SENT] + self.nstat["TcpRetransSegs"]


class Workload(Table):
    """The default workload: one transfer by the lab's own program. Each subclass is another workload."""

    programs: ClassVar[tuple[str, ...]] = ("send",)  # the values of `transfer.by` that can be used
    function: ClassVar[str] = "{by}"  # the shell function that makes a transfer is send_ followed by this

    @property
    def one_connection(self) -> bool:
        """Return whether the kernel module's log has exactly one connection under each algorithm."""
        return True

    @property
    def with_nft(self) -> bool:
        return False

    def starts(self, setup: Setup) -> Lines:
        """Yield the shell commands to run once, before the first transfer."""
        if setup.by != "send":
            yield f"start_{setup.by} {setup.bytes}"

    def before(self, setup: Setup, arm: Arm) -> Lines:
        """Yield the shell commands to run before the transfer with the algorithm `arm`."""
        yield from ()

    def after(self, setup: Setup, arm: Arm) -> Lines:
        """Yield the shell commands to run after the transfer with the algorithm `arm`."""
        yield from ()

    def figures(self, left: Left) -> Figures:
        yield from ()

    def flows(self, folder: Path) -> Iterator[Flow]:
        """Yield (name, additional parameters, metrics) of flows other than the transfer, from `folder`."""
        yield from ()
