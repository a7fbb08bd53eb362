# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A described path in the guest: netem and tbf on the devices of a chain of namespaces, and the commands that
change them.

A hop begins at a node with its queue, has its delay and loss in the next node, and ends at the node after
that. Queue and delay are on separate devices. The reverse direction is the same from the other end.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator

from tcplearn.scenario import link_trace
from tcplearn.scenario.path import Change, Direction, Fade, NetworkPath, Placed, Side, both_sides

HOST = "the lab"
#: A rate for the device of the delay: it is no bottleneck, but with a rate netem keeps the order of packets
#: in spite of the jitter.
ORDERLY = "rate 10gbit"
#: Dates that differ by less than this count as the same date.
_SAME_S = 1e-6


def gateway(hop: int) -> int:
    """Return the node where a hop begins. The sender is a separate node before the first hop, because TCP
    learns at once of a drop by the sender's own device, which then is no loss."""
    return 2 * hop + 1


def check(path: NetworkPath) -> None:
    """Raise UserError, one line with file and key, if netem and tbf cannot emulate the path."""
    for hop in path.hops:
        for side in both_sides("both"):
            states = (_state(path, hop, side, event) for event in _events(path, hop.name))
            for key, why in itertools.chain(*map(_cannot, (getattr(hop, side), *states))):
                raise path.refused(f"hop.{hop.name}.{side}.{key}", HOST, why)
    drawn = path.drawn_fades
    if drawn and drawn.pauses != "even":
        raise path.refused("drawn_fades.pauses", HOST, "draws even pauses only")
    if drawn and drawn.sides != "forward":
        raise path.refused("drawn_fades.sides", HOST, "draws fades of the forward direction only")
    if drawn and (path.change or path.fade):
        raise path.refused("drawn_fades", HOST, "has no dated changes and fades beside drawn ones")
    for hop in path.hops:
        for side in both_sides("both"):
            dated = _dated(path, hop.name, side)
            if len({one.every_s for one in dated}) > 1 and any(isinstance(one, Change) for one in dated):
                raise path.refused(
                    "change", HOST, f"needs one every_s for all changes and fades of hop.{hop.name}.{side}"
                )


def _cannot(d: Direction) -> Iterator[tuple[str, str]]:
    if d.tail_ms:
        yield "tail_ms", "has no exponential delay: netem draws from its tables (jitter_ms, distribution)"
    if d.reorder_percent:
        yield "reorder_percent", "has no share of late packets; jitter_reorders lets the jitter reorder"
    if d.bursts and d.bursts.kind == "time":
        yield "bursts.kind", "has no bursts in time: netem's chain takes a step a packet"
    if d.jitter_ms and not d.delay_ms:
        yield "jitter_ms", "needs a delay_ms that the jitter varies"
    if d.slot_ms and not d.delay_ms:
        yield "slot_ms", "needs a delay_ms before the slots"
    if d.queue_bytes and d.queue != "droptail":
        yield "queue_bytes", f"limits a {d.queue} queue in packets"


def _dated(path: NetworkPath, hop: str, side: Side) -> list[Change | Fade]:
    changes = [c for c in path.change if c.hop == hop and getattr(c, side)]
    fades = [f for f in path.fade if f.hop == hop and side in both_sides(f.sides)]
    return [*changes, *fades]


@dataclasses.dataclass(frozen=True, slots=True)
class _Event:
    """A date, repeated after each period, at which these sides of a hop get other values."""

    at_s: float
    every_s: float
    sides: tuple[Side, ...]


def set_up(path: NetworkPath) -> Iterator[str]:
    """Yield the lines of the guest's script that create the path."""
    for i, hop in enumerate(path.hops):
        left = gateway(i)
        middle, right = left + 1, left + 2
        yield from _queue(f"c{left} r{left}", hop.forward)
        yield from _delay(f"c{middle} r{middle}", hop.forward, _moves(path, hop, "forward"))
        yield from _queue(f"c{right} l{middle}", hop.reverse)
        yield from _delay(f"c{middle} l{left}", hop.reverse, _moves(path, hop, "reverse"))


