# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the causes and durations that `explain` reports for known stalls, from captures at the client, in the
middle and at the server."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scenes import BEFORE, HALF_US, PLACES, SCENES, _calm, _served
from talk import CLIENT, RTT_US, SERVER, Talk, explained

HANDSHAKES = ("syn_lost", "syn_ack_lost", "handshake_lost")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("scene", SCENES)
def test_cause_and_duration(tmp_path: Path, scene: str, place: str) -> None:
    talk = Talk(place=PLACES[place])
    truth = SCENES[scene](talk)
    found = explained(tmp_path, talk)
    assert found.requests.height == BEFORE + (truth.cause not in HANDSHAKES)
    if place not in truth.seen_at:
        # what cannot be seen from there is not claimed to be something else
        assert found.stalls.height == 0 or truth.cause == "spurious"
        return
    (stall,) = found.stalls.iter_rows(named=True)
    assert stall["cause"] == truth.cause
    assert (stall["by"] == "server") == truth.by_server
    assert stall["duration_ms"] == pytest.approx(truth.duration_us / 1e3, abs=5)
    if truth.cause in HANDSHAKES:
        assert found.requests[f"{truth.cause}_ms"].sum() == 0  # handshakes are apart
        assert found.connections["handshake_ms"][0] == pytest.approx(
            (truth.duration_us + RTT_US) / 1e3, abs=1
        )
        return
    slow = found.requests.row(BEFORE, named=True)
    assert slow[f"{truth.cause}_ms"] == pytest.approx(truth.waited * truth.duration_us / 1e3, abs=5)
    spent = sum(value for name, value in slow.items() if name.endswith("_ms") and name != "response_ms")
    assert spent == pytest.approx(slow["response_ms"], abs=0.01)
    calm = found.requests.head(BEFORE)
    assert calm["response_ms"].to_list() == pytest.approx([RTT_US / 1e3] * BEFORE, abs=0.1)
    assert calm["transfer_ms"].to_list() == pytest.approx(calm["response_ms"].to_list(), abs=0.1)


@pytest.mark.parametrize("place", [CLIENT, SERVER])
def test_a_lost_answer_that_ip_does_not_number(tmp_path: Path, place: float) -> None:
    """Test a lost answer without IP numbers. At the client it cannot be distinguished from a slow server, so
    its cause is reported as unknown."""
    talk = Talk(place=place, numbered=False)
    SCENES["answer_lost"](talk)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == ("unknown" if place == CLIENT else "tail_probe")
    assert stall["duration_ms"] == pytest.approx(242, abs=5)


@pytest.mark.parametrize("options", ["all", "none"])
@pytest.mark.parametrize("place", PLACES)
def test_a_lost_answer_that_carried_the_ack(tmp_path: Path, place: str, options: str) -> None:
    """Test a lost answer that carried the ACK of the request. The client needlessly retransmits the request,
    and the server reports the duplicate before it answers again."""
    talk = Talk(place=PLACES[place], stamped=options == "all", sacks=options == "all")
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    there = at + HALF_US
    talk.client(at, asked, 200, answered)
    talk.answer(there, answered, 1, asked + 200, lost=0.1)
    talk.client(at + 242_000, asked, 200, answered)
    talk.answer(there + 242_000, answered + 1, 0, asked + 200, blocks=((asked, asked + 200),))
    talk.answer(there + 255_000, answered, 1, asked + 200)
    talk.close(there + 400_000, asked + 200, answered + 1)
    stalls = {row["by"]: row for row in explained(tmp_path, talk).stalls.iter_rows(named=True)}
    assert stalls["server"]["cause"] == ("tail_probe" if options == "all" else "tail_timer")
    assert stalls["server"]["duration_ms"] == pytest.approx(255, abs=5)
    assert set(stalls) == {"server"}  # the client sent again because the answer was lost


@pytest.mark.parametrize("lost", [0.1, 0.9])
@pytest.mark.parametrize("place", PLACES)
def test_a_syn_ack_that_the_servers_timer_sent_again(tmp_path: Path, place: str, lost: float) -> None:
    """Test a SYN-ACK that the server's timer resent before the client's second SYN came. The stall was
    shorter than the time between the SYNs."""
    talk = Talk(place=PLACES[place])
    talk.syn(0)
    talk.syn_ack(HALF_US, lost=lost)
    talk.syn(1_015_000)
    talk.syn_ack(HALF_US + 1_000_000)
    talk.client(1_000_000 + RTT_US, 1, 0, 1)
    talk.syn_ack(HALF_US + 1_015_000)
    at = talk.exchanges(1_100_000, BEFORE)
    talk.close(at, 1 + 200 * BEFORE, 1 + BEFORE)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "syn_ack_lost"
    assert stall["duration_ms"] == pytest.approx(1000, abs=1)


