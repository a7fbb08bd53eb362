# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scenario files as types. Every key is named with its unit; none that matters has a silent default."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    Strict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from tcplearn import algorithms
from tcplearn.scenario import path as network_path
from tcplearn.scenario.check import Table
from tcplearn.scenario.path import Change, Direction, DrawnFades, Fade, NetworkPath
from tcplearn.simulate.path import topology as to_topology
from tcplearn.simulate.policies import FirstRtoPolicy, Resend, Startup

T = TypeVar("T", "Dumbbell", "Path")
Positive = Annotated[float, Strict(), Field(gt=0, le=1e9)]
NotNegative = Annotated[float, Strict(), Field(ge=0, le=1e9)]
Share = Annotated[float, Strict(), Field(ge=0, lt=1)]
Count = Annotated[int, Strict(), Field(ge=1, le=1_000_000)]
Chance = Annotated[float, Strict(), Field(ge=0, lt=1)]
Flag = Annotated[bool, Strict()]
MOST_CONNECTIONS = 750_000  # of a run: tambuwal2018, section 3
CONNECTION_BYTES = 10_000  # PackMime's, about
Name = Annotated[str, StringConstraints(min_length=1, max_length=80)]


def _rising(pair: list[Any]) -> list[Any]:
    if pair[0] > pair[1]:
        raise ValueError("give [lowest, highest]")
    return pair


def _timing(text: str) -> str:
    clock = "[1-9][0-9]{0,4}ms"
    if not re.fullmatch(
        rf"(every-ack|one-per-rtt)(/{clock})?|one-per-rtt/bsd-{clock}(/less-one|/time)?", text
    ):
        raise ValueError(
            f"'{text[:40]}': give every-ack or one-per-rtt, and a clock or none: one-per-rtt/500ms; "
            "or one-per-rtt/bsd-500ms, /less-one or /time after it or nothing"
        )
    return text


CongestionControl = Literal[
    "TcpNewReno", "TcpLinuxReno", "TcpCubic", "TcpVegas", "TcpVeno", "TcpWestwood", "TcpBbr"
]
Timing = Annotated[str, AfterValidator(_timing)]
Packets = Annotated[list[Count], Field(min_length=2, max_length=2), AfterValidator(_rising)]
Span = Annotated[list[NotNegative], Field(min_length=2, max_length=2), AfterValidator(_rising)]


class Manet(Table):
    kind: Literal["manet"]
    nodes: Annotated[int, Strict(), Field(ge=2, le=1000)]
    width_m: Positive
    height_m: Positive
    range_m: Positive
    placement: Literal["uniform", "grid"]
    mobility: Literal["none", "random-waypoint"]
    speed_mps: Span
    pause_s: NotNegative
    data_mode: Literal["DsssRate1Mbps", "DsssRate2Mbps", "DsssRate5_5Mbps", "DsssRate11Mbps"]
    control_mode: Literal["DsssRate1Mbps", "DsssRate2Mbps", "DsssRate5_5Mbps", "DsssRate11Mbps"]
    queue_packets: Count
    queue_delay_s: Positive
    rts_bytes: Annotated[int, Strict(), Field(ge=0, le=65535)]
    retries_short: Annotated[int, Strict(), Field(ge=1, le=255)]
    retries_long: Annotated[int, Strict(), Field(ge=1, le=255)]
    hello: Flag
    active_route_s: Positive
    route_queue_s: Positive
    route_queue_packets: Count
    arp_dead_s: Positive

    @model_validator(mode="after")
    def _moves(self) -> Manet:
        if self.mobility == "random-waypoint" and self.speed_mps[0] <= 0:
            raise ValueError("speed_mps: the lowest must be above 0, or nodes come to rest for good")
        return self


def _traced_droptail(table: T) -> T:
    if table.trace and table.queue != "droptail":
        raise ValueError("queue: a traced link has droptail only")
    return table


