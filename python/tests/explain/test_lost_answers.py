# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test lost answers whose request is retransmitted too, and losses that only TCP's or IP's numbers reveal."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, HALF_US, _asked, _calm
from talk import CLIENT, MIDDLE, RTT_US, SERVER, Talk, explained

from tcplearn.explain import Explained

PROBE_US = 242_000


def _answer_and_request_again(talk: Talk, answer: int = 400) -> None:
    """Lose the answer, so that the client's probe repeats the request. The server reports a duplicate (RFC
    2883) and then sends the answer again."""
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, answer, ASKED + 200, lost=0.1)
    talk.client(at + PROBE_US, ASKED, 200, ANSWERED)
    there = at + PROBE_US + HALF_US
    talk.answer(there, ANSWERED + answer, 0, ASKED + 200, blocks=((ASKED, ASKED + 200),))
    talk.answer(there + 12_000, ANSWERED, answer, ASKED + 200)
    talk.close(there + 100_000, ASKED + 200, ANSWERED + answer)


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("place", [CLIENT, MIDDLE, SERVER])
def test_the_answer_was_lost_and_not_the_request(tmp_path: Path, place: float, numbered: bool) -> None:
    """Test that `explain` finds the answer lost, not the request. The ACK of the duplicate has a sequence
    number after all data that the client got."""
    talk = Talk(place=place, numbered=numbered)
    _answer_and_request_again(talk)
    found = explained(tmp_path, talk)
    assert _causes(found) >= {("tail_probe", "server")}
    assert _causes(found) <= {("tail_probe", "server"), ("spurious", "client")}
    stall = next(row for row in found.stalls.iter_rows(named=True) if row["cause"] == "tail_probe")
    assert stall["duration_ms"] == pytest.approx((PROBE_US + 12_000) / 1e3, abs=5)
    slow = found.requests.filter(found.requests["response_ms"] > 200)
    assert slow["tail_probe_ms"].to_list() == pytest.approx([254], abs=5)


def test_an_answer_that_was_lost_several_times(tmp_path: Path) -> None:
    """Test an answer that was lost several times. The request had arrived at its first transmission: IP's
    identification numbers show that the server sent answers that were lost."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    for after in (0, 242_000, 726_000):
        talk.answer(at + HALF_US + after, ANSWERED, 400, ASKED + 200, lost=0.1)
    for after in (242_000, 726_000):
        talk.client(at + after, ASKED, 200, ANSWERED, lost=0.9)
    talk.answer(at + HALF_US + 1_694_000, ANSWERED, 400, ASKED + 200)
    talk.close(at + 2_000_000, ASKED + 200, ANSWERED + 400)
    found = explained(tmp_path, talk)
    assert _causes(found) == {("resend_lost", "server")}
    assert found.stalls["duration_ms"].to_list() == pytest.approx([1694], abs=5)


def test_a_second_copy_that_arrived(tmp_path: Path) -> None:
    """Test three copies of an answer of which the second arrived. The third was spurious, as the ACK that
    echoes it reports a duplicate."""
    talk = Talk(place=SERVER)
    there = _asked(talk)
    talk.answer(there, ANSWERED, 600, ASKED + 200, lost=0.9)
    talk.answer(there + 242_000, ANSWERED, 600, ASKED + 200)
    talk.client(there + 262_000, ASKED + 200, 200, ANSWERED + 600, lost=0.1)
    talk.answer(there + 530_000, ANSWERED, 600, ASKED + 200)
    heard = there + 550_000
    talk.client(heard, ASKED + 400, 0, ANSWERED + 600, blocks=((ANSWERED, ANSWERED + 600),))
    talk.client(heard + 10_000, ASKED + 200, 200, ANSWERED + 600)
    talk.answer(heard + 30_000, ANSWERED + 600, 10, ASKED + 400)
    talk.close(heard + 200_000, ASKED + 400, ANSWERED + 610)
    found = explained(tmp_path, talk)
    (stall,) = found.stalls.filter(found.stalls["by"] == "server").iter_rows(named=True)
    assert stall["cause"] == "tail_probe" and stall["resends"] == 1
    assert stall["duration_ms"] == pytest.approx(242, abs=5)
    assert found.connections["needless_segments"].to_list() == [1]
    assert found.connections["client_needless_segments"].to_list() == [0]


def test_an_answer_that_arrived_before_the_path_was_silent(tmp_path: Path) -> None:
    """Test an answer that arrived, before the path lost everything for a time. IP's identification numbers
    count the transmissions of the client's next request, which show that the first copy arrived."""
    talk = Talk(place=SERVER)
    there = _asked(talk)
    talk.answer(there, ANSWERED, 100, ASKED + 200)
    talk.client(there + 20_000, ASKED + 200, 0, ANSWERED + 100, lost=0.1)
    for after in (60_000, 302_000, 544_000):
        talk.client(there + after, ASKED + 200, 200, ANSWERED + 100, lost=0.1)
    for after in (242_000, 484_000):
        talk.answer(there + after, ANSWERED, 100, ASKED + 200, lost=0.9)
    talk.answer(there + 968_000, ANSWERED, 100, ASKED + 200)
    heard = there + 988_000
    talk.client(heard, ASKED + 400, 0, ANSWERED + 100, blocks=((ANSWERED, ANSWERED + 100),))
    talk.client(there + 1_028_000, ASKED + 200, 200, ANSWERED + 100)
    talk.answer(there + 1_048_000, ANSWERED + 100, 10, ASKED + 400)
    talk.close(there + 1_300_000, ASKED + 400, ANSWERED + 110)
    found = explained(tmp_path, talk)
    (stall,) = found.stalls.filter(found.stalls["by"] == "server").iter_rows(named=True)
    assert stall["cause"] == "spurious"
    assert stall["duration_ms"] == pytest.approx(968, abs=5)


