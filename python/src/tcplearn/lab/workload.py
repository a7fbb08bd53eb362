# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A workload: a table of a scenario that adds lines to the guest's script and figures to the rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tcplearn.scenario.check import Table
from tcplearn.scenario.path import DrawnFades

from .arm import Arm
from .handshakes import Handshakes

Lines = Iterator[str]
Figures = Iterator[tuple[str, float]]
#: A separate flow beside the transfer: its name, its parameters in addition to the transfer's, its figures.
Flow = tuple[str, Mapping[str, Any], Mapping[str, float]]

#: The kernel's counter of segments of new data, none of them counted twice.
SENT = "TcpExtTCPOrigDataSent"


@dataclass(frozen=True, slots=True)
class Setup:
    """The properties of a run that workloads use."""

    by: str  # the program that transfers
    bytes: int
    seed: int  # the same draws under every algorithm of a run
    last: int  # the receiver's namespace is c`last`; the sender's is c0
    congestion: list[str]
    handshakes: Handshakes | None
    drawn_fades: DrawnFades | None  # of the path
    fading: tuple[str, str, str]  # a namespace, and its tc commands in a fade and out of one

    @property
    def receiver(self) -> str:
        return f"c{self.last}"


@dataclass(frozen=True, slots=True)
class Left:
    """The output of one transfer."""

    folder: Path
    info: Mapping[str, float]  # as the transfer's program printed it
    nstat: Mapping[str, float]  # differences of the kernel's counters

    @property
    def data_segments(self) -> float:
        """The data segments sent by the lab's own program, or by another one that is the only one in its
        namespace."""
        if "data_segs_out" in self.info:
            return self.info["data_segs_out"]
        return self.nstat[SENT] + self.nstat["TcpRetransSegs"]


class Workload(Table):
    """The base of workloads; a workload overrides what differs from one transfer by the lab's own program."""

    #: The programs (`transfer.by`) that can do it.
    programs: ClassVar[tuple[str, ...]] = ("send",)
    #: The guest's function send_* that transfers.
    function: ClassVar[str] = "{by}"

    @property
    def one_connection(self) -> bool:
        """Return whether the module's log has one connection under each algorithm."""
        return True

    @property
    def with_nft(self) -> bool:
        """Return whether packets are dropped or routed by their content."""
        return False

    @property
    def inherits(self) -> bool:
        """Return whether a resend policy begins with what it learned on the connection before."""
        return False

    def starts(self, setup: Setup) -> Lines:
        """Yield lines of the guest's script before the first transfer."""
        if setup.by != "send":
            yield f"start_{setup.by} {setup.bytes}"

    def before(self, setup: Setup, arm: Arm) -> Lines:
        """Yield lines before each transfer."""
        yield from ()

    def after(self, setup: Setup, arm: Arm) -> Lines:
        """Yield lines after each transfer."""
        yield from ()

    def figures(self, left: Left) -> Figures:
        """Yield metrics of a transfer and their values."""
        yield from ()

    def flows(self, folder: Path) -> Iterator[Flow]:
        """Yield flows that have their own rows."""
        yield from ()
