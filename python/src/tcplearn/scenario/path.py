# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines how files describe a network path (hops, and changes over time) for all programs that can emulate
it: `tcplearn lab`, ns-3 and `tcplearn emulate`. See docs/paths.md."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from tcplearn.checkout import ROOT
from tcplearn.errors import UserError, did_you_mean, printable

from . import check, link_trace, tree
from .check import Table

HOSTS = ("lab", "ns3", "emulate")  # the programs that emulate paths; a path file may have a table for each
PACKET_BITS = 8 * 1500  # the packet size for converting a queue limit from ms to packets
DEFAULT_PACKETS = 100

Percent = Annotated[float, Field(ge=0, le=100)]
Milliseconds = Annotated[float, Field(ge=0, le=60_000)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
Rate = Annotated[float, Field(ge=0.008)]  # 8 kbit/s to 10 Gbit/s; infinite: no bottleneck
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]
Side = Literal["forward", "reverse"]
Sides = Literal["forward", "reverse", "both"]
BOTH: tuple[Side, ...] = ("forward", "reverse")

FASTEST_MBPS = 10_000.0
_LIMITS = ("queue_packets", "queue_bytes", "queue_ms")
#: Groups of keys that exclude each other. A direction's key replaces one of its group in the hop's table.
_ONE_OF = (_LIMITS, ("rate_mbps", "trace"), ("loss_percent", "bursts"))


class PacketBursts(Table):
    kind: Literal["packets"]  # Gilbert-Elliott: the state may change at each packet
    to_bad_percent: Percent
    to_good_percent: Percent
    loss_in_bad_percent: Percent = 100
    loss_in_good_percent: Percent = 0


class TimeBursts(Table):
    kind: Literal["time"]  # Gilbert-Elliott in time, with exponential lengths of the states
    good_ms: Annotated[float, Field(gt=0, le=86_400_000)]
    bad_ms: Annotated[float, Field(gt=0, le=86_400_000)]
    loss_in_bad_percent: Percent = 100
    loss_in_good_percent: Percent = 0


