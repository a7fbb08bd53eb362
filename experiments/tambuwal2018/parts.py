# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Divides a run of the paper's size into parts, consecutive in time. Intervals of a single long run come from
its parts, as those of short runs come from the seeds: the parts of two runs with the same seed have the same
connections, and each part is far longer than the queue or a transfer of nearly every size remembers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.lib.runs import Floats

#: The number of parts, and the connections from which on a run is divided.
PARTS, LONG = 25, 100_000
#: Significant bits of the numbers that are stored of a long run: times, sizes, and the link's seconds.
TIME_BITS, SIZE_BITS, LINK_BITS = 10, 11, 12


@dataclass(frozen=True)
class Link:
    """The bottleneck in one part of a run."""

    metrics: Mapping[str, float]
    loss_shares: Sequence[float]  # of each second


def is_long(connections: float) -> bool:
    return connections >= LONG


def part_of(connection: int, connections: float) -> int:
    """Returns the part of the connection with this number. Numbers begin with the warm-up, whose connections
    are not measured, so the first part is the smallest one."""
    return min(int(connection * PARTS // connections), PARTS - 1)


def thinned(values: Floats, bits: int) -> Floats:
    """Returns the `values`, none of which is negative, rounded to as many significant `bits`."""
    mantissa, exponent = np.frexp(values)
    rounded: Floats = np.ldexp(np.round(mantissa * 2**bits) / 2**bits, exponent)
    return rounded


def links(series: Mapping[str, Floats], rate_mbps: float) -> Iterator[Link]:
    """Yields the bottleneck's state in each part; all parts have equally many seconds. The share of lost
    packets is the mean of the seconds' shares, weighted with the packets that arrived in each. These are
    taken as proportional to the bytes sent and to 1 / (1 - share lost)."""
    shares, mbps = (np.array_split(np.asarray(series[name], float), PARTS) for name in ("loss_share", "mbps"))
    for share, sent in zip(shares, mbps, strict=True):
        arrived = sent / np.maximum(1 - share, 1e-4)
        metrics = {
            "link_packets": float(np.sum(arrived)),  # in proportion
            "link_loss_share": float(np.sum(share * arrived) / max(np.sum(arrived), 1e-9)),
            "link_loss_share_max": float(np.max(share, initial=0.0)),
            "link_throughput_mbps": float(np.mean(sent)),
            "link_utilisation": float(np.mean(sent)) / rate_mbps,
        }
        yield Link(metrics, share.tolist())
