# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Core estimators, capture reader and replay engine."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[Any]

class TraceError(ValueError): ...

def columns() -> list[dict[str, Any]]:
    """The columns of a batch: `table` (required, filled, optional, loss, withdrawn), name, type, default,
    meaning."""

def kinds() -> list[tuple[str, str]]:
    """Key and title of each kind of algorithm: "resend", "resend policy"."""

def algorithms(kind: str) -> list[dict[str, Any]]:
    """Name, summary, about, learned and params of each algorithm of a kind. Raises ValueError."""

def read_spec(kind: str, spec: str) -> tuple[str, dict[str, float]]:
    """An algorithm's name and the parameters that a spec sets. Raises ValueError: one line."""

class Estimator:
    """One of the core's estimators; times in microseconds. Raises ValueError for what it does not know."""

    def __init__(self, name: str, arithmetic: str = "double", params: Mapping[str, float] = ...) -> None: ...
    def update(
        self,
        rtt_us: int,
        time_us: int,
        sent_us: int,
        ack_delay_us: int = 0,
        flight_segments: int = 0,
        ttl: int = 0,
        hops: int = 0,
    ) -> None: ...
    @property
    def rtt_us(self) -> float: ...
    @property
    def rto_us(self) -> float: ...
    @property
    def state_bytes(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Self: ...
    def run(
        self,
        rtt_us: _Ints,
        time_us: _Ints,
        sent_us: _Ints,
        ack_delay_us: _Ints | None = None,
        flight_segments: _Ints | None = None,
        ttl: _Ints | None = None,
        hops: _Ints | None = None,
    ) -> tuple[_Floats, _Floats]:
        """RTT and RTO in force just before each row; a row with rtt_us < 0 gives no sample."""

def loss_features() -> list[dict[str, Any]]: ...

class LossClassifier:
    """One of the core's classifiers of losses, on the events of one connection. Causes: 0 congestion,
    1 random. `weights` is the text of an own model (core/include/tcplearn/loss/own_model.h). Raises
    ValueError for what it does not know."""

    def __init__(
        self, name: str, arithmetic: str = "double", params: Mapping[str, float] = ..., weights: str = ""
    ) -> None: ...
    def observe(self, time_us: int, rtt_us: int, delivered_segments: int, duplicate: bool) -> None:
        """An ACK; rtt_us 0: it gave no sample."""
    def decide(
        self, time_us: int, flight_segments: int, cwnd_segments: int, ssthresh_segments: int, truth: int = 2
    ) -> tuple[float, int]:
        """P(congestion) and the cause."""
    def change(
        self,
        time_us: int,
        cwnd_segments: int,
        change: int,
        cause: int,
        flight_segments: int = 0,
        ssthresh_segments: int = 0,
    ) -> None:
        """0: recovery begun, 1: ended, 2: undone, 3: a timeout."""
    def features(
        self, time_us: int, flight_segments: int, cwnd_segments: int, ssthresh_segments: int
    ) -> _Floats: ...
    def run(
        self,
        kind: _Ints,
        time_us: _Ints,
        rtt_us: _Ints,
        delivered_segments: _Ints,
        duplicate: _Ints,
        flight_segments: _Ints,
    ) -> tuple[_Floats, _Ints, _Floats]:
        """The events of one connection, as a capture has them: P(congestion), cause and all features, one
        after another, of each fast retransmit."""
    def judge(self, rows: _Floats) -> _Floats:
        """P(congestion) of each row of features, in the order of loss_features()."""

class ResendPolicy:
    """One of the core's resend policies with a connection's state. Each event gives the wait to the timer
    (0: none) and whether what is then sent is a probe. Raises ValueError for what it does not know."""

    def __init__(self, name: str, arithmetic: str = "double", params: Mapping[str, float] = ...) -> None: ...
    def send(self, time_us: int, out_segments: int = 1) -> tuple[int, bool]: ...
    def timer(self, time_us: int, out_segments: int = 1) -> tuple[int, bool]:
        """The wait has passed, and the oldest segment was sent again."""
    def next(self) -> tuple[int, bool]:
        """The connection ends; another one to its place begins with what this one has learned."""
    def ack(self, time_us: int, rtt_us: int, out_segments: int = 0, answers: int = 0) -> tuple[int, bool]:
        """answers: 0 the first sending, 1 a later one, 2 not known; rtt_us 0: no sample."""
    def requests(
        self,
        time_us: _Ints,
        rtt_us: _Ints,
        wanted_us: _Ints,
        fade_begin_us: _Ints,
        fade_end_us: _Ints,
        in_fade: float,
        anywhere: float,
        in_queue: float,
        queue_us: int,
        seed: int,
        clear: bool = True,
    ) -> dict[str, _Ints]:
        """Requests of one segment over recorded RTTs, from a fresh state: start_us, response_us, resends,
        needless, answered."""
    @property
    def state_bytes(self) -> int: ...

def requests_at_limit(
    limit: str, *, seed: int, price_us: int = 100_000, **path: _Ints | float
) -> dict[str, _Ints]:
    """The same as ResendPolicy.requests, under a timer that knows more than a sender: "clairvoyant" knows
    which transmissions are lost, "clairvoyant/doubling" too, but doubles later waits, and "statistical" knows
    how RTTs and losses are distributed. Raises ValueError for another name."""

class RetryTimer:
    """When a request without an answer is sent again: tcplearn.RetryTimer, whose docstring has the units, the
    bounds and the source of each setting. All times are integers in microseconds. Raises ValueError, and
    for a request that does not wait its subclass NotWaiting."""

    class NotWaiting(ValueError): ...

    most_out: int
    state_bytes: int
    def __init__(
        self,
        *,
        rate: float | None = None,
        price_us: int | None = None,
        budget: int = 40,
        first_wait_us: int = 1_000_000,
        min_wait_us: int = 1000,
        max_wait_us: int = 120_000_000,
    ) -> None: ...
    def inherit(self, earlier: RetryTimer) -> None: ...
    def sent(self, id: int, now_us: int) -> int:
        """When the request's wait ends."""
    def deadline_us(self, id: int | None = None) -> int | None: ...
    def fired(self, now_us: int) -> list[tuple[int, int]]:
        """Request and copy of each resend that is due; copy 1 is the first."""
    def answered(self, id: int, now_us: int, copy: int | None = None) -> None:
        """copy: the transmission that is answered, 0 the first; None: not known."""
    def cancelled(self, id: int) -> None: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Self: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, saved: bytes) -> None: ...
    @property
    def counts(self) -> dict[str, int]:
        """requests, answers, resends, needless, unclear."""
    @property
    def out(self) -> int:
        """Requests without an answer."""

