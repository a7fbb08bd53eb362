# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scenarios whose handshakes lose packets, and pages that curl fetches: tables, and lines of the script."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from tcplearn.scenario.check import Table

#: Ports that curl connects from, one a page: below those that the kernel hands out.
FIRST_PORT, LAST_PORT = 10_000, 32_000
#: The router that drops: the first after the sender.
ROUTER = "c1"

PageBytes = Annotated[int, Field(ge=1, le=10**8)]


class Handshakes(Table):
    """Of each connection: from the nth SYN or SYN-ACK on so many are dropped, on the first router."""

    lose: Literal["syn", "syn-ack"] = "syn-ack"
    nth: Annotated[int, Field(ge=1, le=10)] = 1
    count: Annotated[int, Field(ge=1, le=10)] = 1
    percent: Annotated[float, Field(gt=0, le=100)] = 100  # of pages; drawn with the run's seed

    def dropped(self) -> str:
        return f"{self.lose} {self.nth} {self.count}"


class Pages(Table):
    """Files that curl fetches from nginx, a connection each, one after the other."""

    sizes: Annotated[list[PageBytes], Field(min_length=1, max_length=16)]
    count: Annotated[int, Field(ge=1, le=10_000)] = 200  # of each size


def most_arms(pages: Pages) -> int:
    """So many algorithms have ports of their own."""
    return (LAST_PORT - FIRST_PORT) // (pages.count * len(pages.sizes))


def lost_pages(handshakes: Handshakes | None, pages: Pages, seed: int) -> list[int]:
    """Numbers of the pages that lose, the same for every size and algorithm of a run."""
    if handshakes is None:
        return []
    count = max(1, round(pages.count * handshakes.percent / 100))
    return sorted(random.Random(f"handshakes/{seed}").sample(range(pages.count), count))


def start(handshakes: Handshakes | None, pages: Pages, seed: int) -> Iterator[str]:
    lost = lost_pages(handshakes, pages, seed)
    yield f"echo '{' '.join(map(str, lost))}' >/tmp/lost"
    dropped = handshakes.dropped() if handshakes else "syn-ack 1 1"
    sizes = ",".join(map(str, pages.sizes))
    yield f"pages_count={pages.count} pages_sizes={sizes} pages_dropped='{dropped}'"
    yield f"start_pages {' '.join(map(str, pages.sizes))}"
