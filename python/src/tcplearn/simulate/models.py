# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the scenario files of ns-3 as types. The name of a key ends in its unit."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from tcplearn import losses
from tcplearn.scenario import path as network_path
from tcplearn.scenario.check import Table
from tcplearn.scenario.path import Change, Direction, DrawnFades, Fade, NetworkPath
from tcplearn.simulate.path import topology as to_topology
from tcplearn.simulate.policies import FirstRtoPolicy, Resend, Startup

T = TypeVar("T", "Dumbbell", "Path")
Positive = Annotated[float, Field(gt=0, le=1e9)]
NotNegative = Annotated[float, Field(ge=0, le=1e9)]
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
MOST_CONNECTIONS = 750_000  # the largest number in a run of tambuwal2018, section 3
CONNECTION_BYTES = 10_000  # the approximate size of a connection that PackMime generates
Name = Annotated[str, StringConstraints(min_length=1, max_length=80)]


def _rising(pair: list[Any]) -> list[Any]:
    if pair[0] > pair[1]:
        raise ValueError("give [lowest, highest]")
    return pair


def _timing(text: str) -> str:
    clock = "[1-9][0-9]{0,4}ms"
    known = rf"(every-ack|one-per-rtt)(/{clock})?|one-per-rtt/bsd-{clock}(/less-one|/time)?"
    if not re.fullmatch(known, text):
        raise ValueError(
            f"'{text[:40]}': give every-ack or one-per-rtt, also with a clock, such as one-per-rtt/500ms; "
            "or one-per-rtt/bsd-500ms, which /less-one or /time may follow"
        )
    return text


Ns3Control = Literal["TcpNewReno", "TcpLinuxReno", "TcpCubic", "TcpVegas", "TcpVeno", "TcpWestwood", "TcpBbr"]
OwnControl = Literal["NewReno", "Veno", "Vegas", "LinuxVegas", "Westwood", "LinuxWestwood"]
CongestionControl = Literal[Ns3Control, OwnControl]
WifiMode = Literal["DsssRate1Mbps", "DsssRate2Mbps", "DsssRate5_5Mbps", "DsssRate11Mbps"]
Timing = Annotated[str, AfterValidator(_timing)]
Packets = Annotated[list[Count], Field(min_length=2, max_length=2), AfterValidator(_rising)]
Span = Annotated[list[NotNegative], Field(min_length=2, max_length=2), AfterValidator(_rising)]


class Manet(Table):
    kind: Literal["manet"]
    nodes: Annotated[int, Field(ge=2, le=1000)]
    width_m: Positive
    height_m: Positive
    range_m: Positive
    placement: Literal["uniform", "grid"]
    mobility: Literal["none", "random-waypoint"]
    speed_mps: Span
    pause_s: NotNegative
    data_mode: WifiMode
    control_mode: WifiMode
    queue_packets: Count
    queue_delay_s: Positive
    rts_bytes: Annotated[int, Field(ge=0, le=65535)]
    retries_short: Annotated[int, Field(ge=1, le=255)]
    retries_long: Annotated[int, Field(ge=1, le=255)]
    hello: bool
    active_route_s: Positive
    route_queue_s: Positive
    route_queue_packets: Count
    arp_dead_s: Positive

    @model_validator(mode="after")
    def _moves(self) -> Manet:
        if self.mobility == "random-waypoint" and self.speed_mps[0] <= 0:
            raise ValueError("speed_mps: the lowest must be above 0, or nodes stop for ever")
        return self


def _traced_droptail(table: T) -> T:
    if table.trace and table.queue != "droptail":
        raise ValueError("queue: a traced link has droptail only")
    return table


class Dumbbell(Table):
    kind: Literal["dumbbell"]
    hosts_per_side: Annotated[int, Field(ge=1, le=1000)]
    access_mbps: Positive
    access_ms: NotNegative
    rate_mbps: Positive
    delay_ms: NotNegative
    queue: Literal["droptail", "codel"]
    queue_packets: Count
    trace: str = ""  # a Mahimahi link trace instead of rate_mbps

    @model_validator(mode="after")
    def _one_queue(self) -> Dumbbell:
        return _traced_droptail(self)


