# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test examples/quic: connections of aioquic with a learned probe timeout, in virtual time and over an
emulated link."""

from __future__ import annotations

import heapq
import itertools
import random
import ssl
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import StreamDataReceived
from aioquic.quic.recovery import QuicPacketRecovery

from samples import ROOT
from tcplearn.errors import UserError

FOLDER = ROOT / "examples" / "quic"
ADDRESS = ("198.18.0.2", 4433)
ONE_WAY_S, PAUSE_S = 0.02, 0.1


@pytest.fixture(scope="module")
def example() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    import compare

    return compare


class Ends:
    """Simulates a client and a server in virtual time, over a link that loses a packet when `lost` returns
    true."""

    def __init__(
        self,
        example: ModuleType,
        kind: str,
        folder: Path,
        lost: Callable[[], bool],
        one_way_s: float = ONE_WAY_S,
    ) -> None:
        self._one_way_s = one_way_s
        self.recoveries = example.Recoveries(kind)
        server = QuicConfiguration(is_client=False)
        server.load_cert_chain(*example.certificate(folder))
        self.client = QuicConnection(
            configuration=QuicConfiguration(is_client=True, verify_mode=ssl.CERT_NONE)
        )
        self.recoveries.give(self.client)
        self._server_settings = server
        self._server: QuicConnection | None = None
        self._lost = lost
        self._dice = random.Random(1)
        self._out: list[tuple[float, int, bool, bytes]] = []
        self._numbers = itertools.count()
        self.now = 100.0
        self.client.connect(ADDRESS, now=self.now)

    def _send(self) -> None:
        for end in filter(None, (self.client, self._server)):
            for data, _ in end.datagrams_to_send(now=self.now):
                if not self._lost():
                    at = self.now + self._one_way_s * self._dice.uniform(1, 1.05)
                    heapq.heappush(self._out, (at, next(self._numbers), end is self.client, data))

    def _receive(self, by_server: bool, data: bytes) -> None:
        if by_server and self._server is None:
            first = QuicConnection(
                configuration=self._server_settings,
                original_destination_connection_id=self.client.original_destination_connection_id,
            )
            self.recoveries.give(first)
            self._server = first
        end = self._server if by_server else self.client
        assert end is not None
        end.receive_datagram(data, ADDRESS, now=self.now)

    def step(self) -> None:
        """Advance to the arrival of the next packet or to the next timer, whichever is first."""
        self._send()
        timers = [(end.get_timer(), end) for end in (self.client, self._server) if end is not None]
        due, end = min(((at, end) for at, end in timers if at is not None), key=lambda pair: pair[0])
        if self._out and self._out[0][0] <= due:
            self.now, _, by_server, data = heapq.heappop(self._out)
            self._receive(by_server, data)
        else:
            self.now = max(self.now, due) + 1e-6  # exactly at that time, rounding may leave it undone
            end.handle_timer(now=self.now)

    def asked(self, size: int) -> float:
        """Request an answer of `size` bytes and return its response time in seconds."""
        begun, got = self.now, 0
        stream = self.client.get_next_available_stream_id()
        self.client.send_stream_data(stream, b"?" * 1024, end_stream=True)
        while True:
            self.step()
            while self._server is not None and (event := self._server.next_event()):
                if isinstance(event, StreamDataReceived) and event.end_stream:
                    self._server.send_stream_data(event.stream_id, bytes(size), end_stream=True)
            while event := self.client.next_event():
                if isinstance(event, StreamDataReceived) and event.stream_id == stream:
                    got += len(event.data)
                    if event.end_stream:
                        assert got == size
                        return self.now - begun

    def waits(self, pause_s: float) -> None:
        end = self.now + pause_s
        heapq.heappush(self._out, (end, -1, False, b""))  # an empty datagram is nothing
        while self.now < end:
            self.step()


def _lost(dice: random.Random, share: float) -> bool:
    return dice.random() < share


def run(
    example: ModuleType, kind: str, folder: Path, loss: float, requests: int, one_way_s: float = ONE_WAY_S
) -> tuple[list[float], dict[str, int]]:
    dice = random.Random(7)
    ends = Ends(example, kind, folder, partial(_lost, dice, loss), one_way_s)
    took = []
    for _ in range(requests):
        took.append(ends.asked(1024))
        ends.waits(PAUSE_S)
    return took, ends.recoveries.counts()


@pytest.mark.parametrize("loss", [0.01, 0.02])
@pytest.mark.parametrize(("one_way_s", "most"), [(0.005, 0.8), (0.02, 0.9)])
def test_a_lost_packet_is_sent_again_sooner(
    one_way_s: float, most: float, loss: float, example: ModuleType, tmp_path: Path
) -> None:
    """Test that the learned timeout shortens the slowest of 3,000 requests. The link loses the share `loss`
    of packets in each direction."""
    own, counted = run(example, "own", tmp_path, loss, 3000, one_way_s)
    learned, counts = run(example, "learned", tmp_path, loss, 3000, one_way_s)
    slowest = [sum(sorted(took)[-60:]) for took in (own, learned)]
    assert slowest[1] < most * slowest[0]
    assert sorted(learned)[2970] < most * sorted(own)[2970]
    needless = [1000 * one["spurious"] / one["packets"] for one in (counted, counts)]
    assert needless[1] < needless[0] + 2


def test_without_losses_nothing_changes(example: ModuleType, tmp_path: Path) -> None:
    own, learned = (run(example, kind, tmp_path, 0, 1000) for kind in ("own", "learned"))
    assert own[0] == learned[0]
    assert own[1]["probes"] == 0
    assert learned[1]["spurious"] == learned[1]["probes"] <= 0.003 * learned[1]["packets"]


def test_both_ends_learn_from_all_their_packets(example: ModuleType, tmp_path: Path) -> None:
    """Test that a packet gives an RTT sample though an ACK frame that its receiver sent later acknowledges a
    later packet, too: the server's answers are followed by a packet that has only an ACK frame."""
    ends = Ends(example, "learned", tmp_path, lambda: False)
    for _ in range(100):
        ends.asked(1024)
        ends.waits(PAUSE_S)
    counts = [one.timer.counts for one in ends.recoveries.every]
    assert [one["requests"] - one["answers"] for one in counts] == [0, 0]


