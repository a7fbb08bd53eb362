# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the tables `requests`, `repeat`, `visits` and `talks` of `[transfer]` in a scenario file of
`tcplearn lab`: requests and repeated transfers, and their metrics."""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tcplearn.output.runs_table import Shown
from tcplearn.traces import tlog_resends

from . import kernel_log
from .arm import Arm
from .workload import Figures, Left, Lines, Setup, Workload

SLOWEST = 50  # the metric `slowest_response_ms` is the mean of the slowest 1/SLOWEST of the response times
PORT = 5002
LENGTHS = (40, 52)  # IPv4 bytes of an ACK without data: without and with TCP timestamps
_ROUTER, _RECEIVER = "10.2.0.1", "10.2.0.2"

COLUMNS = (
    Shown("median_response_ms", "median", 1, keep=91),
    Shown("p99_response_ms", "p99", 1, keep=97),
    Shown("p999_response_ms", "p99.9", 1, keep=96),
    Shown("slowest_response_ms", "slowest 2 %", 1, keep=94),
    Shown("needless_resends_permille", "spurious in 1,000", 1, keep=93),
    Shown("resend_differences", "answers that differ", 0, keep=50),
)

_BURST_FIGURES = (  # metric, field that the machine's program prints, divisor to the metric's unit
    ("burst_mean_ms", "burst_mean_us", 1000),
    ("burst_max_ms", "burst_max_us", 1000),
    ("burst_after_pause_ms", "burst_after_pause_us", 1000),
    ("cwnd_after_pause_segments", "cwnd_after_pause_segments", 1),
)

Milliseconds = Annotated[int, Field(ge=0, le=60_000)]
Requested = Annotated[int, Field(ge=1, le=1_000_000)]


class Requests(Workload):
    """Sends requests, each answered with one byte. The pause before each is half to one and a half of
    `think_ms`. Values of `on`:

    - kept: on one connection, one request at a time
    - stream: on one connection, without waiting for answers
    - fresh: on a new connection for each request
    - page: on one connection, `objects` requests at once; their response time ends with the last answer
    - many: on `at_once` connections, one request at a time on each, `count` requests in all
    """

    function: ClassVar[str] = "requests"
    count: Requested = 3000
    think_ms: Annotated[int, Field(ge=1, le=60_000)] = 100
    on: Literal["kept", "stream", "fresh", "page", "many"] = "kept"
    objects: Annotated[int, Field(ge=1, le=1000)] = 30
    at_once: Annotated[int, Field(ge=1, le=1000)] = 50
    answer_after_ms: Milliseconds = 0  # the receiver's mean delay before it answers
    acks_late_ms: Annotated[int, Field(ge=0, le=10_000)] = 0  # of ACKs without data, in addition to 40 ms
    timestamps: bool = True
    inherit: bool = False  # whether a resend policy starts with the state of the last connection

    @property
    def kind(self) -> str:
        number = {"page": f":{self.objects}", "many": f":{self.at_once}"}
        return self.on + number.get(self.on, "")

    @property
    def one_connection(self) -> bool:
        return self.on not in ("fresh", "many")

    @property
    def with_nft(self) -> bool:
        return self.acks_late_ms > 0

    def starts(self, setup: Setup) -> Lines:
        answer = f"answer {PORT} {setup.bytes} {self.answer_after_ms}"
        yield f"in_ns {setup.receiver} /scenario/transfer {answer} &"
        yield f"requests='{self.count} {self.think_ms} {setup.seed} {self.kind}'"
        if self.acks_late_ms:
            yield from _late_acks(f"c{setup.last - 1}", setup.receiver, self.acks_late_ms)
        if not self.timestamps:
            yield "in_ns c0 sysctl -qw net.ipv4.tcp_timestamps=0"

    def before(self, setup: Setup, arm: Arm) -> Lines:
        return self._queue_counters(arm, "before")

    def after(self, setup: Setup, arm: Arm) -> Lines:
        return self._queue_counters(arm, "after")

    def _queue_counters(self, arm: Arm, when: str) -> Lines:
        if self.on == "many":
            yield f"mkdir -p /out/{arm.folder}"
            yield f"in_ns c1 tc -s qdisc show dev r1 >/out/{arm.folder}/{when}.queue"

    def figures(self, left: Left) -> Figures:
        yield from figures(left)
        if self.on == "many":
            yield from queue_drops(left.folder)


def _late_acks(router: str, receiver: str, by_ms: int) -> Lines:
    """Yield shell commands that delay the receiver's ACKs without data by `by_ms`: nftables routes these ACKs
    over a separate link to the router."""
    yield f"link {router} late {_ROUTER} {receiver} late {_RECEIVER}"
    yield f"qdisc {receiver} late root netem limit 10000 delay {by_ms}ms"
    yield f"in_ns {receiver} ip rule add fwmark 1 table 100"
    yield f"in_ns {receiver} ip route add default via {_ROUTER} dev late table 100"
    yield f"in_ns {receiver} nft -f - <<END"
    yield "table ip late {"
    yield "  chain acks {"
    yield "    type route hook output priority 0"
    yield from (
        f"    tcp sport {PORT} tcp flags & (fin|syn|rst|psh|ack) == ack ip length {length} meta mark set 1"
        for length in LENGTHS
    )
    yield "  }"
    yield "}"
    yield "END"


def queue_drops(folder: Path) -> Figures:
    """Yield (metric, value) for the packets that the first hop's queue dropped during a transfer."""
    # of the root qdisc, the first in each file; a child qdisc counts the same packets again
    texts = [(folder / f"{when}.queue").read_text() for when in ("before", "after")]
    before, after = (int(found[1]) if (found := re.search(r"dropped (\d+)", text)) else 0 for text in texts)
    yield "queue_dropped_packets", float(after - before)