class StartupPolicy:
    """One of the core's startup policies with what it remembers of a place. Losses: 0 none, 1 SYN, 2 SYN-ACK,
    3 either."""

    def __init__(self, name: str, params: Mapping[str, float] = ...) -> None: ...
    def handshake(
        self,
        time_us: int,
        took_us: int,
        loss: int,
        resends: int,
        iw_segments: int,
        ssthresh_segments: int,
    ) -> tuple[int, int]:
        """IW and ssthresh, in segments; then the handshake is noted."""
    def report(
        self, time_us: int, sent_segments: int, resent_segments: int, rtt_us: int, rtt_min_us: int
    ) -> None: ...
    @property
    def state_bytes(self) -> int: ...

class FirstRtoPlace:
    """What a policy of the first RTO knows of a place; times in microseconds. Raises ValueError."""

    def __init__(self, name: str, params: Mapping[str, float] = ...) -> None: ...
    def report(self, rtt_us: int, time_us: int) -> None:
        """An RTT that is no segment's sent twice."""
    def doubt(self, time_us: int) -> None:
        """A handshake whose packets were sent again, of which nothing more is known."""
    def resent(self, rtt_us: int, rto_us: int, time_us: int) -> None:
        """The same with its RTT by timestamps (0: none) and its first RTO."""
    def rto_us(self, prefix: FirstRtoPlace, time_us: int, hops: int = -1, accepts: bool = False) -> int:
        """hops -1: not known; accepts: of who accepts the connection."""
    @property
    def state_bytes(self) -> int: ...

def samples_digest(time_us: _Ints, rtt_us: _Ints) -> int:
    """Of a flow's rows: the same for the same samples, their times since the flow's first."""