def test_a_lost_answer_on_a_new_connection(tmp_path: Path) -> None:
    """Test a lost answer on a new connection. Earlier connections of the same host show that IP numbers its
    packets."""
    talks = [Talk(port=40_000 + k) for k in range(4)]
    for k, talk in enumerate(talks):
        at = talk.open(k * 1_000_000)
        talk.client(at, 1, 200, 1)
        talk.answer(at + HALF_US, 1, 0, 201)
        again = at + HALF_US + 242_000 * (k == 3)
        if k == 3:
            talk.answer(at + HALF_US + 100, 1, 1, 201, lost=0.1)
        talk.answer(again + 100, 1, 1, 201)
        talk.close(again + 100_000, 201, 2)
    (stall,) = explained(tmp_path, *talks).stalls.iter_rows(named=True)
    assert (stall["cause"], stall["by"]) == ("tail_probe", "server")
    assert stall["duration_ms"] == pytest.approx(242, abs=1)


@pytest.mark.parametrize("place", PLACES)
def test_the_ack_that_was_waited_for_was_lost(tmp_path: Path, place: str) -> None:
    """Test the second half of a request, which waits for the ACK of the first half (Nagle). This ACK is lost
    near the client."""
    talk = Talk(place=PLACES[place])
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 100, answered)
    talk.answer(at + HALF_US, answered, 0, asked + 100, lost=0.1)
    talk.client(at + 242_000, asked, 100, answered)
    talk.answer(at + 242_000 + HALF_US, answered, 0, asked + 100, blocks=((asked, asked + 100),))
    talk.client(at + 242_000 + RTT_US, asked + 100, 100, answered)
    _served(talk, at + 242_000 + RTT_US + HALF_US)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert (stall["cause"], stall["by"]) == ("spurious", "client")
    assert stall["duration_ms"] == pytest.approx(242, abs=5)


@pytest.mark.parametrize("place", PLACES)
def test_a_write_that_waited_for_no_ack(tmp_path: Path, place: str) -> None:
    """Test a second write that did not wait for the delayed ACK of the first. The ACK was still on its way,
    as the second write's timestamp echo shows."""
    talk = Talk(place=PLACES[place])
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 100, answered)
    talk.answer(at + HALF_US + 40_000, answered, 0, asked + 100)
    talk.client(at + 42_000, asked + 100, 100, answered)
    _served(talk, at + 42_000 + HALF_US)
    assert explained(tmp_path, talk).stalls.height == 0


def test_a_copy_that_comes_after_other_requests(tmp_path: Path) -> None:
    """Test a copy of a request that the path held longer than the first transmission, so that it arrives
    after other requests."""
    talk = Talk(place=SERVER)
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 200, answered, held=(0.9, 300_000))
    talk.client(at + 242_000, asked, 200, answered, held=(0.9, 400_000))
    late = at + HALF_US + 300_000
    for k in range(3):
        talk.answer(late, answered + k, 1, asked + 200 * (k + 1))
        talk.client(late + HALF_US + 20_000, asked + 200 * (k + 1), 200, answered + k + 1)
        late += RTT_US + 20_000
    talk.answer(late, answered + 3, 1, asked + 800)
    talk.close(late + 300_000, asked + 800, answered + 4)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert (stall["cause"], stall["by"]) == ("spurious", "client")
    assert stall["duration_ms"] == pytest.approx(300, abs=5)


def test_a_late_packet_is_not_called_spurious_without_a_copy(tmp_path: Path) -> None:
    talk = Talk(place=SERVER)
    at = _calm(talk)
    talk.client(at, 1 + 200 * BEFORE, 200, 1 + BEFORE, held=(0.9, 150_000))
    _served(talk, at + HALF_US + 150_000)
    assert explained(tmp_path, talk).stalls.height == 0


def test_a_delayed_ack_of_writes_of_one_size(tmp_path: Path) -> None:
    """Test that a segment counts as full by the negotiated MSS, not by the largest segment sent."""
    talk = Talk()
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 200, answered)
    talk.answer(at + HALF_US + 40_000, answered, 0, asked + 200)
    talk.client(at + RTT_US + 40_000, asked + 200, 200, answered)
    _served(talk, at + RTT_US + 40_000 + HALF_US, request=400)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "delayed_ack"
    assert stall["duration_ms"] == pytest.approx(40, abs=5)