class Direction(Table):
    rate_mbps: Rate = math.inf  # of the queue; after it come the policer, the delay, the losses
    trace: str = ""  # a Mahimahi link trace instead of a rate
    trace_step_ms: Annotated[int, Field(ge=10, le=10_000)] = 100  # how long a token bucket keeps each rate
    queue: Literal["droptail", "codel", "fq-codel", "pie"] = "droptail"
    queue_packets: Annotated[int, Field(ge=1, le=100_000)] | None = None
    queue_bytes: Annotated[int, Field(ge=1500, le=10**9)] | None = None
    queue_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None
    # a policer behind the queue drops packets that find too few tokens in a bucket that fills at this rate
    policer_mbps: Annotated[Rate, Field(le=FASTEST_MBPS)] | None = None
    policer_kb: Annotated[float, Field(ge=1.5, le=10**6)] | None = None  # its size, in 1,000 bytes
    delay_ms: Milliseconds = 0
    jitter_ms: Milliseconds = 0
    distribution: Literal["normal", "uniform", "uniform-above", "pareto", "paretonormal"] = "normal"
    correlation_percent: Percent = 0  # between the jitter of consecutive packets
    tail_ms: Milliseconds = 0  # mean of an exponential delay in addition to the jitter
    jitter_reorders: bool = False  # whether the jitter may reorder packets
    reorder_percent: Percent = 0  # the share of packets that get `reorder_ms`, so that others overtake them
    reorder_ms: Milliseconds = 0  # the additional delay of those packets
    loss_percent: Percent = 0
    bursts: Annotated[PacketBursts | TimeBursts, Field(discriminator="kind")] | None = None
    slot_ms: Annotated[tuple[Milliseconds, Milliseconds], Strict(False)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if FASTEST_MBPS < self.rate_mbps < math.inf:
            raise ValueError("rate_mbps: 0.008 to 10000, or inf for no limit")
        if self.trace and (self.has_rate or self.queue != "droptail"):
            raise ValueError("a traced link has its rate from the trace, and a droptail queue only")
        if self.trace:
            self.followed()
        if sum(getattr(self, key) is not None for key in _LIMITS) > 1:
            raise ValueError("queue_packets, queue_bytes and queue_ms are one limit; give one of them")
        if self.queue_ms and not self.has_rate:
            raise ValueError("queue_ms needs a rate_mbps: nothing waits without one")
        if self.queue != "droptail" and not self.has_rate:
            raise ValueError(f"queue {self.queue} needs a rate_mbps: nothing waits without one")
        if self.loss_percent and self.bursts:
            raise ValueError("loss_percent and bursts are two loss models; give one")
        if (self.policer_mbps is None) != (self.policer_kb is None):
            raise ValueError("policer_mbps and policer_kb go together")
        if bool(self.reorder_percent) != bool(self.reorder_ms):
            raise ValueError("reorder_percent and reorder_ms go together")
        if self.slot_ms and not 0 < self.slot_ms[0] <= self.slot_ms[1]:
            raise ValueError("slot_ms: the least and the most between two slots, as [10, 60]")
        if self.limit_packets > 100_000:
            raise ValueError("queue_ms: more than 100,000 packets at this rate")
        return self

    def followed(self) -> link_trace.Steps:
        return link_trace.in_steps(Path(self.trace), self.trace_step_ms)

    @property
    def has_rate(self) -> bool:
        return math.isfinite(self.rate_mbps)

    @property
    def limit_packets(self) -> int:
        """Return the queue's limit in packets; it is not used if the limit is given in bytes."""
        if self.queue_ms:
            return max(1, math.ceil(self.queue_ms * self.rate_mbps * 1e3 / PACKET_BITS))
        return self.queue_packets or DEFAULT_PACKETS


class Hop(Table):
    forward: Direction = Direction()  # a direction's keys that are in the hop's own table apply to both
    reverse: Direction = Direction()

    @model_validator(mode="before")
    @classmethod
    def _both(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        shared = {key: value for key, value in given.items() if key in Direction.model_fields}
        out = {key: value for key, value in given.items() if key not in shared}
        for side in BOTH:
            own = given.get(side, {})
            out[side] = _over(shared, own) if isinstance(own, dict) else own
        return out

    @classmethod
    def keys(cls) -> list[str]:
        return [*cls.model_fields, *Direction.model_fields]


class Changed(Table):
    rate_mbps: Annotated[Rate, Field(le=FASTEST_MBPS)] | None = None  # None: unchanged
    delay_ms: Milliseconds | None = None
    jitter_ms: Milliseconds | None = None
    loss_percent: Percent | None = None


class _Dated(Table):
    hop: Name
    at_s: Seconds  # counted from the first transfer
    lasts_s: Annotated[float, Field(gt=0)] = math.inf
    every_s: Annotated[float, Field(gt=0)] = math.inf  # infinite: it does not repeat

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if math.isfinite(self.every_s) and self.at_s + self.lasts_s > self.every_s + 1e-9:
            raise ValueError("at_s and lasts_s together are more than the period, every_s")
        return self


class Change(_Dated):
    forward: Changed | None = None
    reverse: Changed | None = None


class Fade(_Dated):
    sides: Sides = "both"  # in which the hop loses all packets


class DrawnFades(Table):
    hop: Name  # at times drawn from the run's seed it loses all packets
    lasts_s: Annotated[tuple[float, float], Strict(False)]  # shortest and longest; log-uniform
    apart_s: Annotated[float, Field(gt=0, le=3600)]  # mean pause between two fades
    pauses: Literal["even", "exponential"] = "even"  # even: half to one and a half of `apart_s`
    sides: Sides = "both"

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if not 0.001 <= self.lasts_s[0] <= self.lasts_s[1] <= 3600:
            raise ValueError("lasts_s: the shortest and the longest, as [0.2, 8.0]")
        return self


class SenderQueue(Table):
    """The queue of the sender's own network device. The sender's TCP knows which of its segments are still in
    this queue."""

    rate_mbps: Annotated[Rate, Field(le=FASTEST_MBPS)]
    queue_ms: Annotated[float, Field(gt=0, le=60_000)]  # a packet that would wait longer is dropped

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.rate_mbps * self.queue_ms * 125 >= 2**32:
            raise ValueError("queue_ms: 4 GiB or more at this rate")
        return self


class NetworkPath(Table):
    name: Name | Literal[""] = ""
    title: str = ""
    source: str = ""  # the file that describes the path, for error messages
    given: dict[str, Any] = Field(default={}, exclude=True, repr=False)  # keys in the file, to lay others on
    hop: Annotated[dict[Name, Hop], Field(min_length=1, max_length=8)]
    change: Annotated[list[Change], Field(max_length=1000)] = Field(default=[])
    fade: Annotated[list[Fade], Field(max_length=1000)] = Field(default=[])
    drawn_fades: DrawnFades | None = None
    sender_queue: SenderQueue | None = None

    @model_validator(mode="before")
    @classmethod
    def _kept(cls, given: Any) -> Any:
        return {**given, "given": given} if isinstance(given, dict) and "given" not in given else given

    @classmethod
    def keys(cls) -> list[str]:
        return [key for key in (*cls.model_fields, *HOSTS) if key not in ("source", "given")]

    @property
    def hops(self) -> list[Hop]:
        return list(self.hop.values())

    @property
    def directions(self) -> list[tuple[str, Side, Direction]]:
        """Return each direction of each hop, with the hop's name and the side."""
        return [(name, side, getattr(hop, side)) for name, hop in self.hop.items() for side in BOTH]

    @model_validator(mode="after")
    def _hops(self) -> Self:
        for one in (*self.change, *self.fade, *([self.drawn_fades] if self.drawn_fades else ())):
            if one.hop not in self.hop:
                known = ", ".join(self.hop)
                raise ValueError(f"a change or fade names the hop {one.hop!r}; there are {known}")
        for change in self.change:
            for side in BOTH:
                changed: Changed | None = getattr(change, side)
                direction: Direction = getattr(self.hop[change.hop], side)
                if changed and changed.rate_mbps is not None and not direction.has_rate:
                    raise ValueError(f"a change of hop {change.hop!r}: {side} has no rate_mbps to change")
        return self

    def refused(self, key: str, host: str, why: str) -> UserError:
        return UserError(f"{printable(self.source or self.name or 'path')}: {key}: {host} {why}")


def found(name: str) -> Path:
    """Return the path of the file that describes the network path `name`. This is `name` itself if it is a
    file, otherwise the file of the shipped network path with this name. Raise UserError."""
    folder = ROOT / "paths"
    for file in (Path(name), folder / f"{name}.toml"):
        if file.is_file():
            return file
    names = sorted(file.stem for file in folder.glob("*.toml"))
    hint = did_you_mean(name, names, f"shipped are {', '.join(names)}")
    raise UserError(f"{printable(name)}: no such file, and no path of this name; {hint}")


def expanded(value: Any, host: str) -> Any:
    """Return `value`, the entry `path` of a scenario, as a table for the program `host` (one of HOSTS).
    `value` may name a path file. Then the keys in `value` override those of the file, and the file's table
    `host` overrides the rest of the file. Raise UserError."""
    if isinstance(value, str):
        value = {tree.FILE: value}
    if not isinstance(value, dict):
        return value
    own = _for(host, {key: inner for key, inner in value.items() if key != tree.FILE})
    file = value.get(tree.FILE, "")
    if not isinstance(file, str) or not file:
        return own
    return tree.overlaid(load(Path(file), host).given, {**own, "source": file})


def load(file: Path, host: str) -> NetworkPath:
    """Return the network path in `file` for the program `host` (one of HOSTS). Raise UserError."""
    return check.checked(NetworkPath, {**_for(host, tree.extended(file)), "source": str(file)}, file)


def _for(host: str, found: tree.Tree) -> tree.Tree:
    plain = {key: value for key, value in found.items() if key not in HOSTS}
    over = found.get(host, {})
    return tree.overlaid(plain, over) if isinstance(over, dict) else {**plain, host: over}


def _over(shared: tree.Tree, own: tree.Tree) -> tree.Tree:
    replaced = {key for group in _ONE_OF if not own.keys().isdisjoint(group) for key in group}
    return {key: value for key, value in shared.items() if key not in replaced} | own


def each_of(sides: Sides) -> tuple[Side, ...]:
    return BOTH if sides == "both" else (sides,)