def changes(path: NetworkPath) -> Iterator[str]:
    """Yield the lines that change the path at the dates of its changes and fades."""
    for i, hop in enumerate(path.hops):
        left = gateway(i)
        devices = {
            "forward": (f"c{left} r{left}", f"c{left + 1} r{left + 1}"),
            "reverse": (f"c{left + 2} l{left + 1}", f"c{left + 1} l{left}"),
        }
        for event in _events(path, hop.name):
            commands: list[str] = []
            for side in event.sides:
                queue, delay = devices[side]
                state = _state(path, hop, side, event)
                if not state.trace:  # the trace sets the rate
                    commands += _queue(queue, state)
                commands += _delay(delay, state, True)
            step = "; ".join(_change(command) for command in commands)
            if math.isfinite(event.every_s):
                step = f"while :; do {step}; sleep {event.every_s:g}; done"
            yield f"(sleep {event.at_s:g}; {step}) &"


def fading(path: NetworkPath) -> tuple[str, str, str]:
    """Return the namespace with the forward delay of the hop that has drawn fades, and the tc commands that
    begin and end a fade there."""
    assert path.drawn_fades
    i = list(path.hop).index(path.drawn_fades.hop)
    hop, middle = path.hops[i], gateway(i) + 1
    device = f"c{middle} r{middle}"
    (faded,), (clear,) = _delay(device, _lost(hop.forward), True), _delay(device, hop.forward, True)
    # tc itself runs in that namespace
    in_tc = [f"qdisc change dev r{middle} {line.split(' ', 3)[3]}" for line in (faded, clear)]
    return f"c{middle}", in_tc[0], in_tc[1]


def follows(path: NetworkPath) -> Iterator[str]:
    """Yield the lines that run links with traces: one tc for each link, which gets each rate at its time."""
    for i, hop in enumerate(path.hops):
        left = gateway(i)
        ends = (
            (hop.forward, left, f"r{left}", f"10.0.{left}.2"),
            (hop.reverse, left + 2, f"l{left + 1}", f"10.0.{left + 1}.1"),
        )
        for direction, ns, device, peer in ends:
            if not direction.trace:
                continue
            trace = direction.followed()
            limit = direction.limit_packets
            yield f"cat >/tmp/{device} <<END"
            yield from (
                f"{step.at_ms} qdisc change dev {device} {_bucket(step.rate, limit=limit)}"
                for step in trace.steps
            )
            yield "END"
            pace = f"in_ns c{ns} /scenario/transfer pace {trace.period_ms} /tmp/{device}"
            yield f"({pace} | in_ns c{ns} tc -batch -) &"
            # a waiting token bucket uses a new rate from the next packet on: these come every 64 ms
            yield f"in_ns c{ns} /scenario/transfer udp {peer} 9 2 16 86400 &"


def _events(path: NetworkPath, hop: str) -> list[_Event]:
    """Return the events of a hop by date: all beginnings and ends of changes and fades. Those with the same
    date and period are one event."""
    found: dict[tuple[int, float], _Event] = {}
    for side in both_sides("both"):
        for one in _dated(path, hop, side):
            for at_s in (one.at_s, one.at_s + one.lasts_s):
                if not math.isfinite(at_s):
                    continue
                key = (round(at_s / _SAME_S), one.every_s)
                before = found[key].sides if key in found else ()
                sides = before if side in before else (*before, side)
                found[key] = _Event(at_s, one.every_s, sides)
    return sorted(found.values(), key=lambda event: event.at_s)


def _state(path: NetworkPath, hop: Placed, side: Side, event: _Event) -> Direction:
    """Return the direction after an event, with the changes and fades of the event's period."""
    state: Direction = getattr(hop, side)
    # if two changes overlap, the later beginning takes precedence
    for one in sorted(_dated(path, hop.name, side), key=lambda one: (isinstance(one, Fade), one.at_s)):
        since_s = event.at_s - one.at_s
        if one.every_s != event.every_s or not -_SAME_S <= since_s < one.lasts_s - _SAME_S:
            continue
        if isinstance(one, Fade):
            state = _lost(state)
        else:
            state = _changed(state, getattr(one, side).model_dump(exclude_none=True))
    return state