class Moving(Table):
    jitter_ms: NotNegative = 0.0  # uniform additional delay, 0 to twice this mean; without reordering
    tail_ms: NotNegative = 0.0  # mean of an additional exponential delay
    step_ms: NotNegative = 0.0  # an additional delay in every other period
    step_every_s: Positive = 1.0
    fade_s: Span = Field(default=[0.0, 0.0])  # shortest and longest fade, uniform on a log scale
    fade_every_s: NotNegative = 0.0  # mean of the exponential pauses between fades; 0: no fades
    loss_back_rate: Share = 0.0

    @model_validator(mode="after")
    def _fades(self) -> Moving:
        if self.fade_every_s > 0 and self.fade_s[0] <= 0:
            raise ValueError("fade_s: the lowest must be above 0, as [0.2, 8.0]")
        return self


class Described(Table):
    forward: Direction  # replaces the topology's losses and `moving`
    reverse: Direction
    change: list[Change]
    fade: list[Fade]
    drawn_fades: DrawnFades | None


class Path(Table):
    kind: Literal["path"]  # cross traffic shares the bottleneck and a lossy hop (hwang2018, Figure 3)
    rate_mbps: Positive
    rtt_ms: Positive
    queue: Literal["droptail", "codel", "fq-codel", "pie"]
    queue_packets: Count
    queue_bdp: NotNegative = 0.0  # bandwidth-delay products in place of queue_packets; 0: not used
    trace: str = ""  # a Mahimahi link trace instead of rate_mbps
    loss_rate: Share
    loss_burst_packets: Annotated[float, Field(ge=1, le=1000)] = 1.0  # mean length; 1: independent
    loss_place: Literal["first-hop", "bottleneck", "last-hop"] = "last-hop"
    last_hop_mbps: NotNegative = 0.0  # rate of the last hop, which then has queue_packets too; 0: no limit
    reorder_rate: Share = 0.0
    reorder_ms: NotNegative = 0.0
    moving: Moving | None = None  # varying delay, and fades (nothing is delivered), of the first hop
    described: Described | None = None  # made from a scenario's `path`

    @model_validator(mode="after")
    def _one_queue(self) -> Path:
        return _traced_droptail(self)


class DelayBox(Table):
    kind: Literal["delaybox"]  # each connection has its own delay and loss; all share the bottleneck
    pairs: Annotated[int, Field(ge=1, le=64)]  # pairs of nodes that represent the clouds
    edge_mbps: Positive
    rate_mbps: Positive
    delay_ms: NotNegative  # the one-way delay that all paths have; a path's random delay is added to it
    queue_packets: Count
    server_mbps: Annotated[list[Positive], Field(min_length=2, max_length=2), AfterValidator(_rising)]
    loss: Annotated[list[Share], Field(min_length=2, max_length=2), AfterValidator(_rising)]
    syn_ack_loss: Share  # the share of connections whose first SYN-ACK is dropped

    @model_validator(mode="after")
    def _narrowest(self) -> DelayBox:
        if self.rate_mbps > self.edge_mbps:
            raise ValueError(f"rate_mbps: the bottleneck is faster than edge_mbps, {self.edge_mbps:g}")
        return self


class Ftp(Table):
    kind: Literal["ftp"]
    flows: Annotated[int, Field(ge=1, le=20_000)]
    packets: Packets
    start_s: Span


class Bursts(Table):
    kind: Literal["bursts"]
    packets: Packets
    start_s: Span  # the time at which a node starts in its period
    every_s: Positive


