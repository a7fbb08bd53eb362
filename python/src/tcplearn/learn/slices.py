# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Split a loss classifier's results by parameters of the scenarios, such as the queue discipline."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tcplearn.learn.trials import Outcome

PACKET_BITS = 12_000  # approximate size of a packet on the wire
About = Mapping[str, Any]  # a scenario's parameters by dotted keys, such as "topology.queue"


def parts(outcome: Outcome) -> Iterator[tuple[str, Outcome]]:
    """Yield the name of each slice (part) of the scenarios of `outcome`, such as "queue: codel", and the
    classifier's scores and decisions for the losses in this slice."""
    about = outcome.data.about
    labels: dict[str, list[str]] = {}
    for scenario in about:
        for kind, label in _labels(scenario):
            labels.setdefault(kind, [])
            if label not in labels[kind]:
                labels[kind].append(label)
    of_scenario = [dict(_labels(scenario)) for scenario in about]
    for kind, every in labels.items():
        for label in sorted(every):
            chosen = [k for k, of in enumerate(of_scenario) if of.get(kind) == label]
            keep = np.isin(outcome.data.group, chosen)
            if keep.any():
                yield f"{kind}: {label.partition('|')[2] or label}", outcome.of(keep)


def _labels(s: About) -> Iterator[tuple[str, str]]:
    """Yield the slices to which a scenario with the parameters `s` belongs, as (kind, value), such as
    ("queue", "codel"). A prefix "NUMBER|" of a value gives the sort order."""
    queue = s.get("topology.queue")
    if queue:
        yield "queue", str(queue)
    if "topology.rate_mbps" in s and "topology.rtt_ms" in s:
        packets = s["topology.rate_mbps"] * s["topology.rtt_ms"] * 1000 / PACKET_BITS
        yield "BDP, packets", _step(packets, (10, 50, 200))
    if queue == "droptail" and "topology.queue_bdp" in s:
        yield "drop-tail queue, BDP", _step(s["topology.queue_bdp"], (0.5, 1.5))
    if "topology.loss_burst_packets" in s:
        yield "random loss", "in bursts" if s["topology.loss_burst_packets"] > 1 else "1|each by itself"
    if queue:
        udp, tcp = s.get("load.udp", "none"), s.get("load.beside", 0)
        yield "traffic beside", "TCP" if tcp else f"UDP, {udp}" if udp != "none" else "1|none"
    if "tcp.congestion_control" in s:
        yield "sender", str(s["tcp.congestion_control"]).removeprefix("Tcp")


def _step(x: float, limits: tuple[float, ...]) -> str:
    below = sum(x >= limit for limit in limits)
    if below == 0:
        return f"0|under {limits[0]:g}"
    if below == len(limits):
        return f"{below}|from {limits[-1]:g}"
    return f"{below}|{limits[below - 1]:g} to {limits[below]:g}"