def test_more_acks_were_lost_than_the_copy_brought_about(tmp_path: Path) -> None:
    """Test that more ACKs were lost than the copy of the answer caused. The next request echoes the copy, and
    IP's numbers show that an ACK of the first transmission was lost as well."""
    talk = Talk(place=SERVER)
    there = _asked(talk)
    talk.answer(there, ANSWERED, 100, ASKED + 200)
    talk.client(there + 20_000, ASKED + 200, 0, ANSWERED + 100, lost=0.1)
    talk.client(there + 100_000, ASKED + 200, 200, ANSWERED + 100, lost=0.1)
    talk.answer(there + 242_000, ANSWERED, 100, ASKED + 200)
    talk.client(there + 262_000, ASKED + 400, 0, ANSWERED + 100, lost=0.1)
    talk.client(there + 342_000, ASKED + 200, 200, ANSWERED + 100)
    talk.answer(there + 362_000, ANSWERED + 100, 10, ASKED + 400)
    talk.close(there + 600_000, ASKED + 400, ANSWERED + 110)
    found = explained(tmp_path, talk)
    assert _causes(found) == {("spurious", "server")}


@pytest.mark.parametrize("numbered", [True, False])
def test_the_end_of_an_answer_that_was_lost(tmp_path: Path, numbered: bool) -> None:
    """Test the loss of the last segment of an answer after full segments. Only IP's numbers distinguish it
    from a pause of the server."""
    talk = Talk(numbered=numbered)
    there = _asked(talk)
    for k in range(3):
        lost = 0.1 if k == 2 else None
        size = 104 if k == 2 else 1448
        talk.answer(there + 30 * k, ANSWERED + 1448 * k, size, ASKED + 200, lost=lost)
    talk.client(there + HALF_US + 100, ASKED + 200, 0, ANSWERED + 2896)
    talk.answer(there + 300_000, ANSWERED + 2896, 104, ASKED + 200)
    talk.close(there + 500_000, ASKED + 200, ANSWERED + 3000)
    found = explained(tmp_path, talk)
    (stall,) = found.stalls.iter_rows(named=True)
    assert stall["cause"] == ("tail_probe" if numbered else "unknown")
    assert stall["by"] == "server"
    assert stall["duration_ms"] == pytest.approx(300 if numbered else 260, abs=5)


def test_a_pause_between_two_writes_is_the_servers(tmp_path: Path) -> None:
    """Test that a pause is the server's if the data before it ended in a segment that was not full."""
    talk = Talk(numbered=False)
    there = _asked(talk)
    talk.answer(there, ANSWERED, 1448, ASKED + 200)
    talk.answer(there + 30, ANSWERED + 1448, 500, ASKED + 200)
    talk.client(there + HALF_US + 100, ASKED + 200, 0, ANSWERED + 1948)
    talk.answer(there + 300_000, ANSWERED + 1948, 500, ASKED + 200)
    talk.close(there + 500_000, ASKED + 200, ANSWERED + 2448)
    assert _causes(explained(tmp_path, talk)) == {("server", "server")}


def test_a_gap_that_rack_repairs_late(tmp_path: Path) -> None:
    """Test a loss that RACK repairs late because packets are reordered: up to a round trip of waiting is not
    a stall of a timer."""
    talk = Talk(place=MIDDLE)
    at = _calm(talk)
    for k in range(6):
        talk.client(at + 100 * k, ASKED + 1448 * k, 1448, ANSWERED, lost=0.1 if k == 2 else None)
    hole = ASKED + 2 * 1448
    talk.answer(at + HALF_US + 100, ANSWERED, 0, hole)
    for k in range(3, 6):
        talk.answer(
            at + HALF_US + 100 * k, ANSWERED, 0, hole, blocks=((hole + 1448, ASKED + 1448 * (k + 1)),)
        )
    again = at + RTT_US + 35_000
    talk.client(again, hole, 1448, ANSWERED)
    talk.answer(again + HALF_US, ANSWERED, 1, ASKED + 6 * 1448)
    talk.close(again + 200_000, ASKED + 6 * 1448, ANSWERED + 1)
    found = explained(tmp_path, talk)
    assert found.stalls["cause"].to_list() == ["lost_fast"]


