# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines `[transfer.pages]` of a scenario of `tcplearn lab`: files that curl fetches, and metrics."""

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from tcplearn.errors import FailedError
from tcplearn.output.runs_table import Shown

from . import kernel_log
from .workload import Figures, Flow, Handshakes, Lines, Setup, Workload

PAGE = "page"  # the flow's name in the result rows for pages of one size
FIRST_PORT, LAST_PORT = 10_000, 32_000  # curl's, one for each page, below the ephemeral ports

COLUMNS = (
    Shown("page_mean_ms", "whole page", 0, keep=94),
    Shown("page_after_handshake_mean_ms", "after handshake", 0, keep=93),
    Shown("initial_window_mean_segments", "IW", 1, keep=92),
)

PageBytes = Annotated[int, Field(ge=1, le=10**8)]


class Pages(Workload):
    programs: ClassVar[tuple[str, ...]] = ("nginx",)
    function: ClassVar[str] = "pages"
    one_connection: ClassVar[bool] = False
    with_nft: ClassVar[bool] = True
    sizes: Annotated[list[PageBytes], Field(min_length=1, max_length=16)]  # in bytes
    count: Annotated[int, Field(ge=1, le=10_000)] = 200  # of each size

    @property
    def most_arms(self) -> int:
        """Return how many algorithms a scenario can compare: each page needs its own port under each."""
        return (LAST_PORT - FIRST_PORT) // (self.count * len(self.sizes))

    def starts(self, setup: Setup) -> Lines:
        lost = lost_pages(setup.handshakes, self, setup.seed)
        yield f"echo '{' '.join(map(str, lost))}' >/tmp/lost"
        dropped = setup.handshakes.dropped() if setup.handshakes else "syn-ack 1 1"
        sizes = ",".join(map(str, self.sizes))
        yield f"pages_count={self.count} pages_sizes={sizes} pages_dropped='{dropped}'"
        yield f"start_pages {' '.join(map(str, self.sizes))}"

    def flows(self, folder: Path) -> Iterator[Flow]:
        fetched = read(folder)
        for size in dict.fromkeys(p.size_bytes for p in fetched):
            yield PAGE, {"bytes": size}, dict(figures([p for p in fetched if p.size_bytes == size]))


def lost_pages(handshakes: Handshakes | None, pages: Pages, seed: int) -> list[int]:
    """Draw the indices of the pages whose handshake loses packets: equal for all algorithms."""
    if handshakes is None:
        return []
    count = max(1, round(pages.count * handshakes.percent / 100))
    return sorted(random.Random(f"handshakes/{seed}").sample(range(pages.count), count))


@dataclass(frozen=True, slots=True)
class Began:
    """What the kernel module logged at the beginning of a connection."""

    iw: int  # initial window in segments
    ssthresh: int
    resends: int  # of handshake packets
    retransmitted: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page (a file) that curl fetched, and the times that this took since the beginning of the fetch."""

    size_bytes: int
    port: int
    is_lost: bool  # whether a packet of its handshake was dropped
    handshake_us: int
    first_byte_us: int
    total_us: int
    began: Began | None  # None without the module

    @property
    def after_handshake_us(self) -> int:
        return self.total_us - self.handshake_us


def read(folder: Path) -> list[Page]:
    began = _began(folder)
    out = []
    for line in (folder / "pages").read_text().splitlines():
        size, port, lost, handshake_us, first_byte_us, total_us = map(int, line.split())
        out.append(Page(size, port, bool(lost), handshake_us, first_byte_us, total_us, began.get(port)))
    return out


def _began(folder: Path) -> dict[int, Began]:
    try:
        log = kernel_log.parsed(folder / "log")
    except FailedError:
        return {}
    return {
        int(c.open["destination_port"]): Began(*(int(c.startup[name]) for name in Began.__dataclass_fields__))
        for c in log.connections.values()
        if c.open is not None and c.startup is not None
    }


def figures(pages: Sequence[Page]) -> Figures:
    total_ms = [p.total_us / 1000 for p in pages]
    yield "pages", float(len(pages))
    yield "pages_lost", float(sum(p.is_lost for p in pages))
    yield "page_mean_ms", statistics.fmean(total_ms)
    yield "page_median_ms", statistics.median(total_ms)
    yield "page_p99_ms", float(np.quantile(total_ms, 0.99))
    yield "page_after_handshake_mean_ms", statistics.fmean(p.after_handshake_us / 1000 for p in pages)
    began = [p.began for p in pages if p.began is not None]
    if began:
        yield "initial_window_mean_segments", statistics.fmean(b.iw for b in began)
        yield "handshake_packets_resent", float(sum(b.retransmitted for b in began))
