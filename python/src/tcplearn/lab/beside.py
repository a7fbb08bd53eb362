# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the goodput of the background TCP senders in a scenario of `tcplearn lab`: of senders with the key
`counted`, or of all if the scenario has the key `truth`."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from .scenario import Scenario
from .workload import SENT

SEGMENT_BYTES = 1448  # data in a full Ethernet packet whose TCP header has timestamps

Counters = Callable[[Path], Mapping[str, float]]


def _senders(scenario: Scenario) -> list[int]:
    of = enumerate(scenario.traffic)
    return [k for k, traffic in of if traffic.kind == "tcp" and (scenario.truth or traffic.counted)]


def counters(scenario: Scenario, folder: str, when: str) -> Iterator[str]:
    """Yield the shell commands that store the senders' TCP counters in `folder`. `when`, "before" or "after"
    the transfer, is a part of the files' names."""
    if senders := _senders(scenario):
        yield f"mkdir -p /out/{folder}"
        yield from (f"in_ns x{k} cat /proc/net/netstat >/out/{folder}/{when}.x{k}" for k in senders)


def figures(
    scenario: Scenario, folder: Path, own_mbps: float, elapsed_us: float, read: Counters
) -> Iterator[tuple[str, float]]:
    """Yield (metric, value) for the background TCP senders' mean goodput in Mbit/s, and for Jain's fairness
    index of their goodputs and `own_mbps`, the goodput of the main transfer, which took `elapsed_us`."""
    rates = []
    for k in _senders(scenario):
        sent = read(folder / f"after.x{k}").get(SENT, 0.0) - read(folder / f"before.x{k}").get(SENT, 0.0)
        rates.append(8 * SEGMENT_BYTES * sent / elapsed_us)
    if rates:
        yield "beside_goodput_mbps", sum(rates) / len(rates)
        every = [own_mbps, *rates]
        yield "jain_index", sum(every) ** 2 / (len(every) * sum(rate**2 for rate in every))