def test_a_copy_was_lost_and_then_the_answer(tmp_path: Path) -> None:
    """Test three copies of a request of which the second arrived, and whose answer was lost. The server
    reports the third copy as a duplicate."""
    talk = Talk()
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 200, answered, lost=0.9)
    talk.client(at + 242_000, asked, 200, answered)
    second = at + 242_000 + HALF_US
    talk.answer(second, answered, 1, asked + 200, lost=0.1)
    talk.client(at + 484_000, asked, 200, answered)
    talk.answer(second + 242_000, answered + 1, 0, asked + 200, blocks=((asked, asked + 200),))
    talk.answer(second + 255_000, answered, 1, asked + 200)
    talk.close(second + 400_000, asked + 200, answered + 1)
    stalls = {row["by"]: row for row in explained(tmp_path, talk).stalls.iter_rows(named=True)}
    assert [stalls[by]["cause"] for by in ("client", "server")] == ["tail_probe", "tail_probe"]
    assert [stalls[by]["duration_ms"] for by in ("client", "server")] == pytest.approx([242, 255], abs=5)


def test_the_timer_after_a_probe(tmp_path: Path) -> None:
    """Test the timer after a tail loss probe. Linux sends no further probe until data beyond the last probe
    is acknowledged."""
    talk = Talk()
    at = _calm(talk)
    for k in range(3):
        asked, answered = 1 + 200 * (BEFORE + k), 1 + BEFORE + k
        talk.client(at, asked, 200, answered, lost=0.9)
        talk.client(at + 242_000, asked, 200, answered)
        talk.answer(at + 242_000 + HALF_US, answered, 1, asked + 200)
        at += 400_000
    talk.close(at, asked + 200, answered + 1)
    causes = explained(tmp_path, talk).stalls["cause"].to_list()
    assert causes == ["tail_probe", "tail_timer", "tail_probe"]


def test_spurious_by_dsack_alone(tmp_path: Path) -> None:
    """Test that without timestamps a reported duplicate shows that a retransmission was spurious."""
    talk = Talk(stamped=False)
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 200, answered)
    talk.client(at + 242_000, asked, 200, answered)
    late = at + 290_000
    talk.answer(late, answered, 1, asked + 200)
    talk.answer(late + 5000, answered + 1, 0, asked + 200, blocks=((asked, asked + 200),))
    talk.close(late + 100_000, asked + 200, answered + 1)
    found = explained(tmp_path, talk)
    assert found.stalls["cause"].to_list() == ["spurious"]
    assert found.connections["needless_segments"].to_list() == [1]
    assert found.connections["client_needless_segments"].to_list() == [1]


