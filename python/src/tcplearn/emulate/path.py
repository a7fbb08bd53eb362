# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Convert the description of a path to the native emulator's input (native/emulate/direction.h)."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tcplearn.scenario import link_trace
from tcplearn.scenario.path import BOTH, Change, Changed, Direction, NetworkPath, Side, each_of

HOST = "the emulator"
_MS, _S = 1e6, 1e9  # nanoseconds

Tree = dict[str, Any]


def hops(path: NetworkPath) -> list[Tree]:
    """Return the hops of `path` as arguments of `_native.EmulatedPath`, with times in nanoseconds and shares
    from 0 to 1. Raise UserError (one line with the file and the key) if the emulator cannot emulate
    `path`."""
    if path.sender_queue:
        raise path.refused("sender_queue", HOST, "gets packets after they have left the sender")
    for name, side, direction in path.directions:
        for key, why in _cannot(direction):
            raise path.refused(f"hop.{name}.{side}.{key}", HOST, why)
    return [_hop(path, name) for name in path.hop]


def _cannot(d: Direction) -> Iterator[tuple[str, str]]:
    if d.queue != "droptail":
        yield "queue", f"has a droptail queue, not {d.queue}"
    if d.distribution == "paretonormal" and d.jitter_ms:
        yield "distribution", "has normal, uniform, uniform-above and pareto"


def _hop(path: NetworkPath, name: str) -> Tree:
    out: Tree = {side: _direction(path, name, side) for side in BOTH}
    if (drawn := path.drawn_fades) and drawn.hop == name:
        out["drawn_fades"] = {
            "lasts_ns": (drawn.lasts_s[0] * _S, drawn.lasts_s[1] * _S),
            "apart_ns": drawn.apart_s * _S,
            "exponential": drawn.pauses == "exponential",
            **{side: side in each_of(drawn.sides) for side in BOTH},
        }
    return out


def _direction(path: NetworkPath, name: str, side: Side) -> Tree:
    d: Direction = getattr(path.hop[name], side)
    return {
        "rate_mbps": d.rate_mbps if d.has_rate else None,
        "opportunities_ns": _opportunities_ns(d),
        "limit_packets": d.limit_packets,
        "limit_bytes": d.queue_bytes,
        "policer_mbps": d.policer_mbps,
        "policer_bytes": round(d.policer_kb * 1000) if d.policer_kb else None,
        "delay_ns": _ns(d.delay_ms, _MS),
        "jitter_ns": _ns(d.jitter_ms, _MS),
        "tail_ns": _ns(d.tail_ms, _MS),
        "distribution": d.distribution,
        "correlation": d.correlation_percent / 100,
        "jitter_reorders": d.jitter_reorders,
        "reorder": d.reorder_percent / 100,
        "reorder_ns": _ns(d.reorder_ms, _MS),
        "loss": d.loss_percent / 100,
        "bursts": _bursts(d),
        "slot_ns": tuple(_ns(ms, _MS) for ms in d.slot_ms) if d.slot_ms else None,
        "changes": [*_changes(path.change, name, side)],
        "fades": [_dated(f) for f in path.fade if f.hop == name and side in each_of(f.sides)],
    }


def _opportunities_ns(d: Direction) -> list[int] | None:
    if not d.trace:
        return None
    return [ms * round(_MS) for ms in link_trace.times_ms(link_trace.unpacked(Path(d.trace)))]


def _bursts(d: Direction) -> Tree | None:
    b = d.bursts
    if b is None:
        return None
    losses = {"loss_in_good": b.loss_in_good_percent / 100, "loss_in_bad": b.loss_in_bad_percent / 100}
    if b.kind == "time":
        return {"in_time": True, "leave_good": b.good_ms * _MS, "leave_bad": b.bad_ms * _MS, **losses}
    chances = {"leave_good": b.to_bad_percent / 100, "leave_bad": b.to_good_percent / 100}
    return {"in_time": False, **chances, **losses}


def _changes(changes: list[Change], name: str, side: Side) -> Iterator[Tree]:
    for change in sorted(changes, key=lambda c: c.at_s):
        changed: Changed | None = getattr(change, side)
        if change.hop != name or changed is None:
            continue
        values = {
            "rate_mbps": changed.rate_mbps,
            "loss": None if changed.loss_percent is None else changed.loss_percent / 100,
            "delay_ns": None if changed.delay_ms is None else _ns(changed.delay_ms, _MS),
            "jitter_ns": None if changed.jitter_ms is None else _ns(changed.jitter_ms, _MS),
        }
        yield _dated(change) | {key: value for key, value in values.items() if value is not None}


def _dated(one: Any) -> Tree:
    times = {"at": one.at_s, "lasts": one.lasts_s, "every": one.every_s}
    return {f"{key}_ns": _ns(value, _S) if math.isfinite(value) else None for key, value in times.items()}


def _ns(value: float, unit: float) -> int:
    return round(value * unit)
