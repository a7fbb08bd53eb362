# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulates connections with one stall each, whose cause and duration are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from talk import CLIENT, MIDDLE, RTT_US, SERVER, Talk

HALF_US = RTT_US // 2
#: Requests before the one that stalls, and the bytes of each stream that they take.
BEFORE = 12
ASKED, ANSWERED = 1 + 200 * BEFORE, 1 + BEFORE

PLACES = {"client": CLIENT, "middle": MIDDLE, "server": SERVER}
ALL = tuple(PLACES)


@dataclass(frozen=True)
class Truth:
    """Holds the true cause and duration of a stall. The duration is the time from the first transmission of a
    lost packet to that of the copy that arrived."""

    cause: str
    by_server: bool
    duration_us: int
    #: Where it can be told; elsewhere nothing may be claimed that is not so.
    seen_at: tuple[str, ...] = ALL
    #: Whether a request waited for it.
    waited: bool = True


Scene = Callable[[Talk], Truth]


def _calm(talk: Talk) -> int:
    """Send requests without a stall; return the time of the next request."""
    return talk.exchanges(talk.open(), BEFORE)


def _idle(talk: Talk, pause_us: int) -> int:
    """Send requests without a stall, acknowledge the last answer, and return the time after a pause."""
    at = _calm(talk)
    talk.client(at, ASKED, 0, ANSWERED)
    return at + pause_us


def _asked(talk: Talk) -> int:
    """Send a request after those without a stall; return the time at which it reaches the server."""
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    return at + HALF_US


def _served(talk: Talk, at_us: int, *, request: int = 200) -> None:
    """Answer the stalled request and close the connection."""
    talk.answer(at_us, ANSWERED, 1, ASKED + request)
    talk.close(at_us + 60_000, ASKED + request, ANSWERED + 1)


def relayed(talk: Talk, requests: int) -> int:
    """Send requests to a server whose handshake takes `RTT_US` through a relay that acknowledges them within
    the round trip of `talk`. Return the time of the first request."""
    talk.syn(0)
    talk.syn_ack(RTT_US)
    begin = at = RTT_US + talk.rtt_us // 2
    talk.client(at, 1, 0, 1)
    for k in range(requests):
        talk.client(at, 1 + 200 * k, 200, 1 + 100 * k)
        talk.answer(at + talk.rtt_us // 2, 1 + 100 * k, 0, 201 + 200 * k)
        talk.answer(at + RTT_US, 1 + 100 * k, 100, 201 + 200 * k)
        at += 100_000
    return begin


def syn_lost(talk: Talk) -> Truth:
    """Simulate the loss of the first SYN."""
    talk.syn(0, lost=0.9)
    at = talk.exchanges(talk.open(1_000_000), BEFORE)
    talk.close(at, ASKED, ANSWERED)
    return Truth("syn_lost", False, 1_000_000, ("client", "middle"))


def syn_ack_lost(talk: Talk) -> Truth:
    """Simulate the loss of the first SYN-ACK, after which the client sends its SYN again."""
    talk.syn(0)
    talk.syn_ack(HALF_US, lost=0.1)
    at = talk.exchanges(talk.open(1_000_000), BEFORE)
    talk.close(at, ASKED, ANSWERED)
    return Truth("syn_ack_lost", True, 1_000_000)


def _request_lost(talk: Talk, times: int) -> int:
    """Send a request of one segment whose first `times` transmissions are lost. Return the time from the
    first transmission to the one that arrives, in microseconds."""
    at = _calm(talk)
    late = 242_000 * times
    for after in range(0, late, 242_000):
        talk.client(at + after, ASKED, 200, ANSWERED, lost=0.9)
    talk.client(at + late, ASKED, 200, ANSWERED)
    _served(talk, at + late + HALF_US)
    return late


def request_lost(talk: Talk) -> Truth:
    """Simulate the loss of a request of one segment, which the sender's tail loss probe repairs."""
    return Truth("tail_probe", False, _request_lost(talk, 1), ("client", "middle"))


def request_lost_twice(talk: Talk) -> Truth:
    """Simulate the loss of a request of one segment and of its first retransmission."""
    return Truth("resend_lost", False, _request_lost(talk, 2), ("client", "middle"))


def answer_lost(talk: Talk) -> Truth:
    """Simulate the loss, near the client, of an answer of one segment. The request was acknowledged
    before."""
    there = _asked(talk)
    talk.answer(there, ANSWERED, 1, ASKED + 200, lost=0.1)
    talk.answer(there + 242_000, ANSWERED, 1, ASKED + 200)
    talk.close(there + 400_000, ASKED + 200, ANSWERED + 1)
    return Truth("tail_probe", True, 242_000)


def lost_in_the_middle(talk: Talk) -> Truth:
    """Simulate the loss of one of twenty segments of a request, which SACK repairs at once."""
    at = _calm(talk)
    for k in range(20):
        talk.client(at + 100 * k, ASKED + 1448 * k, 1448, ANSWERED, lost=0.9 if k == 4 else None)
    hole = ASKED + 4 * 1448
    for k in range(4):
        talk.answer(at + HALF_US + 100 * k, ANSWERED, 0, ASKED + 1448 * (k + 1))
    for k in range(5, 20):
        block = (hole + 1448, ASKED + 1448 * (k + 1))
        talk.answer(at + HALF_US + 100 * k, ANSWERED, 0, hole, blocks=(block,))
    sent_again = at + RTT_US + 800
    talk.client(sent_again, hole, 1448, ANSWERED)
    talk.answer(sent_again + HALF_US, ANSWERED, 1, ASKED + 20 * 1448)
    talk.close(sent_again + 100_000, ASKED + 20 * 1448, ANSWERED + 1)
    return Truth("lost_fast", False, sent_again - (at + 400))


def tail_lost_by_timer(talk: Talk) -> Truth:
    """Simulate the loss of a last segment without SACK. The retransmission timer repairs the loss, because
    there are no tail loss probes without SACK."""
    talk.sacks = False
    return Truth("tail_timer", False, _request_lost(talk, 1), ("client", "middle"))


def spurious(talk: Talk) -> Truth:
    """Simulate a request that the path delays by 300 ms, so that it is retransmitted needlessly."""
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED, held=(0.9, 300_000))
    talk.client(at + 242_000, ASKED, 200, ANSWERED, held=(0.9, 63_000))
    late = at + HALF_US + 300_000
    talk.answer(late, ANSWERED, 1, ASKED + 200)
    talk.answer(late + 5000, ANSWERED + 1, 0, ASKED + 200, blocks=((ASKED, ASKED + 200),))
    talk.close(late + 100_000, ASKED + 200, ANSWERED + 1)
    return Truth("spurious", False, 300_000)


