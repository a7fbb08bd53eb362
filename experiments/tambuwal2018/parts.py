# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Divides a run that is as long as tambuwal2018's into parts, consecutive in time. The confidence intervals
of a single long run are computed from its parts, as those of short runs are from their seeds. Two runs with
the same seed are compared part by part, because the same parts have the same connections. Consecutive parts
of one run are correlated where the link is nearly full, because a backlog outlasts a part. `autocorrelation`
computes this correlation, which simulated.md shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from experiments.lib.runs import Floats

#: The number of parts, and the connections from which on a run is divided.
PARTS, LONG = 25, 100_000
#: Significant bits of the numbers that are stored of a long run: times, sizes, and the link's seconds.
TIME_BITS, SIZE_BITS, LINK_BITS = 10, 11, 12


def is_long(connections: float) -> bool:
    return connections >= LONG


def part_of(connection: int, connections: float) -> int:
    """Returns the part, from 0, to which the connection with the number `connection` belongs in a run of
    `connections` connections. Numbers begin with the warm-up, whose connections are not measured, so the
    first part has the fewest measured connections."""
    return min(int(connection * PARTS // connections), PARTS - 1)


def autocorrelation(values: Floats) -> float:
    """Returns the correlation of each part's value with the next part's: near 0 if parts are independent."""
    off = values - np.mean(values)
    return float(np.sum(off[1:] * off[:-1]) / np.sum(off * off))


def thinned(values: Floats, bits: int) -> Floats:
    """Returns the `values`, none of which is negative, rounded to `bits` significant bits."""
    mantissa, exponent = np.frexp(values)
    rounded: Floats = np.ldexp(np.round(mantissa * 2**bits) / 2**bits, exponent)
    return rounded


def links(series: Mapping[str, Floats], rate_mbps: float) -> Iterator[tuple[dict[str, float], Floats]]:
    """Yields, for each of the equally long parts of a run, the bottleneck's metrics and its share of lost
    packets in each second, from the values of each second in `series`. A part's share of lost packets is the
    mean of its seconds' shares, weighted by the number of packets that arrived in each second. This number is
    taken as proportional to the bytes sent and to 1 / (1 - share lost)."""
    shares, mbps = (np.array_split(series[name], PARTS) for name in ("loss_share", "mbps"))
    for share, sent in zip(shares, mbps, strict=True):
        arrived = sent / np.maximum(1 - share, 1e-4)
        throughput_mbps = float(np.mean(sent))
        metrics = {
            "link_packets": float(np.sum(arrived)),  # in proportion
            "link_loss_share": float(np.sum(share * arrived) / max(np.sum(arrived), 1e-9)),
            "link_loss_share_max": float(np.max(share, initial=0.0)),
            "link_throughput_mbps": throughput_mbps,
            "link_utilisation": throughput_mbps / rate_mbps,
        }
        yield metrics, share