def _changed(d: Direction, values: dict[str, float]) -> Direction:
    queue = {"queue_packets": d.limit_packets, "queue_ms": None} if d.queue_ms else {}  # keeps its limit
    losses = {"bursts": None} if values.get("loss_percent") else {}
    return d.model_copy(update={**queue, **losses, **values})


def _lost(d: Direction) -> Direction:
    return _changed(d, {"loss_percent": 100.0})


def _moves(path: NetworkPath, hop: Placed, side: Side) -> bool:
    """Return whether a change or a fade of the path needs a netem on this side of the hop."""
    drawn = path.drawn_fades
    return bool(_dated(path, hop.name, side)) or (
        drawn is not None and drawn.hop == hop.name and side in both_sides(drawn.sides)
    )


def _change(command: str) -> str:
    """Return the command that changes a qdisc, given `command`, "qdisc NS DEVICE ...", that adds it."""
    _, ns, device, rest = command.split(" ", 3)
    return f"in_ns {ns} tc qdisc change dev {device} {rest}"


def _bucket(rate: int, burst: int = link_trace.BURST_BYTES, limit: int = 100_000_000) -> str:
    """Return a token bucket for tc. The caller also sets the limit of a fifo below it, in the fifo's unit."""
    return f"root handle 1: tbf rate {rate}bit burst {burst} limit {limit}"


def _queue(device: str, d: Direction) -> Iterator[str]:
    if d.trace:
        limit = d.limit_packets
        yield f"qdisc {device} {_bucket(d.followed().steps[0].rate, limit=limit)}"
        yield f"qdisc {device} parent 1: handle 10: pfifo limit {limit}"
    if not d.has_rate:
        return
    rate = round(d.rate_mbps * 1e6)
    if d.queue == "droptail" and not d.queue_bytes:
        yield f"qdisc {device} root netem rate {rate}bit limit {d.limit_packets}"
        return
    burst = max(3028, rate // 8 // 250)  # two packets, or the bytes of one timer tick
    if d.queue_bytes:
        yield f"qdisc {device} {_bucket(rate, burst, d.queue_bytes)}"
        return
    yield f"qdisc {device} {_bucket(rate, burst)}"
    yield f"qdisc {device} parent 1: handle 10: {d.queue.replace('-', '_')} limit {d.limit_packets}"


def _delay(device: str, d: Direction, moves: bool) -> Iterator[str]:
    """Yield the netem with delay and loss; without either there is one only if it `moves`."""
    words: list[str] = []
    above = d.jitter_ms > 0 and d.distribution == "uniform-above"
    if d.delay_ms or d.jitter_ms:
        words.append(f"delay {d.delay_ms + (d.jitter_ms if above else 0):g}ms")
        if d.jitter_ms:
            words.append(f"{d.jitter_ms:g}ms")
            if d.correlation_percent:
                words.append(f"{d.correlation_percent:g}%")
            words.append(f"distribution {'uniform' if above else d.distribution}")
    if d.loss_percent:
        words.append(f"loss {d.loss_percent:g}%")
    if b := d.bursts:
        assert b.kind == "packets"
        chances = (b.to_bad_percent, b.to_good_percent, b.loss_in_bad_percent, b.loss_in_good_percent)
        words.append("loss gemodel " + " ".join(f"{chance:g}%" for chance in chances))
    if d.slot_ms:
        words.append(f"slot {d.slot_ms[0]:g}ms {d.slot_ms[1]:g}ms")
    if not words and moves:
        words.append("delay 0ms")
    if words:
        orderly = "" if d.jitter_reorders or not d.jitter_ms else f" {ORDERLY}"
        yield f"qdisc {device} root netem limit 100000{orderly} {' '.join(words)}"