class _BesideUdp(Table):
    udp: Literal["none", "cbr", "onoff"] = "none"
    udp_share: Annotated[float, Field(ge=0, le=10)] = 0.0  # mean, over the bottleneck's rate
    udp_reverse_share: Annotated[float, Field(ge=0, le=10)] = 0.0
    udp_on_s: Positive = 0.5  # mean of the exponential on times of "onoff"
    udp_off_s: Positive = 0.5


class Requests(_BesideUdp):
    kind: Literal["requests"]  # on persistent connections, each answered with one byte
    flows: Annotated[int, Field(ge=1, le=1000)]
    start_s: Span
    count: Count  # requests of each flow; the run ends after the last answer, or at duration_s
    request_bytes: Annotated[int, Field(ge=1, le=1_000_000)]
    think_s: Positive  # mean time from an answer to the next request
    answer_after_s: NotNegative = 0.0  # the server's delay, uniform from 0 to twice this mean
    stream: bool = False  # whether requests are sent without waiting for earlier answers


class Long(_BesideUdp):
    kind: Literal["long"]  # long transfers
    flows: Annotated[int, Field(ge=1, le=1000)]  # the ones that are measured
    packets: Packets | None = None  # of a measured transfer; None: endless, as the other transfers are
    start_s: Span
    beside: Annotated[int, Field(ge=0, le=1000)] = 0  # other transfers
    beside_congestion_control: CongestionControl = "TcpNewReno"
    beside_start_s: Span = Field(default=[0.0, 0.0])


def _classifier(text: str) -> str:
    name, at, arithmetic = text.partition("@")
    losses.checked(name)
    if at and arithmetic not in ("fixed", "double"):
        raise ValueError("after @ only fixed and double are known, such as mlp@fixed")
    return text


class Loss(Table):
    classifier: Annotated[str, AfterValidator(_classifier)]  # as "mlp:model=own.json"
    acts: bool  # whether the sender keeps cwnd after a loss that is called random
    cut: Literal["decision", "probability"] = "decision"  # window cut by the cause or its probability
    rows: Annotated[int, Field(ge=0, le=1_000_000)]  # the most fast retransmits in a report
    veno_beta: Annotated[int, Field(ge=1, le=1000)]  # TcpVeno's beta


class Web(Table):
    kind: Literal["web"]  # connections by PackMime-HTTP
    level: Annotated[float, Field(ge=0.01, le=3)]  # share of the bottleneck's rate; above 1: a flash crowd
    connections: Annotated[int, Field(ge=1, le=MOST_CONNECTIONS)]  # begun after the warm-up
    warmup_s: NotNegative
    drain_s: Positive  # the time at the end for open connections to finish
    persistent: bool  # HTTP/1.1, in which some connections fetch several objects
    crowd: bool = False  # no connection begins after the measured ones
    response_max_bytes: Annotated[float, Field(ge=1000, le=1e9)]
    startup: Startup
    startup_share: Annotated[float, Field(ge=0, le=1)]  # others have the policy `standard`
    places: Annotated[int, Field(ge=0, le=10_000)] = 0  # destinations; 0: one for each connection
    first_rto: FirstRtoPolicy | None = None  # at both ends; None: connect_timeout_s

    @model_validator(mode="after")
    def _of_places(self) -> Web:
        if self.first_rto and not self.places:
            raise ValueError("first_rto needs a number of places (destinations), such as places = 40")
        return self


class Tcp(Table):
    congestion_control: CongestionControl
    segment_bytes: Annotated[int, Field(ge=88, le=9000)]
    buffer_bytes: Annotated[int, Field(ge=1000, le=2**30)]
    initial_window: Annotated[int, Field(ge=1, le=1000)]
    cwnd_max_bytes: Annotated[int, Field(ge=0, le=2**30)]  # 0: no limit
    delayed_ack_segments: Annotated[int, Field(ge=1, le=100)]
    delayed_ack_s: NotNegative
    connect_timeout_s: Positive
    backoff_max_s: Positive
    max_segment_lifetime_s: Positive
    sack: bool
    keep_backoff: bool
    timestamps: bool = False
    resend: Resend = ""  # a resend policy of the core; "": ns-3's own timer

    @model_validator(mode="after")
    def _a_segment_fits(self) -> Tcp:
        if self.buffer_bytes < self.segment_bytes:
            raise ValueError(f"buffer_bytes has to be at least a segment, {self.segment_bytes}")
        return self