class Dumbbell(Table):
    kind: Literal["dumbbell"]
    hosts_per_side: Annotated[int, Strict(), Field(ge=1, le=1000)]
    access_mbps: Positive
    access_ms: NotNegative
    rate_mbps: Positive
    delay_ms: NotNegative
    queue: Literal["droptail", "codel"]
    queue_packets: Count
    trace: str = ""  # a Mahimahi link trace in place of rate_mbps

    @model_validator(mode="after")
    def _one_queue(self) -> Dumbbell:
        return _traced_droptail(self)


class Moving(Table):
    """The first hop of a path, both ways: its delay moves, and it loses all in some times."""

    jitter_ms: NotNegative = 0.0  # mean of what is even from none to twice that; order is kept
    tail_ms: NotNegative = 0.0  # mean of what is exponential, beside it
    step_ms: NotNegative = 0.0  # longer, in each second period
    step_every_s: Positive = 1.0
    fade_s: Span = Field(default=[0.0, 0.0])  # evenly on a logarithmic scale
    fade_every_s: NotNegative = 0.0  # mean of the pauses between them, exponential; 0: none
    loss_back_rate: Share = 0.0

    @model_validator(mode="after")
    def _fades(self) -> Moving:
        if self.fade_every_s > 0 and self.fade_s[0] <= 0:
            raise ValueError("fade_s: the lowest must be above 0, as [0.2, 8.0]")
        return self


class Described(Table):
    """The directions of a described path, and what changes with time, in place of losses and of `moving`."""

    forward: Direction
    reverse: Direction
    change: list[Change]
    fade: list[Fade]
    drawn_fades: DrawnFades | None


class Path(Table):
    """A sender and a crossing one, a bottleneck, a lossy hop (hwang2018's Figure 3)."""

    kind: Literal["path"]
    rate_mbps: Positive
    rtt_ms: Positive
    queue: Literal["droptail", "codel", "fq-codel", "pie"]
    queue_packets: Count
    queue_bdp: NotNegative = 0.0  # in place of queue_packets, in bandwidth-delay products; 0: not
    trace: str = ""  # a Mahimahi link trace in place of rate_mbps
    loss_rate: Share
    loss_burst_packets: Annotated[float, Strict(), Field(ge=1, le=1000)] = 1.0  # mean; 1: each by itself
    loss_place: Literal["first-hop", "bottleneck", "last-hop"] = "last-hop"
    reorder_rate: Share = 0.0
    reorder_ms: NotNegative = 0.0
    moving: Moving | None = None
    described: Described | None = None  # only of a scenario's `path`

    @model_validator(mode="after")
    def _one_queue(self) -> Path:
        return _traced_droptail(self)


class DelayBox(Table):
    """A bottleneck between a cloud of clients and one of servers; each connection has a path of its own."""

    kind: Literal["delaybox"]
    pairs: Annotated[int, Strict(), Field(ge=1, le=64)]  # of nodes that stand for the clouds
    edge_mbps: Positive
    rate_mbps: Positive
    delay_ms: NotNegative  # one way, of every path; the rest is drawn
    queue_packets: Count
    server_mbps: Annotated[list[Positive], Field(min_length=2, max_length=2), AfterValidator(_rising)]
    loss: Annotated[list[Chance], Field(min_length=2, max_length=2), AfterValidator(_rising)]
    syn_ack_loss: Chance  # share of connections whose first SYN-ACK is dropped

    @model_validator(mode="after")
    def _narrowest(self) -> DelayBox:
        if self.rate_mbps > self.edge_mbps:
            raise ValueError(f"rate_mbps: the bottleneck is no faster than edge_mbps, {self.edge_mbps:g}")
        return self


class Ftp(Table):
    kind: Literal["ftp"]
    flows: Annotated[int, Strict(), Field(ge=1, le=20_000)]
    packets: Packets
    start_s: Span


class Bursts(Table):
    kind: Literal["bursts"]
    packets: Packets
    start_s: Span  # when, within its period, each node starts
    every_s: Positive


class _BesideUdp(Table):
    udp: Literal["none", "cbr", "onoff"] = "none"
    udp_share: Annotated[float, Strict(), Field(ge=0, le=10)] = 0.0  # of the bottleneck's rate, on average
    udp_reverse_share: Annotated[float, Strict(), Field(ge=0, le=10)] = 0.0
    udp_on_s: Positive = 0.5  # means of onoff, exponential
    udp_off_s: Positive = 0.5


