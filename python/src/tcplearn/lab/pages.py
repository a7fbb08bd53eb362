# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The pages that curl fetched (`[transfer.pages]`): their times, and what their connections began with."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tcplearn.errors import FailedError

from . import kernel_log

Figures = Iterator[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Began:
    """The sender's connection, by the module's log."""

    iw: int
    ssthresh: int
    resends: int
    retransmitted: int


@dataclass(frozen=True, slots=True)
class Page:
    size_bytes: int
    port: int
    is_lost: bool  # a packet of its handshake was dropped
    handshake_us: int
    first_byte_us: int
    total_us: int
    began: Began | None  # None: without the module

    @property
    def after_handshake_us(self) -> int:
        return self.total_us - self.handshake_us


def read(folder: Path) -> list[Page]:
    """What one algorithm of a run left, in the order of the transfers."""
    began = _began(folder)
    out = []
    for line in (folder / "pages").read_text().splitlines():
        size, port, lost, handshake_us, first_byte_us, total_us = map(int, line.split())
        out.append(Page(size, port, bool(lost), handshake_us, first_byte_us, total_us, began.get(port)))
    return out


def _began(folder: Path) -> dict[int, Began]:
    """By the client's port; nothing where the log is empty: the plain kernel."""
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
    """Of pages of one size."""
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
