# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A network path as a file describes it: hops with queues, delays and losses, and what changes with time.

The lab, ns-3 and whatever else carries packets read this one description (docs/paths.md). Each host has one
translator, which turns it into the host's own terms or refuses it in one line.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, Strict, model_validator

from tcplearn.errors import UserError, printable

from . import check, link_trace, tree
from .check import Table

#: A path file has a table of this name for what one host has otherwise.
HOSTS = ("lab", "ns3")
#: Bits of the packets that a queue is filled with where its limit is a time.
PACKET_BITS = 8 * 1500
DEFAULT_PACKETS = 100

Percent = Annotated[float, Field(ge=0, le=100)]
Milliseconds = Annotated[float, Field(ge=0, le=60_000)]
Seconds = Annotated[float, Field(ge=0, le=86_400)]
#: 8 kbit/s to 10 Gbit/s; infinite where a hop has no bottleneck.
Rate = Annotated[float, Field(ge=0.008)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]
Side = Literal["forward", "reverse"]
Sides = Literal["forward", "reverse", "both"]

FASTEST_MBPS = 10_000.0
_LIMITS = ("queue_packets", "queue_bytes", "queue_ms")
#: Keys of which a direction has one: its own takes the place of the hop's.
_ONE_OF = (_LIMITS, ("rate_mbps", "trace"), ("loss_percent", "bursts"))


class PacketBursts(Table):
    """Gilbert and Elliott's chain, a step for each packet."""

    kind: Literal["packets"]
    to_bad_percent: Percent
    to_good_percent: Percent
    loss_in_bad_percent: Percent = 100
    loss_in_good_percent: Percent = 0

    @property
    def mean_loss(self) -> float:
        """The share of packets that is lost."""
        bad = self.to_bad_percent / (self.to_bad_percent + self.to_good_percent)
        return (bad * self.loss_in_bad_percent + (1 - bad) * self.loss_in_good_percent) / 100


class TimeBursts(Table):
    """The same chain in time: good and bad states of exponential lengths, whether or not packets are sent."""

    kind: Literal["time"]
    good_ms: Annotated[float, Field(gt=0, le=86_400_000)]
    bad_ms: Annotated[float, Field(gt=0, le=86_400_000)]
    loss_in_bad_percent: Percent = 100
    loss_in_good_percent: Percent = 0