def overtaken_by_its_copy(talk: Talk) -> Truth:
    """Simulate a request that the path delays by 400 ms, so that its retransmission arrives first."""
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED, held=(0.9, 400_000))
    talk.client(at + 380_000, ASKED, 200, ANSWERED)
    there = at + 380_000 + HALF_US
    talk.answer(there, ANSWERED, 1, ASKED + 200)
    talk.answer(there + 20_000, ANSWERED + 1, 0, ASKED + 200, blocks=((ASKED, ASKED + 200),))
    talk.close(there + 200_000, ASKED + 200, ANSWERED + 1)
    return Truth("spurious", False, 380_000)


def ack_lost(talk: Talk) -> Truth:
    """Simulate the loss of the ACK of an answer, so that the server needlessly sends the answer again."""
    there = _asked(talk)
    talk.answer(there, ANSWERED, 1, ASKED + 200)
    talk.client(there + HALF_US, ASKED + 200, 0, ANSWERED + 1, lost=0.9)
    talk.answer(there + 242_000, ANSWERED, 1, ASKED + 200)
    again = there + 242_000 + HALF_US
    talk.client(again, ASKED + 200, 0, ANSWERED + 1, blocks=((ANSWERED, ANSWERED + 1),))
    talk.close(again + 100_000, ASKED + 200, ANSWERED + 1)
    return Truth("spurious", True, 242_000, waited=False)


def delayed_ack(talk: Talk) -> Truth:
    """Simulate a request in two writes. The second waits for the ACK of the first (Nagle), which is
    delayed."""
    at = _calm(talk)
    talk.client(at, ASKED, 100, ANSWERED)
    talk.answer(at + HALF_US + 40_000, ANSWERED, 0, ASKED + 100)
    talk.client(at + RTT_US + 40_000, ASKED + 100, 100, ANSWERED)
    _served(talk, at + RTT_US + 40_000 + HALF_US)
    return Truth("delayed_ack", False, 40_000)


def window_closed(talk: Talk) -> Truth:
    """Simulate a server whose receive window is closed for half a second in the middle of a request."""
    at = _calm(talk)
    talk.client(at, ASKED, 1448, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 1448, window=0)
    talk.answer(at + HALF_US + 500_000, ANSWERED, 0, ASKED + 1448)
    talk.client(at + RTT_US + 500_000, ASKED + 1448, 1448, ANSWERED)
    _served(talk, at + RTT_US + 500_000 + HALF_US, request=2896)
    return Truth("window_closed", False, 500_000)


def slow_server(talk: Talk) -> Truth:
    """Simulate a server that acknowledges a request and answers 300 ms after it arrived."""
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US + 40_000, ANSWERED, 0, ASKED + 200)
    _served(talk, at + HALF_US + 300_000)
    return Truth("server", True, 300_000)


def pausing_client(talk: Talk) -> Truth:
    """Simulate a client that sends the first part of its request, and the rest 300 ms later."""
    at = _calm(talk)
    talk.client(at, ASKED, 1448, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 1448)
    talk.client(at + RTT_US + 300_000, ASKED + 1448, 200, ANSWERED)
    _served(talk, at + RTT_US + 300_000 + HALF_US, request=1648)
    return Truth("client", False, 300_000)


def pausing_writer(talk: Talk) -> Truth:
    """Simulate a client that pauses between two writes. As the first segment was not full, the client had no
    more data to send, whenever the ACK came."""
    at = _calm(talk)
    talk.client(at, ASKED, 500, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 500)
    talk.client(at + 300_000, ASKED + 500, 200, ANSWERED)
    _served(talk, at + 300_000 + HALF_US, request=700)
    return Truth("client", False, 300_000)


SCENES: dict[str, Scene] = {
    scene.__name__: scene
    for scene in (
        syn_lost,
        syn_ack_lost,
        request_lost,
        request_lost_twice,
        answer_lost,
        lost_in_the_middle,
        tail_lost_by_timer,
        spurious,
        overtaken_by_its_copy,
        ack_lost,
        delayed_ack,
        window_closed,
        slow_server,
        pausing_client,
        pausing_writer,
    )
}