def test_segments_that_are_sent_again_together_count_once(tmp_path: Path) -> None:
    """Test that one packet which retransmits three segments, all of which had arrived, counts as one copy."""
    talk = Talk(stamped=False)
    at = _calm(talk)
    for k in range(3):
        talk.client(at + 100 * k, ASKED + 100 * k, 100, ANSWERED)
    talk.client(at + 242_000, ASKED, 300, ANSWERED)
    late = at + 290_000
    talk.answer(late, ANSWERED, 1, ASKED + 300)
    talk.answer(late + 5000, ANSWERED + 1, 0, ASKED + 300, blocks=((ASKED, ASKED + 300),))
    talk.close(late + 100_000, ASKED + 300, ANSWERED + 1)
    found = explained(tmp_path, talk)
    assert found.connections["resent_segments"].to_list() == [1]
    assert found.connections["needless_segments"].to_list() == [1]


def _causes(found: Explained) -> set[tuple[str, str]]:
    return {(row["cause"], row["by"]) for row in found.stalls.iter_rows(named=True)}


def _late_answer(talk: Talk, late_us: int) -> int:
    """Send an answer that is late by `late_us` and before which one IP number is missing. Return the time at
    which the request before it arrived."""
    there = _asked(talk)
    talk.answer(there, ANSWERED, 1448, ASKED + 200)
    talk.client(there + HALF_US, ASKED + 200, 200, ANSWERED + 1448)
    talk._idents[False] += 1
    talk.answer(there + RTT_US + late_us, ANSWERED + 1448, 100, ASKED + 400)
    talk.close(there + 500_000, ASKED + 400, ANSWERED + 1548)
    return there


def test_an_answer_that_comes_before_any_timer_was_not_lost(tmp_path: Path) -> None:
    talk = Talk()
    _late_answer(talk, 60_000)
    assert _causes(explained(tmp_path, talk)) == {("unknown", "server")}


def test_a_host_that_counts_its_packets_of_all_connections(tmp_path: Path) -> None:
    """Test a host with one IP counter for all connections: another connection has the missing numbers, so
    that no packet was lost."""
    talk, other = Talk(port=40_000), Talk(port=40_001)
    at = other.open()
    other.client(at, 1, 100, 1)
    there = _late_answer(talk, 242_000)
    # the late answer and the FIN came after it
    other._idents[False] = talk._idents[False] - 3
    other.answer(there + 100_000, 1, 100, 101)
    found = explained(tmp_path, talk, other)
    assert "tail_probe" not in {cause for cause, _ in _causes(found)}


def test_a_gap_that_is_filled_before_the_timer_could(tmp_path: Path) -> None:
    """Test a lost segment that was retransmitted before the timer could fire, because SACK asked for it. A
    queue had made round trips longer than those seen before."""
    talk = Talk()
    there = _asked(talk)
    for k in range(6):
        talk.answer(there + 100 * k, ANSWERED + 1448 * k, 1448, ASKED + 200, lost=0.1 if k == 2 else None)
    talk.answer(there + 145_000, ANSWERED + 2 * 1448, 1448, ASKED + 200)
    talk.close(there + 400_000, ASKED + 200, ANSWERED + 6 * 1448)
    assert _causes(explained(tmp_path, talk)) == {("lost_fast", "server")}


def test_acks_that_answers_overtook_are_not_lost_answers(tmp_path: Path) -> None:
    """Test that ACKs are not taken for lost answers if the host holds them back, so that answers overtake
    them and IP numbers are missing for a time."""
    talk = Talk()
    at = talk.exchanges(talk.open(), 8)
    for k in range(8, 40):
        asked = 1 + k * 200
        talk.client(at, asked, 200, 1 + k)
        talk.answer(at + HALF_US + 40_000, 1 + k, 0, asked + 200, held=(1.0, 160_000))
        talk.answer(at + HALF_US + 180_000, 1 + k, 1, asked + 200)
        at += 300_000
    talk.close(at + 100_000, 1 + 40 * 200, 41)
    found = explained(tmp_path, talk)
    lost = found.stalls.filter((found.stalls["by"] == "server") & (found.stalls["cause"] == "tail_probe"))
    assert lost.height <= 1  # the first gap is judged before anything has filled one


def test_every_spurious_copy_counts_and_a_late_answer_is_an_rtt_sample(tmp_path: Path) -> None:
    """Test that both copies count as spurious if timestamps show that the first transmission was answered.
    The late answer is an RTT sample that raises Linux's RTO, so the next, less late answer causes no
    retransmission."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 400, ASKED + 200, held=(0.5, 760_000))
    for after in (242_000, 524_000):
        talk.client(at + after, ASKED, 200, ANSWERED)
    at += 1_000_000
    talk.client(at, ASKED + 200, 200, ANSWERED + 400)
    talk.answer(at + HALF_US, ANSWERED + 400, 400, ASKED + 400, held=(0.5, 300_000))
    talk.close(at + 900_000, ASKED + 400, ANSWERED + 800)
    connections = explained(tmp_path, talk).connections
    assert connections["client_needless_segments"].to_list() == [2]
    assert connections["client_spurious_0"].to_list() == [2]