@pytest.mark.parametrize("tick_us", [1000, 1070])
def test_nothing_is_late_beside_its_sender(tick_us: int, tmp_path: Path) -> None:
    """Test a capture at a sender whose timestamp clock runs slow, so that each packet seems later than the
    one before. The reported cause and duration of the stall must not change."""
    talk = Talk(tick_us=tick_us)
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 200, answered, held=(0.5, 250_000))
    talk.client(at + 242_000, asked, 200, answered)
    talk.answer(at + 270_000, answered, 1, asked + 200)
    talk.close(at + 400_000, asked + 200, answered + 1)
    (row,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert row["cause"] == "spurious"
    waited_ms = (270_000 + talk.rtt_us // 2 - talk.rtt_us) / 1e3
    assert row["duration_ms"] == pytest.approx(waited_ms, abs=0.1)


@pytest.mark.parametrize(("duplicates", "cause"), [(1, "resend_lost"), (2, "spurious")])
def test_two_copies_are_spurious_where_both_are_duplicates(
    duplicates: int, cause: str, tmp_path: Path
) -> None:
    """Test that two copies are spurious if the receiver reports a duplicate for each: the first transmission
    arrived late."""
    talk = Talk(stamped=False)
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    for again_us in (0, 242_000, 700_000):
        talk.client(at + again_us, asked, 200, answered)
    late = at + 740_000
    talk.answer(late, answered, 1, asked + 200)
    for k in range(duplicates):
        talk.answer(late + 5000 * (k + 1), answered + 1, 0, asked + 200, blocks=((asked, asked + 200),))
    talk.close(late + 100_000, asked + 200, answered + 1)
    found = explained(tmp_path, talk)
    assert found.stalls["cause"].to_list() == [cause]
    if cause == "spurious":
        assert found.connections["needless_segments"].to_list() == [2]


def test_reordering_is_no_loss(tmp_path: Path) -> None:
    """Test that a segment which another one overtook is not called lost in a capture at the receiver."""
    talk = Talk(place=SERVER)
    at = _calm(talk)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    talk.client(at, asked, 1448, answered)
    talk.client(at + 200, asked + 1448, 1448, answered)
    talk.wire.frames[-1], talk.wire.frames[-2] = (
        (talk.wire.frames[-2][0], *talk.wire.frames[-1][1:]),
        (talk.wire.frames[-1][0], *talk.wire.frames[-2][1:]),
    )
    _served(talk, at + 300 + RTT_US // 2, request=2896)
    found = explained(tmp_path, talk)
    assert found.stalls.height == 0
    assert found.connections["resent_segments"].to_list() == [0]


def test_a_path_that_is_silent_for_all(tmp_path: Path) -> None:
    """Test three connections that lose packets at the same time, which is a silent path, and a fourth
    connection to another host, which is not affected."""
    talks = [Talk(port=40_000 + k) for k in range(3)]
    for talk in talks:
        SCENES["request_lost"](talk)
    other = Talk(port=50_000, server="10.0.0.9")
    SCENES["request_lost"](other)
    found = explained(tmp_path, *talks, other)
    causes = dict(found.stalls.group_by("server").agg(pl.col("cause").cast(pl.String)).iter_rows())
    assert causes == {"10.0.0.2:80": ["path_silent"] * 3, "10.0.0.9:80": ["tail_probe"]}
    slow = found.requests.filter(pl.col("response_ms") > 100)
    assert slow["path_silent_ms"].to_list() == pytest.approx([242, 242, 242, 0], abs=5)
    assert slow["tail_probe_ms"].to_list() == pytest.approx([0, 0, 0, 242], abs=5)


@pytest.mark.parametrize(("after_us", "silent"), [(50_000, True), (150_000, False)])
def test_a_packet_that_arrives_when_others_are_lost(tmp_path: Path, after_us: int, silent: bool) -> None:
    """Test two connections that lose packets at the same time, while a third receives a packet. Soon after
    the loss, the packet may have been held back in a queue, and the path was silent; later, the path was
    not."""
    talks = [Talk(port=40_000), Talk(port=40_001)]
    for talk in talks:
        SCENES["request_lost"](talk)
    third = Talk(port=40_002)
    at = _calm(third)
    third.answer(at + after_us, 1 + BEFORE, 1, 1 + 200 * BEFORE)
    found = explained(tmp_path, *talks, third)
    causes = found.stalls["cause"].cast(pl.String)
    assert causes.to_list() == ["server", *["path_silent" if silent else "tail_probe"] * 2]


def test_a_timer_that_backed_off_fires_after_the_silence(tmp_path: Path) -> None:
    """Test a timer that fires late because of backoff. Another connection has its answer by then, but the
    lost packets were lost while the path was silent."""
    twice, once = Talk(port=40_000), Talk(port=40_001)
    SCENES["request_lost_twice"](twice)
    at = _calm(once)
    asked, answered = 1 + 200 * BEFORE, 1 + BEFORE
    once.client(at, asked, 200, answered, lost=0.9)
    once.client(at + 262_000, asked, 200, answered)
    _served(once, at + 262_000 + HALF_US)
    assert explained(tmp_path, twice, once).stalls["cause"].to_list() == ["path_silent"] * 2


def test_a_loss_beside_another_that_goes_on_is_no_silence(tmp_path: Path) -> None:
    lossy, calm = Talk(port=40_000), Talk(port=40_001)
    SCENES["request_lost"](lossy)
    calm.exchanges(calm.open(), 40)
    found = explained(tmp_path, lossy, calm)
    assert found.stalls["cause"].to_list() == ["tail_probe"]


def test_the_queue_that_an_upload_fills(tmp_path: Path) -> None:
    """Test that the delay of a queue that an upload fills, as another connection's round trips show, is not
    attributed to the server."""
    talk, upload = Talk(port=40_000), Talk(port=40_001)
    at = talk.exchanges(talk.open(), BEFORE)
    start = upload.open()
    for k in range(60):
        sent = start + k * 50_000
        queue = 90_000 if sent > at - 500_000 else 0
        for part in range(2):
            upload.client(sent + part * 100, 1 + (2 * k + part) * 1448, 1448, 1)
        upload.answer(sent + 100 + RTT_US // 2 + queue, 1, 0, 1 + (2 * k + 2) * 1448)
    talk.client(at, 1 + 200 * BEFORE, 200, 1 + BEFORE)
    _served(talk, at + RTT_US // 2 + 90_000)
    found = explained(tmp_path, talk, upload)
    slow = found.requests.filter(pl.col("response_ms") > 100)
    assert slow["slow_path_ms"].to_list() == pytest.approx([90], abs=5)
    assert slow["server_ms"].to_list() == [0]