def _warms_up(load: Web, rate_mbps: float) -> None:
    offered_mb = load.level * rate_mbps * load.warmup_s / 8
    most_mb = MOST_CONNECTIONS * CONNECTION_BYTES / 1e6
    if offered_mb > most_mb:
        raise ValueError(
            f"load.warmup_s: {offered_mb:,.0f} MB are offered in the warm-up, more than {most_mb:,.0f} "
            f"(about {MOST_CONNECTIONS:,} connections)"
        )


class Scenario(Table):
    duration_s: Positive
    tick_ms: Positive  # the clock tick in which errors are also reported
    cwnd_bin_s: Positive
    path: NetworkPath | None = None  # instead of a topology
    topology: Annotated[Manet | Dumbbell | Path | DelayBox, Field(discriminator="kind")]
    load: Annotated[Ftp | Bursts | Long | Requests | Web, Field(discriminator="kind")]
    tcp: Tcp
    loss: Loss | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_path(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("path") is None:
            return given
        tree = network_path.expanded(given["path"], "ns3")
        try:
            path = NetworkPath.model_validate(tree)
        except ValidationError:  # the caller reports the error with its key
            return {**given, "path": tree}
        topology = Path.model_validate(to_topology(path)).model_dump()
        if given.get("topology", topology) != topology:
            raise ValueError("path and topology both describe the network; give one of them")
        return {**given, "path": path, "topology": topology}

    @model_validator(mode="after")
    def _starts(self) -> Scenario:
        if isinstance(self.topology, DelayBox) != isinstance(self.load, Web):
            raise ValueError("load.kind: web and topology delaybox go together")
        if isinstance(self.load, Web):
            if self.load.warmup_s >= self.duration_s:
                raise ValueError(f"load.warmup_s has to be less than duration_s, {self.duration_s:g}")
            if isinstance(self.topology, DelayBox):
                _warms_up(self.load, self.topology.rate_mbps)
        elif self.load.start_s[1] > self.duration_s:
            raise ValueError(f"load.start_s: flows have to start within duration_s, {self.duration_s:g}")
        if isinstance(self.topology, Path) != isinstance(self.load, (Long, Requests)):
            raise ValueError("load.kind: long or requests, and topology path, go together")
        acts = self.loss is not None and self.loss.acts
        if acts and self.tcp.congestion_control not in ("NewReno", "TcpNewReno", "TcpCubic"):
            raise ValueError("loss.acts: only NewReno, TcpNewReno and TcpCubic can keep their window")
        return self


class Grid(Table):
    algorithms: Annotated[list[str], Field(min_length=1)]  # all combinations with the following lists are run
    timings: Annotated[list[Timing], Field(min_length=1)]
    seeds: Annotated[int, Field(ge=1, le=100_000)]
    first_seed: Annotated[int, Field(ge=1, le=1_000_000)] = 1  # the others are consecutive
    variants: list[str] = Field(default=[])  # names; with an empty list the scenario runs unchanged
    vary: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(default={})
    draw: dict[str, Any] = Field(default={})  # random values by seed (simulate/draws.py); `set` overrides
    set: dict[str, Any] = Field(default={})  # overridden by variants and `vary`


class Document(Table):
    paper: str = ""
    name: Name
    title: str = ""
    about: str = ""  # describes a profile
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.9
    scenario: Scenario
    grid: Grid
    grids: list[dict[str, Any]] = Field(default=[{}], min_length=1)  # each overrides [grid]
    variants: dict[str, dict[str, Any]] = Field(default={})