class Repeat(Workload):
    """`count` transfers on one connection, and then one more after each pause."""

    function: ClassVar[str] = "bursts"
    count: Annotated[int, Field(ge=1, le=100_000)] = 40  # transfers before the first pause
    every_ms: Annotated[int, Field(ge=1, le=3_600_000)] = 150  # from the start of one transfer to the next
    pauses_ms: list[Annotated[int, Field(ge=1, le=3_600_000)]] = Field(default=[1000], min_length=1)

    def starts(self, setup: Setup) -> Lines:
        yield f"bursts='{self.count} {self.every_ms} {','.join(map(str, self.pauses_ms))}'"

    def figures(self, left: Left) -> Figures:
        for metric, name, divisor in _BURST_FIGURES:
            if name in left.info:
                yield metric, left.info[name] / divisor


class Visits(Workload):
    """Requests by curl, or lines typed to an echo server."""

    programs: ClassVar[tuple[str, ...]] = ("nginx", "echo")
    function: ClassVar[str] = "{by}_visits"
    one_connection: ClassVar[bool] = False
    count: Annotated[int, Field(ge=1, le=900)] = 300  # nginx closes a connection after 1,000 requests
    a_minute: Annotated[int, Field(ge=1, le=60_000)] = 300  # on average
    on: Literal["kept", "fresh"] = "kept"  # kept: one connection; fresh: one for each request

    def starts(self, setup: Setup) -> Lines:
        yield f"visits='{self.count} {self.a_minute} {setup.seed} {self.on}' nginx_kept=65"
        yield from super().starts(setup)

    def figures(self, left: Left) -> Figures:
        return figures(left)


class Talks(Workload):
    """Requests in several writes, and delayed answers."""

    function: ClassVar[str] = "talks"
    one_connection: ClassVar[bool] = False
    count: Requested = 100  # on each of `at_once` connections
    at_once: Annotated[int, Field(ge=1, le=100)] = 1  # connections at the same time
    on_one: Annotated[int, Field(ge=0, le=1_000_000)] = 0  # requests before a new connection; 0: all
    think_ms: Milliseconds = 100  # half to one and a half of this passes between requests
    writes: Annotated[int, Field(ge=1, le=1000)] = 1  # the number of writes in which a request is sent
    write_pause_ms: Milliseconds = 0  # mean pause between the writes of a request
    nagle: bool = False
    answer_bytes: Annotated[int, Field(ge=1, le=10**8)] = 1
    answer_after_ms: Milliseconds = 0  # mean delay of the answer
    read_after_ms: Milliseconds = 0  # mean delay from a request's first byte to reading the rest
    receive_buffer_bytes: Annotated[int, Field(ge=0, le=10**8)] = 0  # the server's; 0: the kernel's default
    timestamps: bool = True
    sack: bool = True

    def starts(self, setup: Setup) -> Lines:
        for option in ("timestamps", "sack"):
            if not getattr(self, option):
                yield f"in_ns c0 sysctl -qw net.ipv4.tcp_{option}=0"
        asked = json.dumps({**self.model_dump(), "request_bytes": setup.bytes})
        yield f"talks={shlex.quote(asked)} talks_seed={setup.seed}"
        yield "start_talks"


def responses_ms(folder: Path) -> npt.NDArray[np.float64]:
    return np.loadtxt(folder / "requests", dtype=np.float64, usecols=0, ndmin=1) / 1000


def figures(left: Left) -> Figures:
    times = np.sort(responses_ms(left.folder))
    p50, p99, p999 = np.percentile(times, (50, 99, 99.9)).tolist()
    yield "requests", float(len(times))
    yield "mean_response_ms", float(times.mean())
    yield "median_response_ms", p50
    yield "p99_response_ms", p99
    yield "p999_response_ms", p999
    yield "slowest_response_ms", float(times[-max(len(times) // SLOWEST, 1) :].mean())
    yield "longest_response_ms", float(times[-1])
    needless = left.nstat.get("TcpExtTCPDSACKRecv", 0.0)
    yield "needless_resends_permille", 1000 * needless / max(left.data_segments, 1)


def policy_figures(folder: Path, resend: str, module: Mapping[str, float], *, inherited: bool) -> Figures:
    """Yield (metric, value) for each metric of the resend policy (rule for when TCP retransmits) `resend`.
    One metric counts the waits that differ from those of the same policy in user space. It is left out if
    `inherited`, because the policy then has state from earlier connections."""
    of = kernel_log.parsed(folder / "log").connections.values()
    yield "resend_events", float(sum(len(c.resends) for c in of))
    if not inherited:
        yield "resend_differences", float(sum(tlog_resends.differences(c, resend) for c in of))
    if module["resend_measured"]:
        cycles = module["cycles_resend"] - module["cycles_resend_clock"]
        yield "instructions_per_sending", kernel_log.instructions(cycles, module["resend_measured"])
