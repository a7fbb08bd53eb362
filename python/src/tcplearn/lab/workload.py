# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a workload is: a table of a scenario that adds lines to the guest's script and figures to its rows."""

from __future__ import annotations

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
#: A flow of its own beside the transfer: its name, its parameters beside the transfer's, its figures.
Flow = tuple[str, Mapping[str, Any], Mapping[str, float]]

#: The kernel's counter of segments of new data, none of them counted twice.
SENT = "TcpExtTCPOrigDataSent"


@dataclass(frozen=True, slots=True)
class Setup:
    """A run, as far as its workloads know it."""

    by: str  # the program that transfers
    bytes: int
    seed: int  # the same draws under every algorithm of a run
    last: int  # the receiver's namespace is c`last`; the sender's is c0
    congestion: list[str]
    handshakes: Handshakes | None
    drawn_fades: DrawnFades | None  # of the path
    fading: tuple[str, str, str]  # a namespace, and what its tc takes in a fade and out of one

    @property
    def receiver(self) -> str:
        return f"c{self.last}"


@dataclass(frozen=True, slots=True)
class Left:
    """What one transfer left."""

    folder: Path
    info: Mapping[str, float]  # as its program printed it
    nstat: Mapping[str, float]  # what the kernel's counters moved by

    @property
    def data_segments(self) -> float:
        """Sent by the lab's own program, or by another that is the namespace's only one."""
        if "data_segs_out" in self.info:
            return self.info["data_segs_out"]
        return self.nstat[SENT] + self.nstat["TcpRetransSegs"]


class Workload(Table):
    """Overridden where a workload differs from one transfer by the lab's own program."""

    #: Programs (`transfer.by`) that can do it.
    programs: ClassVar[tuple[str, ...]] = ("send",)
    #: Which of the guest's functions send_* transfers.
    function: ClassVar[str] = "{by}"

    @property
    def one_connection(self) -> bool:
        """Returns whether the module's log is of one connection, under each algorithm."""
        return True

    @property
    def with_nft(self) -> bool:
        """Returns whether packets are dropped, or go another way, for what they are."""
        return False

    @property
    def inherits(self) -> bool:
        """Returns whether a resend policy begins with what it learned on the connection before."""
        return False

    def starts(self, setup: Setup) -> Lines:
        """Yields lines of the guest's script before the first transfer."""
        if setup.by != "send":
            yield f"start_{setup.by} {setup.bytes}"

    def before(self, setup: Setup, arm: Arm) -> Lines:
        """Yields lines before each transfer."""
        yield from ()

    def after(self, setup: Setup, arm: Arm) -> Lines:
        """Yields lines after each transfer."""
        yield from ()

    def figures(self, left: Left) -> Figures:
        """Yields metrics of a transfer and their values."""
        yield from ()

    def flows(self, folder: Path) -> Iterator[Flow]:
        """Yields flows that have rows of their own."""
        yield from ()