class Requests(_BesideUdp):
    """Requests on kept connections, each answered with one byte, over a `path`."""

    kind: Literal["requests"]
    flows: Annotated[int, Strict(), Field(ge=1, le=1000)]
    start_s: Span
    count: Count  # of each flow; the run ends when all are answered, or at duration_s
    request_bytes: Annotated[int, Strict(), Field(ge=1, le=1_000_000)]
    think_s: Positive  # mean, after an answer
    answer_after_s: NotNegative = 0.0  # mean, evenly from none to twice that
    stream: Flag = False  # messages, as far apart, whether or not those before are answered


class Long(_BesideUdp):
    """Endless transfers that are measured, others beside them, UDP: over a `path`."""

    kind: Literal["long"]
    flows: Annotated[int, Strict(), Field(ge=1, le=1000)]
    start_s: Span
    beside: Annotated[int, Strict(), Field(ge=0, le=1000)] = 0
    beside_congestion_control: CongestionControl = "TcpNewReno"
    beside_start_s: Span = Field(default=[0.0, 0.0])


def _classifier(text: str) -> str:
    name, at, arithmetic = text.partition("@")
    algorithms.checked(algorithms.LOSS, name)
    if at and arithmetic not in ("fixed", "double"):
        raise ValueError("after @ only fixed and double are known, as mlp@fixed")
    return text


class Loss(Table):
    """What a sender does about the cause of a loss, and what is recorded of it."""

    classifier: Annotated[str, AfterValidator(_classifier)]  # "mlp:threshold=0.4"
    acts: Flag  # keeps the window where it says random; else it is only listened to
    rows: Annotated[int, Strict(), Field(ge=0, le=1_000_000)]  # fast retransmits to report of a run, at most
    veno_beta: Annotated[int, Strict(), Field(ge=1, le=1000)]  # of TcpVeno


class Web(Table):
    """PackMime-HTTP's connections over a `delaybox`; the rate is what offers `level` to the bottleneck."""

    kind: Literal["web"]
    level: Annotated[float, Strict(), Field(ge=0.01, le=1)]
    # measured: those after the warm-up
    connections: Annotated[int, Strict(), Field(ge=1, le=MOST_CONNECTIONS)]
    warmup_s: NotNegative
    drain_s: Positive  # how long those still open may take at the end
    persistent: Flag  # HTTP/1.1: some have several objects
    response_max_bytes: Annotated[float, Strict(), Field(ge=1000, le=1e9)]
    startup: Startup
    startup_share: Annotated[float, Strict(), Field(ge=0, le=1)]  # of connections; the others': standard
    # with paths of their own; 0: each connection has one
    places: Annotated[int, Strict(), Field(ge=0, le=10_000)] = 0
    first_rto: FirstRtoPolicy | None = None  # of clients and servers; none: connect_timeout_s

    @model_validator(mode="after")
    def _of_places(self) -> Web:
        if self.first_rto and not self.places:
            raise ValueError("first_rto: it knows places; say how many there are, as places = 40")
        return self


class Tcp(Table):
    congestion_control: CongestionControl
    segment_bytes: Annotated[int, Strict(), Field(ge=88, le=9000)]
    buffer_bytes: Annotated[int, Strict(), Field(ge=1000, le=2**30)]
    initial_window: Annotated[int, Strict(), Field(ge=1, le=1000)]
    cwnd_max_bytes: Annotated[int, Strict(), Field(ge=0, le=2**30)]  # 0: no limit
    delayed_ack_segments: Annotated[int, Strict(), Field(ge=1, le=100)]
    delayed_ack_s: NotNegative
    connect_timeout_s: Positive
    backoff_max_s: Positive
    max_segment_lifetime_s: Positive
    sack: Flag
    keep_backoff: Flag
    timestamps: Flag = False
    resend: Resend = ""  # a resend policy of the core; none: ns-3's timer

    @model_validator(mode="after")
    def _a_segment_fits(self) -> Tcp:
        if self.buffer_bytes < self.segment_bytes:
            raise ValueError(f"buffer_bytes: at least a segment, {self.segment_bytes}")
        return self


