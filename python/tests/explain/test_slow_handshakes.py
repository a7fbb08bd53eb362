# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test handshakes that took long or were not answered although none or only some of their packets were
lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import PLACES, SCENES
from talk import MIDDLE, SERVER, Talk, explained
from wire import RST

from tcplearn.explain import sentences, tables

RTT_US = 1_500_000


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("place", PLACES)
def test_what_came_again_before_its_answer_could_be_there(tmp_path: Path, place: str, stamped: bool) -> None:
    """Test a SYN that is resent after a second, and a resent SYN-ACK, on a path with a longer RTT: no packet
    was lost."""
    talk = Talk(place=PLACES[place], rtt_us=RTT_US, stamped=stamped)
    talk.syn(0)
    talk.syn(1_000_000)
    talk.syn_ack(RTT_US // 2)
    talk.client(RTT_US, 1, 0, 1)
    talk.syn_ack(1_000_000 + RTT_US // 2)
    talk.exchanges(RTT_US + 100, 4)
    found = explained(tmp_path, talk)
    assert found.stalls["cause"].to_list() == []
    assert found.connections["handshake_ms"].to_list() == pytest.approx([RTT_US / 1e3], abs=1)


def _asked_in_vain(refused: bool) -> Talk:
    """Return a connection whose SYNs are all refused, or all unanswered."""
    talk = Talk()
    for at in (0, 1_000_000, 3_000_000):
        talk.syn(at)
        if refused:
            talk.answer(at + 20_000, 0, 0, 1, flags=RST)
    return talk


def test_nobody_answers(tmp_path: Path) -> None:
    """Test that unanswered SYNs are not counted as lost, and that no setting is advised."""
    found = explained(tmp_path, _asked_in_vain(refused=False))
    assert sentences.of(found) == ["1 connection to 10.0.0.2:80 had no answer to any SYN (1 wait)."]
    assert found.handshakes is None and found.advice is not None
    assert "look whether the server runs" in found.advice.why


def test_a_refused_connection_lost_nothing(tmp_path: Path) -> None:
    found = explained(tmp_path, _asked_in_vain(refused=True))
    assert not found.stalls.height
    assert not found.unanswered.height


def test_a_lost_syn_ack_does_not_lengthen_the_requests_after_it(tmp_path: Path) -> None:
    """Test that near the server, the RTT to the client is known from the SYN-ACK that arrived, although the
    client delays the ACKs of answers."""
    talk = Talk(place=SERVER)
    SCENES["syn_ack_lost"](talk)
    found = explained(tmp_path, talk)
    assert found.requests["response_ms"].to_list() == pytest.approx([talk.rtt_us / 1e3] * 12, abs=0.1)
    rows = {row[0].shown: row for row in tables.causes(found.total).rows}
    shares = rows["SYN-ACK lost"][1:3]
    assert [cell.shown for cell in shares] == ["", ""]


def test_a_capture_that_has_each_packet_twice(tmp_path: Path) -> None:
    """Test a capture in which each packet was sent more than once, as on a mirror port: no packet was
    retransmitted."""
    talk = Talk()
    for at in (0, 30, 90):
        talk.syn(at)
        talk.syn_ack(at + talk.rtt_us // 2)
    talk.client(talk.rtt_us + 200, 1, 0, 1)
    talk.exchanges(talk.rtt_us + 300, 4)
    found = explained(tmp_path, talk)
    assert not found.stalls.height
    assert found.handshakes is None


def _without_timestamps(place: str, syn_lost: bool, answered_us: tuple[int, ...], copies: int = 1) -> Talk:
    """Simulate a handshake without timestamps whose first SYN or SYN-ACK is lost. The second SYN leaves after
    1.001 s, and SYN-ACKs leave at `answered_us`."""
    talk = Talk(place=PLACES[place], stamped=False)
    for _ in range(copies):
        talk.syn(0, lost=0.9 if syn_lost else None)
        if not syn_lost:
            talk.syn_ack(20_000, lost=0.9)
        talk.syn(1_001_000)
        for at_us in answered_us:
            talk.syn_ack(at_us)
        talk.client(answered_us[0] + 20_000, 1, 0, 1)
    talk.exchanges(answered_us[0] + 30_000, 4)
    return talk


@pytest.mark.parametrize("place", ["client", "middle"])
@pytest.mark.parametrize(
    ("answered_us", "copies", "cause"),
    [
        ((1_002_000,), 1, "syn_ack_lost"),  # sooner than the second SYN is there: by the server's timer
        ((1_020_500, 1_021_000), 1, "syn_ack_lost"),  # by the server's timer, then for the second SYN
        ((1_020_500, 1_021_000), 2, "handshake_lost"),  # the capture has every packet twice
        ((1_021_000,), 1, "handshake_lost"),
    ],
)
def test_which_packet_was_lost_without_timestamps(
    tmp_path: Path, place: str, answered_us: tuple[int, ...], copies: int, cause: str
) -> None:
    talk = _without_timestamps(place, False, answered_us, copies)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == cause
    assert stall["duration_ms"] == pytest.approx(1001, abs=25)


@pytest.mark.parametrize("place", ["client", "middle"])
def test_a_lost_syn_is_not_called_a_lost_syn_ack(tmp_path: Path, place: str) -> None:
    talk = _without_timestamps(place, True, (1_021_000,))
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "handshake_lost"


def test_a_syn_that_crosses_the_servers_second_syn_ack(tmp_path: Path) -> None:
    """Test that a SYN-ACK one second after the SYN is the server's retransmission, even if it crosses the
    next SYN."""
    talk = Talk(place=MIDDLE, stamped=False)
    talk.syn(0)
    talk.syn_ack(20_000, lost=0.9)
    talk.syn_ack(999_000)
    talk.syn(1_000_000)
    talk.client(1_019_000, 1, 0, 1)
    talk.syn_ack(1_020_000)
    at = talk.exchanges(1_020_000, 4)
    talk.close(at, 801, 5)
    calm = Talk(place=MIDDLE, stamped=False, port=40_001)
    calm.close(calm.exchanges(calm.open(5_000_000), 4), 801, 5)
    found = explained(tmp_path, talk, calm)
    assert found.stalls.select("by", "cause").rows() == [("server", "syn_ack_lost")]
    assert found.stalls["duration_ms"].to_list() == pytest.approx([979], abs=5)