class ReplayedFlow:
    @property
    def samples(self) -> int: ...
    @property
    def digest(self) -> int:
        """What samples_digest() says of all its rows."""
    @property
    def flight_segments(self) -> float | None:
        """Mean, just before the ACK of a sample."""
    def sums(self) -> list[dict[str, Any]]:
        """By estimator: scored, error_us, sent, at_send_us; and of the RTO at `send` and `before`: timed,
        misses, rto_us, excess_us."""
    def metrics(self) -> list[dict[str, Any]]: ...
    def cdf(self) -> list[tuple[_Floats, _Floats]]: ...
    def series(self) -> dict[str, Any]: ...
    def blocks(self) -> _Floats:
        """Sums over consecutive blocks of samples: [block, estimator, sum]."""
    def hindsight(self) -> dict[str, float]: ...

class ReplayTotals:
    def __init__(self, estimators: int) -> None: ...
    def add(self, arg: ReplayedFlow, /) -> None: ...
    def __copy__(self) -> Self: ...
    @property
    def samples(self) -> int: ...
    @property
    def flight_segments(self) -> float | None: ...
    def metrics(self) -> list[dict[str, Any]]: ...
    def cdf(self) -> list[tuple[_Floats, _Floats]]: ...

class ReplayEngine:
    def __init__(
        self,
        specs: Sequence[tuple[str, str, Mapping[str, float]]],
        others: int = 0,
        min_rto_us: float = 0.0,
        sums_only: bool = False,
    ) -> None:
        """`sums_only`: flows have samples and sums, nothing else."""
    def feed(
        self,
        batch: Mapping[str, _Ints],
        other_rtt_us: _Floats | None = None,
        other_rto_us: _Floats | None = None,
    ) -> None: ...
    def sums(self, flow: int) -> list[dict[str, Any]] | None:
        """Of a flow so far, by estimator."""
    def so_far(self, flow: int) -> ReplayedFlow | None:
        """A copy of what finish() would give; the flow goes on."""
    def finish(self, flow: int) -> ReplayedFlow | None: ...

class CaptureReader:
    def __init__(
        self,
        path: str | bytes,
        name: str = "",
        *,
        sender: str = "auto",
        every_ack: bool = False,
        idle_s: float = 300.0,
        events: bool = False,
        explain: list[str] | None = None,
        windows: list[tuple[int, int, int]] = ...,
    ) -> None: ...
    @staticmethod
    def of_pipe(
        descriptor: int,
        head: bytes,
        name: str,
        *,
        sender: str = "auto",
        every_ack: bool = False,
        idle_s: float = 300.0,
        events: bool = False,
        explain: list[str] | None = None,
        windows: list[tuple[int, int, int]] = ...,
    ) -> CaptureReader: ...
    @staticmethod
    def of_interface(
        name: str,
        *,
        sender: str = "auto",
        every_ack: bool = False,
        idle_s: float = 300.0,
        events: bool = False,
        explain: list[str] | None = None,
        windows: list[tuple[int, int, int]] = ...,
    ) -> CaptureReader: ...
    def next(self, max_rows: int = 65536) -> dict[str, _Ints] | None: ...
    def flow(self, id: int) -> dict[str, Any]: ...
    def release(self, id: int) -> None: ...
    def warnings(self) -> list[str]: ...
    def progress(self) -> float: ...
    def stop(self) -> None: ...
    @property
    def live(self) -> bool: ...
    @property
    def packets(self) -> int: ...

class EmulatedPath:
    """A path between two ends; `hops` as emulate.path.hops() gives them. It is run once."""

    def __init__(self, hops: Sequence[Mapping[str, Any]], seed: int) -> None: ...
    def run(
        self, arrives_ns: _Ints, bytes: _Ints, forward: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """When each packet arrives at the other end or is dropped, and why: 0 it is not, 1 queue, 2 random,
        3 burst, 4 fade. Raises ValueError if the times fall."""
    def carry(
        self, client: int, server: int, stop: int, syns: int = 0, syn_acks: int = 0, spin_us: int = 0
    ) -> dict[str, Any]:
        """Carry packets between two TUN devices until `stop` can be read. Raises RuntimeError."""

def handshake_of(packet: bytes) -> str:
    """What an IP packet is to TCP's handshake: "syn", "syn-ack" or ""."""

def explain_names() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]: ...