def _warms_up(load: Web, rate_mbps: float) -> None:
    """No more begins there than in the largest run."""
    offered_mb = load.level * rate_mbps * load.warmup_s / 8
    most_mb = MOST_CONNECTIONS * CONNECTION_BYTES / 1e6
    if offered_mb > most_mb:
        raise ValueError(
            f"load.warmup_s: {offered_mb:,.0f} MB are offered in it, at most {most_mb:,.0f}, some "
            f"{MOST_CONNECTIONS:,} connections"
        )


class Scenario(Table):
    """What one run simulates, but for the algorithm, the timing and the seed."""

    duration_s: Positive
    tick_ms: Positive  # the unit of errors "in ticks"
    cwnd_bin_s: Positive
    path: NetworkPath | None = None  # in place of a topology
    topology: Annotated[Manet | Dumbbell | Path | DelayBox, Field(discriminator="kind")]
    load: Annotated[Ftp | Bursts | Long | Requests | Web, Field(discriminator="kind")]
    tcp: Tcp
    loss: Loss | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_path(cls, given: Any) -> Any:
        """Adds the topology that a path is in ns-3."""
        if not isinstance(given, dict) or given.get("path") is None:
            return given
        tree = network_path.expanded(given["path"], "ns3")
        try:
            path = NetworkPath.model_validate(tree)
        except ValidationError:  # is reported at its key
            return {**given, "path": tree}
        topology = Path.model_validate(to_topology(path)).model_dump()
        if given.get("topology", topology) != topology:
            raise ValueError("path and topology both say what is between the hosts; give one of them")
        return {**given, "path": path, "topology": topology}

    @model_validator(mode="after")
    def _starts(self) -> Scenario:
        if isinstance(self.topology, DelayBox) != isinstance(self.load, Web):
            raise ValueError("load.kind: web and topology delaybox go together")
        if isinstance(self.load, Web):
            if self.load.warmup_s >= self.duration_s:
                raise ValueError(f"load.warmup_s: it ends within duration_s, {self.duration_s:g}")
            if isinstance(self.topology, DelayBox):
                _warms_up(self.load, self.topology.rate_mbps)
        elif self.load.start_s[1] > self.duration_s:
            raise ValueError(f"load.start_s: flows start within duration_s, {self.duration_s:g}")
        if isinstance(self.topology, Path) != isinstance(self.load, (Long, Requests)):
            raise ValueError("load.kind: long or requests, and topology path, go together")
        acts = self.loss is not None and self.loss.acts
        if acts and self.tcp.congestion_control not in ("TcpNewReno", "TcpCubic"):
            raise ValueError("loss.acts: only TcpNewReno and TcpCubic can keep their window")
        return self


class Grid(Table):
    """Everything listed is crossed with everything else."""

    algorithms: Annotated[list[str], Field(min_length=1)]
    timings: Annotated[list[Timing], Field(min_length=1)]
    seeds: Annotated[int, Strict(), Field(ge=1, le=100_000)]
    first_seed: Annotated[int, Strict(), Field(ge=1, le=1_000_000)] = 1  # the others follow it
    variants: list[str] = Field(default=[])  # of those the file defines; none: as the file stands
    vary: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(default={})
    draw: dict[str, Any] = Field(default={})  # by seed: simulate/draws.py; below `set`
    set: dict[str, Any] = Field(default={})  # of the scenario; below what a variant and `vary` set


class Document(Table):
    """A scenario file with a profile laid over it."""

    paper: str = ""
    name: Name
    title: str = ""
    about: str = ""  # of a profile
    confidence: Annotated[float, Strict(), Field(gt=0.5, lt=1)] = 0.9
    scenario: Scenario
    grid: Grid
    grids: list[dict[str, Any]] = Field(default=[{}], min_length=1)  # each is laid over [grid]
    variants: dict[str, dict[str, Any]] = Field(default={})
