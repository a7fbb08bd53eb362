# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the base class of workloads. A workload is a table of a lab scenario file that adds lines to
the guest's script and metrics to the result rows."""

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
#: A flow with rows of its own beside the transfer's: its name, its additional parameters, its figures.
Flow = tuple[str, Mapping[str, Any], Mapping[str, float]]

#: The kernel's counter of new data segments, which does not count retransmissions.
SENT = "TcpExtTCPOrigDataSent"


@dataclass(frozen=True, slots=True)
class Setup:
    """The properties of a run that workloads use."""

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
    """The output of one transfer."""

    folder: Path
    info: Mapping[str, float]  # the numbers that the transfer's program printed
    nstat: Mapping[str, float]  # increments of the kernel's counters during the transfer

    @property
    def data_segments(self) -> float:
        """Return the number of data segments sent. The lab's own program reports it. For another program,
        which is alone in its namespace, the namespace's counters give it."""
        if "data_segs_out" in self.info:
            return self.info["data_segs_out"]
        return self.nstat[SENT] + self.nstat["TcpRetransSegs"]


class Workload(Table):
    """The base class of a lab scenario's workloads. A subclass overrides what differs from one transfer
    by the lab's own program."""

    #: The programs (the key `transfer.by`) that can make these transfers.
    programs: ClassVar[tuple[str, ...]] = ("send",)
    #: The shell function of the guest that makes a transfer is send_ followed by this.
    function: ClassVar[str] = "{by}"

    @property
    def one_connection(self) -> bool:
        """Return whether the kernel module's log has exactly one connection under each algorithm."""
        return True

    @property
    def with_nft(self) -> bool:
        """Return whether nftables in the guest drops or routes packets by their content."""
        return False

    @property
    def inherits(self) -> bool:
        """Return whether a resend policy (the algorithm that times retransmissions) starts a connection
        with what it learned on the connection before."""
        return False

    def starts(self, setup: Setup) -> Lines:
        """Yield the lines of the guest's script that run once, before the first transfer."""
        if setup.by != "send":
            yield f"start_{setup.by} {setup.bytes}"

    def before(self, setup: Setup, arm: Arm) -> Lines:
        """Yield the lines of the guest's script before the transfer with `arm`, the algorithm."""
        yield from ()

    def after(self, setup: Setup, arm: Arm) -> Lines:
        """Yield the lines of the guest's script after the transfer with `arm`, the algorithm."""
        yield from ()

    def figures(self, left: Left) -> Figures:
        """Yield (metric, value) of a transfer, whose output is `left`."""
        yield from ()

    def flows(self, folder: Path) -> Iterator[Flow]:
        """Yield additional flows, each with metrics of its own in the result rows. `folder` has the
        output of one algorithm."""
        yield from ()
