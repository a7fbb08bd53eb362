# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Convert the description of a network path to ns-3's topology `path` (a bottleneck between routers) if this
topology can represent it. Otherwise pass the description on to ns-3 unchanged (ns3/src/hop_channel.h)."""

from collections.abc import Iterator
from typing import Any

from tcplearn.scenario.path import Direction, Hop, NetworkPath

HOST = "ns-3"
TRACED_MBPS = 20.0  # assumed for a link with a trace, for access links and shares of cross traffic
LEAST_MS = 0.001  # the RTT, in ms, of a path without delay
UNLIMITED_MBPS = 100e3  # of a path without a bottleneck, and of devices of a link with a trace
ROOMY_PACKETS = 100_000

Tree = dict[str, Any]


def topology(path: NetworkPath) -> Tree:
    """Return the scenario's table `topology` for `path`. Raise UserError if ns-3 cannot simulate it."""
    for key, why in _cannot(path):
        raise path.refused(key, HOST, why)
    (hop,) = path.hops
    forward = hop.forward
    out: Tree = {
        "kind": "path",
        "rate_mbps": _rate(forward),
        "rtt_ms": forward.delay_ms + hop.reverse.delay_ms or LEAST_MS,
        "queue": forward.queue,
        "queue_packets": forward.limit_packets if forward.has_rate or forward.trace else ROOMY_PACKETS,
        "loss_rate": forward.loss_percent / 100,
        "loss_place": "bottleneck",
    }
    if forward.trace:
        out["trace"] = forward.trace
    if _is_even(hop) and (step := _step(path)) is not None and _fades_alike(path):
        return {**out, "moving": _moving(path, hop, step)}
    described = {
        "forward": forward.model_copy(update={"trace": ""}),  # the topology's own key `trace` has it
        "reverse": hop.reverse,
        "change": path.change,
        "fade": path.fade,
        "drawn_fades": path.drawn_fades,
    }
    return {**out, "loss_rate": 0.0, "described": described}


def _cannot(path: NetworkPath) -> Iterator[tuple[str, str]]:
    if path.sender_queue:
        yield "sender_queue", "does not tell its TCP which segments still wait in the sender"
    if len(path.hop) > 1:
        yield "hop", f"has one hop with a queue, not {len(path.hop)}"
    for name, side, direction in path.directions:
        of = f"hop.{name}.{side}"
        if direction.distribution == "paretonormal" and direction.jitter_ms:
            yield f"{of}.distribution", "has normal, uniform, uniform-above and pareto"
        if direction.queue_bytes and direction.queue != "droptail":
            yield f"{of}.queue_bytes", f"limits a {direction.queue} queue in packets"
        if side == "reverse" and direction.trace:
            yield f"{of}.trace", "follows a trace in the forward direction only"
        if side == "reverse" and direction.queue != "droptail":
            yield f"{of}.queue", "has a droptail queue in the reverse direction"


def _rate(forward: Direction) -> float:
    if forward.trace:
        return TRACED_MBPS
    return forward.rate_mbps if forward.has_rate else UNLIMITED_MBPS


def _is_even(hop: Hop) -> bool:
    f, r = hop.forward, hop.reverse
    alike = ("delay_ms", "jitter_ms", "tail_ms", "distribution")
    if any(getattr(f, key) != getattr(r, key) for key in alike):
        return False
    if f.trace:
        queues = not r.has_rate
    else:
        queues = f.has_rate and f.rate_mbps == r.rate_mbps and f.limit_packets == r.limit_packets
    simple = not any(
        (d.jitter_ms and d.distribution != "uniform-above")
        or d.correlation_percent
        or d.jitter_reorders
        or d.reorder_percent
        or d.policer_mbps
        or d.bursts
        or d.slot_ms
        or d.queue_bytes
        or d.queue == "pie"
        for d in (f, r)
    )
    return queues and simple and f.delay_ms > 0 and r.loss_percent < 100 and f.loss_percent < 100


def _fades_alike(path: NetworkPath) -> bool:
    drawn = path.drawn_fades
    return not path.fade and (drawn is None or (drawn.pauses, drawn.sides) == ("exponential", "both"))


def _step(path: NetworkPath) -> tuple[float, float] | None:
    """Return a pair if the only change of `path` over time is an additional forward delay in every other
    period: this delay in ms, and the length of a period in s. Otherwise return None."""
    if not path.change:
        return 0.0, 1.0
    if len(path.change) > 1:
        return None
    (change,) = path.change
    forward = change.forward.model_dump(exclude_none=True) if change.forward else {}
    if change.reverse or set(forward) != {"delay_ms"}:
        return None
    if not change.at_s == change.lasts_s == change.every_s / 2:
        return None
    longer_ms = forward["delay_ms"] - path.hops[0].forward.delay_ms
    return (longer_ms, change.at_s) if longer_ms >= 0 else None


def _moving(path: NetworkPath, hop: Hop, step: tuple[float, float]) -> Tree:
    drawn = path.drawn_fades
    fades = {"fade_s": list(drawn.lasts_s), "fade_every_s": drawn.apart_s} if drawn else {}
    return {
        "jitter_ms": hop.forward.jitter_ms,
        "tail_ms": hop.forward.tail_ms,
        "step_ms": step[0],
        "step_every_s": step[1],
        "loss_back_rate": hop.reverse.loss_percent / 100,
        **fades,
    }