def test_a_ping_has_aioquics_own_timeout(example: ModuleType, tmp_path: Path) -> None:
    """Test that only packets with a stream's data have the learned timeout: in downloads the ACK of another
    packet is often late, and nobody waits for it."""
    ends = Ends(example, "learned", tmp_path, lambda: False)
    for _ in range(200):
        ends.asked(1024)
        ends.waits(PAUSE_S)

    def sooner_s() -> float:
        ends.step()
        recovery = ends.client._loss
        own = QuicPacketRecovery.get_loss_detection_time(recovery, amplification_limited=False)
        learned = recovery.get_loss_detection_time(amplification_limited=False)
        assert own is not None and learned is not None
        return own - learned

    ends.client.send_ping(1)
    assert sooner_s() == 0
    ends.waits(PAUSE_S)
    ends.client.send_stream_data(ends.client.get_next_available_stream_id(), b"?", end_stream=True)
    assert sooner_s() > 0.01


def test_a_large_answer_has_aioquics_own_recovery(example: ModuleType, tmp_path: Path) -> None:
    took: dict[str, Any] = {}
    for kind in ("own", "learned"):
        dice = random.Random(5)
        ends = Ends(example, kind, tmp_path, partial(_lost, dice, 0.01))
        took[kind] = [ends.asked(1_000_000) for _ in range(5)]
    assert sum(took["learned"]) <= 1.02 * sum(took["own"])


def test_the_comparison_over_an_emulated_link() -> None:
    from tcplearn.emulate import trial

    try:
        trial.need()
    except UserError as error:
        pytest.skip(str(error))
    few = ["--runs=2", "--requests=20", "--each=10", "--delay-ms=5", "--loss=2"]
    done = subprocess.run(
        [sys.executable, FOLDER / "compare.py", *few], capture_output=True, text=True, check=False
    )
    if "no emulated link can be made here" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert [line.split()[2] for line in done.stdout.splitlines()[1:]] == ["own", "learned"], done