class Direction(Table):
    """One direction of a hop: a queue that drains at a rate, then a delay, then losses."""

    rate_mbps: Rate = math.inf
    trace: str = ""  # a Mahimahi link trace in place of a rate
    trace_step_ms: Annotated[int, Field(ge=10, le=10_000)] = 100  # how long a token bucket keeps a rate
    queue: Literal["droptail", "codel", "fq-codel", "pie"] = "droptail"
    queue_packets: Annotated[int, Field(ge=1, le=100_000)] | None = None
    queue_bytes: Annotated[int, Field(ge=1500, le=10**9)] | None = None
    queue_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None
    delay_ms: Milliseconds = 0
    jitter_ms: Milliseconds = 0
    distribution: Literal["normal", "uniform", "uniform-above", "pareto", "paretonormal"] = "normal"
    correlation_percent: Percent = 0  # of a packet's jitter with the one before
    tail_ms: Milliseconds = 0  # mean of an exponential delay beside the jitter
    jitter_reorders: bool = False  # else packets keep their order
    reorder_percent: Percent = 0  # packets that take longer, and are overtaken
    reorder_ms: Milliseconds = 0  # how much longer
    loss_percent: Percent = 0
    bursts: Annotated[PacketBursts | TimeBursts, Field(discriminator="kind")] | None = None
    slot_ms: Annotated[tuple[Milliseconds, Milliseconds], Strict(False)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if FASTEST_MBPS < self.rate_mbps < math.inf:
            raise ValueError("rate_mbps: 0.008 to 10000, or inf where nothing limits it")
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
        if bool(self.reorder_percent) != bool(self.reorder_ms):
            raise ValueError("reorder_percent and reorder_ms go together")
        if self.slot_ms and not 0 < self.slot_ms[0] <= self.slot_ms[1]:
            raise ValueError("slot_ms: the least and the most between two slots, as [10, 60]")
        return self

    def followed(self) -> link_trace.Steps:
        """Returns the trace as rates. Raises ValueError."""
        return link_trace.in_steps(Path(self.trace), self.trace_step_ms)

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.limit_packets > 100_000:
            raise ValueError("queue_ms: more than 100,000 packets at this rate")
        return self

    @property
    def has_rate(self) -> bool:
        return math.isfinite(self.rate_mbps)

    @property
    def limit_packets(self) -> int:
        """The queue's limit where it is not in bytes."""
        if self.queue_ms:
            return max(1, math.ceil(self.queue_ms * self.rate_mbps * 1e3 / PACKET_BITS))
        return self.queue_packets or DEFAULT_PACKETS


class Hop(Table):
    """A hop. Keys of a direction that stand in the hop itself hold for both."""

    forward: Direction = Direction()
    reverse: Direction = Direction()

    @model_validator(mode="before")
    @classmethod
    def _both(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        shared = {key: value for key, value in given.items() if key in Direction.model_fields}
        out = {key: value for key, value in given.items() if key not in shared}
        for side in ("forward", "reverse"):
            own = given.get(side, {})
            out[side] = _over(shared, own) if isinstance(own, dict) else own
        return out

    @classmethod
    def keys(cls) -> list[str]:
        return [*cls.model_fields, *Direction.model_fields]


class Placed(NamedTuple):
    """A hop with its name, in the order that packets of the sender meet them."""

    name: str
    forward: Direction
    reverse: Direction


class Changed(Table):
    """What a direction has for a time; the rest stays as it is."""

    rate_mbps: Annotated[Rate, Field(le=FASTEST_MBPS)] | None = None
    delay_ms: Milliseconds | None = None
    jitter_ms: Milliseconds | None = None
    loss_percent: Percent | None = None


class _Dated(Table):
    """From `at_s` of each period on, for `lasts_s`. Periods begin with the first transfer."""

    hop: Name
    at_s: Seconds
    lasts_s: Annotated[float, Field(gt=0)] = math.inf
    every_s: Annotated[float, Field(gt=0)] = math.inf  # the period; infinite: once

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if math.isfinite(self.every_s) and self.at_s + self.lasts_s > self.every_s + 1e-9:
            raise ValueError("at_s and lasts_s together are more than the period, every_s")
        return self


class Change(_Dated):
    forward: Changed | None = None
    reverse: Changed | None = None


class Fade(_Dated):
    """Everything is lost for a time, whatever is sent."""

    sides: Sides = "both"


class DrawnFades(Table):
    """Fades whose dates are drawn: the same for every algorithm of a run, others for each seed."""

    hop: Name
    lasts_s: Annotated[tuple[float, float], Strict(False)]  # the logarithm is even between these
    apart_s: Annotated[float, Field(gt=0, le=3600)]  # mean of the pauses between them
    pauses: Literal["even", "exponential"] = "even"  # even: from half to one and a half of the mean
    sides: Sides = "both"

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if not 0.001 <= self.lasts_s[0] <= self.lasts_s[1] <= 3600:
            raise ValueError("lasts_s: the shortest and the longest, as [0.2, 8.0]")
        return self


class NetworkPath(Table):
    name: Name | Literal[""] = ""
    title: str = ""
    #: the file that describes it, for messages
    source: str = ""
    #: its keys as they were given, over which others can be laid
    given: dict[str, Any] = Field(default={}, exclude=True, repr=False)
    hop: Annotated[dict[Name, Hop], Field(min_length=1, max_length=8)]
    change: Annotated[list[Change], Field(max_length=1000)] = Field(default=[])
    fade: Annotated[list[Fade], Field(max_length=1000)] = Field(default=[])
    drawn_fades: DrawnFades | None = None

    @model_validator(mode="before")
    @classmethod
    def _kept(cls, given: Any) -> Any:
        return {**given, "given": given} if isinstance(given, dict) and "given" not in given else given

    @classmethod
    def keys(cls) -> list[str]:
        return [key for key in (*cls.model_fields, *HOSTS) if key not in ("source", "given")]

    @property
    def hops(self) -> list[Placed]:
        return [Placed(name, hop.forward, hop.reverse) for name, hop in self.hop.items()]

    @model_validator(mode="after")
    def _hops(self) -> Self:
        drawn = [self.drawn_fades] if self.drawn_fades else []
        for name in [one.hop for one in (*self.change, *self.fade)] + [one.hop for one in drawn]:
            if name not in self.hop:
                known = ", ".join(self.hop)
                raise ValueError(f"a change or fade names the hop {name!r}; there are {known}")
        for change in self.change:
            for side, changed in ((side, getattr(change, side)) for side in ("forward", "reverse")):
                direction: Direction = getattr(self.hop[change.hop], side)
                if changed and changed.rate_mbps is not None and not direction.has_rate:
                    raise ValueError(f"a change of hop {change.hop!r}: {side} has no rate_mbps to change")
        return self

    def refused(self, key: str, host: str, why: str) -> UserError:
        """Returns the error that says in one line what a host cannot do."""
        return UserError(f"{printable(self.source or self.name or 'path')}: {key}: {host} {why}")


def expanded(value: Any, host: str) -> Any:
    """Returns the keys of the path that a scenario's `path` is: the file that it names, that file's table for
    the host over it, and the scenario's own keys over both. Raises UserError for a file that is no path."""
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
    """Returns a path file as a host has it. Raises UserError."""
    return check.checked(NetworkPath, {**_for(host, tree.extended(file)), "source": str(file)}, file)


def _for(host: str, found: tree.Tree) -> tree.Tree:
    plain = {key: value for key, value in found.items() if key not in HOSTS}
    over = found.get(host, {})
    return tree.overlaid(plain, over) if isinstance(over, dict) else {**plain, host: over}


def _over(shared: tree.Tree, own: tree.Tree) -> tree.Tree:
    left = dict(shared)
    for group in _ONE_OF:
        if any(key in own for key in group):
            left = {key: value for key, value in left.items() if key not in group}
    return {**left, **own}


def both_sides(sides: Sides) -> Iterator[Side]:
    if sides != "reverse":
        yield "forward"
    if sides != "forward":
        yield "reverse"
