# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines `[transfer.repeat]` of a scenario file of `tcplearn lab`: repeated transfers on one connection."""

from typing import Annotated, ClassVar

from pydantic import Field

from .workload import Figures, Left, Lines, Setup, Workload

_FIGURES = (  # metric, field that the machine's program prints, divisor to the metric's unit
    ("burst_mean_ms", "burst_mean_us", 1000),
    ("burst_max_ms", "burst_max_us", 1000),
    ("burst_after_pause_ms", "burst_after_pause_us", 1000),
    ("cwnd_after_pause_segments", "cwnd_after_pause_segments", 1),
)


class Repeat(Workload):
    """`count` transfers on one connection, and then one more after each pause."""

    function: ClassVar[str] = "bursts"
    count: Annotated[int, Field(ge=1, le=100_000)] = 40  # transfers before the first pause
    every_ms: Annotated[int, Field(ge=1, le=3_600_000)] = 150  # from the start of one transfer to the next
    pauses_ms: list[Annotated[int, Field(ge=1, le=3_600_000)]] = Field(default=[1000], min_length=1)

    def starts(self, setup: Setup) -> Lines:
        yield f"bursts='{self.count} {self.every_ms} {','.join(map(str, self.pauses_ms))}'"

    def figures(self, left: Left) -> Figures:
        for metric, name, divisor in _FIGURES:
            if name in left.info:
                yield metric, left.info[name] / divisor
