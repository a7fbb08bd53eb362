# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Emulates a network path with netem and tbf on the devices of a chain of network namespaces (nodes). A
packet passes a hop's queue when it leaves the hop's first node; the hop's delay and losses follow when it
leaves the second. Packets of the reverse direction pass the same nodes from the other end."""

import dataclasses
import itertools
import math
from collections.abc import Iterator

from tcplearn.scenario import link_trace
from tcplearn.scenario.path import BOTH, Change, Direction, Fade, NetworkPath, Side, each_of

HOST = "the lab"
ORDERLY = "rate 10gbit"  # too fast for a bottleneck; with a rate, netem keeps the order in spite of jitter
_SAME_S = 1e-6  # two times that differ by less than this, in seconds, count as the same time


def gateway(hop: int) -> int:
    """Return the number of the network namespace where hop number `hop` begins. The first hop does not begin
    at the sender (namespace 0), because TCP learns at once of a drop in the queue of its own device and does
    not count the drop as a loss. A queue there is `sender_queue`."""
    return 2 * hop + 1


def check(path: NetworkPath) -> None:
    """Raise UserError (one line with the file and the key) if netem and tbf cannot emulate `path`."""
    for hop, side, direction in path.directions:
        states = (_state(path, hop, side, event) for event in _events(path, hop))
        for key, why in itertools.chain(*map(_cannot, (direction, *states))):
            raise path.refused(f"hop.{hop}.{side}.{key}", HOST, why)
    drawn = path.drawn_fades
    if drawn and drawn.pauses != "even":
        raise path.refused("drawn_fades.pauses", HOST, "draws even pauses only")
    if drawn and drawn.sides != "forward":
        raise path.refused("drawn_fades.sides", HOST, "draws fades of the forward direction only")
    if drawn and (path.change or path.fade):
        raise path.refused("drawn_fades", HOST, "has no dated changes or fades in addition to drawn ones")
    for hop, side, _ in path.directions:
        dated = _dated(path, hop, side)
        if len({one.every_s for one in dated}) > 1 and any(isinstance(one, Change) for one in dated):
            why = f"needs one every_s for all changes and fades of hop.{hop}.{side}"
            raise path.refused("change", HOST, why)


def _cannot(d: Direction) -> Iterator[tuple[str, str]]:
    if d.tail_ms:
        yield "tail_ms", "has no exponential delay: netem draws from its tables (jitter_ms, distribution)"
    if d.reorder_percent:
        yield "reorder_percent", "has no share of late packets; jitter_reorders lets the jitter reorder"
    if d.policer_mbps:
        yield "policer_mbps", "has no policer"
    if d.bursts and d.bursts.kind == "time":
        yield "bursts.kind", "has no bursts in time: netem's loss chain takes one step per packet"
    if d.jitter_ms and not d.delay_ms:
        yield "jitter_ms", "needs a delay_ms that the jitter varies"
    if d.slot_ms and not d.delay_ms:
        yield "slot_ms", "needs a delay_ms before the slots"
    if d.queue_bytes and d.queue != "droptail":
        yield "queue_bytes", f"limits a {d.queue} queue in packets"


def _dated(path: NetworkPath, hop: str, side: Side) -> list[Change | Fade]:
    changes = [c for c in path.change if c.hop == hop and getattr(c, side)]
    fades = [f for f in path.fade if f.hop == hop and side in each_of(f.sides)]
    return [*changes, *fades]


@dataclasses.dataclass(frozen=True, slots=True)
class _Event:
    """A time at which a dated change or fade of a hop begins or ends, and the directions that it concerns."""

    at_s: float
    every_s: float
    sides: tuple[Side, ...]


def _devices(hop: int) -> dict[Side, tuple[str, str]]:
    """Return, for each direction, the namespace and device of the queue of hop number `hop`, and those of its
    delay, each pair as "NAMESPACE DEVICE"."""
    left = gateway(hop)
    middle, right = left + 1, left + 2
    return {
        "forward": (f"c{left} r{left}", f"c{middle} r{middle}"),
        "reverse": (f"c{right} l{middle}", f"c{middle} l{left}"),
    }


def set_up(path: NetworkPath) -> Iterator[str]:
    """Yield the shell commands that set up the queues and delays of `path`."""
    if own := path.sender_queue:
        rate = round(own.rate_mbps * 1e6)
        yield f"qdisc c0 r0 root tbf rate {rate}bit burst {_burst(rate)} latency {own.queue_ms:g}ms"
    for i, (name, hop) in enumerate(path.hop.items()):
        for side, (queue, delay) in _devices(i).items():
            direction: Direction = getattr(hop, side)
            yield from _queue(queue, direction)
            yield from _delay(delay, direction, _moves(path, name, side))


def changes(path: NetworkPath) -> Iterator[str]:
    """Yield the shell commands that make the dated changes and fades of `path` in the background."""
    for i, hop in enumerate(path.hop):
        devices = _devices(i)
        for event in _events(path, hop):
            commands: list[str] = []
            for side in event.sides:
                queue, delay = devices[side]
                state = _state(path, hop, side, event)
                if not state.trace:  # a link with a trace gets its rate from the trace
                    commands += _queue(queue, state)
                commands += _delay(delay, state, True)
            step = "; ".join(_change(command) for command in commands)
            if math.isfinite(event.every_s):
                step = f"while :; do {step}; sleep {event.every_s:g}; done"
            yield f"(sleep {event.at_s:g}; {step}) &"


def fading(path: NetworkPath) -> tuple[str, str, str]:
    """Return three texts for the hop of `path` with random fades (periods in which it loses all packets): its
    network namespace, the arguments with which tc begins a fade, and those with which tc ends it."""
    assert path.drawn_fades
    i = list(path.hop).index(path.drawn_fades.hop)
    _, device = _devices(i)["forward"]
    clear = path.hops[i].forward
    # tc itself runs in that namespace, so its arguments do not name it
    begin, end = (
        _change(line).partition(" tc ")[2] for d in (_lost(clear), clear) for line in _delay(device, d, True)
    )
    return device.split()[0], begin, end


def follows(path: NetworkPath) -> Iterator[str]:
    """Yield the shell commands that make links with a trace follow it, in the background."""
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
            yield f"cat >/tmp/{device} <<END"
            for step in trace.steps:
                bucket = _bucket(step.rate, limit=direction.limit_packets)
                yield f"{step.at_ms} qdisc change dev {device} {bucket}"
            yield "END"
            pace = f"in_ns c{ns} /scenario/transfer pace {trace.period_ms} /tmp/{device}"
            yield f"({pace} | in_ns c{ns} tc -batch -) &"
            # a waiting token bucket uses a new rate only from the next packet on, so one is sent every 64 ms
            yield f"in_ns c{ns} /scenario/transfer udp {peer} 9 2 16 86400 &"


def _events(path: NetworkPath, hop: str) -> list[_Event]:
    found: dict[tuple[int, float], _Event] = {}
    for side in BOTH:
        for one in _dated(path, hop, side):
            for at_s in filter(math.isfinite, (one.at_s, one.at_s + one.lasts_s)):
                key = (round(at_s / _SAME_S), one.every_s)
                before = found[key].sides if key in found else ()
                sides = before if side in before else (*before, side)
                found[key] = _Event(at_s, one.every_s, sides)
    return sorted(found.values(), key=lambda event: event.at_s)


def _state(path: NetworkPath, hop: str, side: Side, event: _Event) -> Direction:
    """Return the direction `side` of `hop` with the changes and fades that are in force after `event`."""
    state: Direction = getattr(path.hop[hop], side)
    # if two changes overlap, the one that begins later takes precedence
    for one in sorted(_dated(path, hop, side), key=lambda one: (isinstance(one, Fade), one.at_s)):
        since_s = event.at_s - one.at_s
        if one.every_s != event.every_s or not -_SAME_S <= since_s < one.lasts_s - _SAME_S:
            continue
        lost = isinstance(one, Fade)
        state = _lost(state) if lost else _changed(state, getattr(one, side).model_dump(exclude_none=True))
    return state


def _changed(d: Direction, values: dict[str, float]) -> Direction:
    # the queue keeps its limit in packets
    queue = {"queue_packets": d.limit_packets, "queue_ms": None} if d.queue_ms else {}
    losses = {"bursts": None} if values.get("loss_percent") else {}
    return d.model_copy(update={**queue, **losses, **values})


def _lost(d: Direction) -> Direction:
    return _changed(d, {"loss_percent": 100.0})


def _moves(path: NetworkPath, hop: str, side: Side) -> bool:
    drawn = path.drawn_fades
    is_drawn = drawn is not None and drawn.hop == hop and side in each_of(drawn.sides)
    return is_drawn or bool(_dated(path, hop, side))


def _change(command: str) -> str:
    _, ns, device, rest = command.split(" ", 3)
    return f"in_ns {ns} tc qdisc change dev {device} {rest}"


def _bucket(rate: int, burst: int = link_trace.BURST_BYTES, limit: int = 100_000_000) -> str:
    return f"root handle 1: tbf rate {rate}bit burst {burst} limit {limit}"


def _burst(rate: int) -> int:
    return max(3028, rate // 8 // 250)  # two packets, or the bytes of one timer tick (1/250 s)


def _queue(device: str, d: Direction) -> Iterator[str]:
    if d.trace:
        yield f"qdisc {device} {_bucket(d.followed().steps[0].rate, limit=d.limit_packets)}"
        yield f"qdisc {device} parent 1: handle 10: pfifo limit {d.limit_packets}"
    if not d.has_rate:
        return
    rate = round(d.rate_mbps * 1e6)
    if d.queue == "droptail" and not d.queue_bytes:
        yield f"qdisc {device} root netem rate {rate}bit limit {d.limit_packets}"
        return
    burst = _burst(rate)
    if d.queue_bytes:
        yield f"qdisc {device} {_bucket(rate, burst, d.queue_bytes)}"
        return
    yield f"qdisc {device} {_bucket(rate, burst)}"
    yield f"qdisc {device} parent 1: handle 10: {d.queue.replace('-', '_')} limit {d.limit_packets}"


def _delay(device: str, d: Direction, moves: bool) -> Iterator[str]:
    words: list[str] = []
    above = d.jitter_ms > 0 and d.distribution == "uniform-above"
    if d.delay_ms or d.jitter_ms:
        words.append(f"delay {d.delay_ms + (d.jitter_ms if above else 0):g}ms")
        if d.jitter_ms:
            words.append(f"{d.jitter_ms:g}ms")
            if d.correlation_percent:
                words.append(f"{d.correlation_percent:g}%")
            if not d.distribution.startswith("uniform"):  # netem's own without a table
                words.append(f"distribution {d.distribution}")
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
