# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of traffic and captures that are easily mistaken for losses: packets that were
captured twice, window probes, delayed ACKs, handshakes that both ends repeat, and senders that are not
Linux."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import thin
from scenes import ANSWERED, ASKED, BEFORE, HALF_US, PLACES, SCENES, _asked, _calm, _served
from talk import RTT_US, SERVER, Talk, explained
from wire import FIN, Frame, pcap

from tcplearn.cli import main
from tcplearn.explain import Explained, advice, run, sentences
from tcplearn.explain.model import held_up


def _mirrored(folder: Path, frames: list[Frame], after_us: int, times: int = 1) -> Explained:
    """Return the result for a capture that has each of `frames` again, `times` times, each `after_us` later
    than the one before."""
    every = [(at + after_us * k, data, wire) for at, data, wire in frames for k in range(times + 1)]
    path = folder / "mirrored.pcap"
    path.write_bytes(pcap(sorted(every, key=lambda frame: frame[0])))
    return run([path])


@pytest.mark.parametrize("scene", ["request_lost", "lost_in_the_middle", "delayed_ack", "slow_server"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("numbered", "after_us"),
    [(True, 0), (True, 300), (True, 5000), (True, 30_000), (False, 0), (False, 10), (False, 300)],
)
def test_packets_that_were_captured_twice(
    tmp_path: Path, scene: str, place: str, numbered: bool, after_us: int
) -> None:
    """Test captures that have each packet twice, as those of a mirror port before and behind a router: they
    give what a capture with each packet once gives. Without IP numbers the timestamps show the copies."""
    talk = Talk(place=PLACES[place], numbered=numbered)
    SCENES[scene](talk)
    once = explained(tmp_path, talk)
    twice = _mirrored(tmp_path, talk.frames(), after_us)
    for name in ("requests", "stalls"):
        assert (
            getattr(twice, name).drop("server", "client").equals(getattr(once, name).drop("server", "client"))
        )
    assert twice.connections["resent_segments"].equals(once.connections["resent_segments"])


def test_packets_without_ip_numbers_that_were_captured_four_times(tmp_path: Path) -> None:
    talk = Talk(numbered=False)
    _calm(talk)
    found = _mirrored(tmp_path, talk.frames(), 10, times=3)
    assert found.stalls.is_empty()
    assert found.connections["resent_segments"].to_list() == [0]
    assert found.requests.height == BEFORE


def test_window_probes_are_no_losses(tmp_path: Path) -> None:
    """Test a client that probes a closed window with a byte that is new to the server, three times, before
    the window opens and the server takes it."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 1448, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 1448, window=0)
    closed_us = at + HALF_US
    for k in range(1, 4):
        probed = at + 300_000 * k
        talk.client(probed, ASKED + 1448, 1, ANSWERED)
        talk.answer(probed + HALF_US, ANSWERED, 0, ASKED + 1448, window=0)
    opened = at + 1_200_000
    talk.answer(opened, ANSWERED, 0, ASKED + 1448)
    talk.client(opened + HALF_US, ASKED + 1448, 600, ANSWERED)
    _served(talk, opened + RTT_US, request=2048)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "window_closed"
    assert stall["duration_ms"] == pytest.approx((opened - closed_us) / 1e3, abs=5)


def test_a_window_probe_that_is_accepted(tmp_path: Path) -> None:
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 1448, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 1448, window=0)
    talk.client(at + 300_000, ASKED + 1448, 1, ANSWERED)
    talk.answer(at + 300_000 + HALF_US, ANSWERED, 0, ASKED + 1449)
    talk.client(at + 300_000 + RTT_US, ASKED + 1449, 600, ANSWERED)
    _served(talk, at + 300_000 + RTT_US + HALF_US, request=2049)
    found = explained(tmp_path, talk)
    assert found.stalls["cause"].to_list() == ["window_closed"]
    assert found.connections["resent_segments"].to_list() == [0]


def test_the_first_of_several_lost_segments_gives_the_cause(tmp_path: Path) -> None:
    """Test five segments that are lost at once. The timer repairs the first, whose retransmission is lost
    twice, and the others, which waited a little longer, follow."""
    talk = Talk()
    at = _calm(talk)
    for k in range(5):
        talk.client(at + 100 * k, ASKED + 1448 * k, 1448, ANSWERED, lost=0.9)
    for after in (300_000, 900_000, 2_100_000):
        talk.client(at + after, ASKED, 1448, ANSWERED, lost=None if after > 2_000_000 else 0.9)
    last = at + 2_100_000 + RTT_US
    talk.answer(last - HALF_US, ANSWERED, 0, ASKED + 1448)
    for k in range(1, 5):
        talk.client(last + 100 * k, ASKED + 1448 * k, 1448, ANSWERED)
    _served(talk, last + HALF_US + 400, request=5 * 1448)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert (stall["cause"], stall["resends"]) == ("resend_lost", 3)
    assert stall["duration_ms"] == pytest.approx(2100 + RTT_US / 1e3, abs=2)


def test_new_data_before_the_ack_could_arrive_did_not_wait_for_it(tmp_path: Path) -> None:
    """Test a client that sends the next part of a request 5 ms after a delayed ACK passed the server, where
    the client is 20 ms away: it did not wait for this ACK."""
    talk = Talk(place=SERVER)
    at = _calm(talk)
    talk.client(at, ASKED, 100, ANSWERED)
    acked = at + HALF_US + 150_000
    talk.answer(acked, ANSWERED, 0, ASKED + 100)
    talk.client(acked - HALF_US + 5000, ASKED + 100, 100, ANSWERED)
    _served(talk, acked + 5000)
    assert "delayed_ack" not in explained(tmp_path, talk).stalls["cause"].to_list()


def test_a_handshake_that_the_servers_own_timer_ended(tmp_path: Path) -> None:
    """Test a handshake in which both ends retransmit and only the server's last SYN-ACK arrives, three
    seconds after the client's last SYN."""
    talk = Talk(place=SERVER, stamped=False)
    for at in (0, 1_000_000):
        talk.syn(at)
        talk.syn_ack(at + HALF_US, lost=0.1)
    talk.syn_ack(4_000_000)
    done = 4_000_000 + HALF_US
    talk.client(done, 1, 0, 1)
    talk.close(talk.exchanges(done, BEFORE), ASKED, ANSWERED)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "syn_ack_lost"
    assert stall["duration_ms"] == pytest.approx(4000 - HALF_US / 1e3, abs=1)


def test_a_block_that_reports_a_fin(tmp_path: Path) -> None:
    """Test an answer of four segments with a FIN, of which all but the last are lost. The last is probed, and
    a SACK block with the FIN reports it."""
    talk = Talk(place=SERVER)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += HALF_US
    for k in range(4):
        flags = FIN if k == 3 else 0
        talk.answer(at + 100 * k, ANSWERED + 1448 * k, 1448, ASKED + 200, flags=flags, lost=0.1)
    tail = ANSWERED + 3 * 1448
    probed = at + 80_000
    talk.answer(probed, tail, 1448, ASKED + 200, flags=FIN)
    talk.client(probed + HALF_US, ASKED + 200, 0, ANSWERED, blocks=((tail, tail + 1449),))
    again = probed + RTT_US
    for k in range(3):
        talk.answer(again + 100 * k, ANSWERED + 1448 * k, 1448, ASKED + 200)
    talk.client(again + 300 + HALF_US, ASKED + 200, 0, tail + 1449)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "tail_probe"


def test_no_advice_for_a_sender_that_is_not_linux(tmp_path: Path) -> None:
    """Test a sender whose timer waits three times as long as that of Linux."""
    talk = Talk()
    thin.traffic(talk, 1, 1500, 0.03, "stock:rto_min_us=700000")
    found = explained(tmp_path, talk)
    assert found.advice is not None and found.advice.chosen is None
    assert "not that of Linux" in found.advice.why


@pytest.mark.parametrize("seed", range(20))
def test_overlaps_of_stalls_and_requests_are_those_of_every_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def drawn(count: int, lasts: str) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "source": rng.integers(0, 2, count).astype(np.uint32),
                "connection": rng.integers(0, 3, count).astype(np.uint32),
                "start_s": rng.integers(0, 30, count) / 10,
                lasts: rng.integers(0, 900, count).astype(float),
            }
        )

    requests, stalls = drawn(int(rng.integers(0, 40)), "response_ms"), drawn(25, "duration_ms")
    twin = {
        (k, n): overlap
        for k, stall in enumerate(stalls.iter_rows(named=True))
        for n, request in enumerate(requests.iter_rows(named=True))
        if (stall["source"], stall["connection"]) == (request["source"], request["connection"])
        and (
            overlap := min(
                1e3 * stall["start_s"] + stall["duration_ms"],
                1e3 * request["start_s"] + request["response_ms"],
            )
            - 1e3 * max(stall["start_s"], request["start_s"])
        )
        > 1e-6
    }
    found = held_up(requests, stalls).select("stall", "request", "overlap_ms").rows()
    assert {(k, n): ms for k, n, ms in found} == pytest.approx(twin)
    assert len(found) == len(twin)


@pytest.mark.parametrize("pause_us", [50_000, 5_000_000])
def test_the_clients_pause_is_no_round_trip(tmp_path: Path, pause_us: int) -> None:
    """Test a connection whose handshake was not captured, and whose client acknowledges each answer with its
    next request: its pause is not part of the response time."""
    talk = Talk()
    talk.exchanges(0, 20, pause_us=pause_us)
    found = explained(tmp_path, talk)
    assert found.requests["response_ms"].to_list() == pytest.approx([RTT_US / 1e3] * 20, abs=1)
    assert found.connections["to_client_ms"].to_list() == [None]


def test_one_duplicate_ack_long_before_the_timer(tmp_path: Path) -> None:
    """Test an early retransmit: two segments, of which the first is lost. The ACK that the second causes
    triggers the repair, long before the timer."""
    talk = Talk(sacks=False)
    at = _calm(talk)
    talk.client(at, ASKED, 1448, ANSWERED, lost=0.9)
    talk.client(at + 100, ASKED + 1448, 500, ANSWERED)
    talk.answer(at + 100 + HALF_US, ANSWERED, 0, ASKED)
    again = at + RTT_US + 10_000
    talk.client(again, ASKED, 1448, ANSWERED)
    _served(talk, again + HALF_US, request=1948)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "lost_fast"


def _two_gaps(talk: Talk, second_us: int) -> None:
    """Send an answer of six segments, of which two are lost. A fast retransmit fills the first gap; the
    second is filled at the client `second_us` after the first segment came."""
    at = _asked(talk) - HALF_US + talk.rtt_us // 2
    for k in range(6):
        talk.answer(at + 100 * k, ANSWERED + 1448 * k, 1448, ASKED + 200, lost=0.1 if k in (1, 3) else None)
    half_us = talk.rtt_us // 2
    here = at + half_us
    holes = [ANSWERED + 1448, ANSWERED + 3 * 1448]
    block = ((ANSWERED + 4 * 1448, ANSWERED + 6 * 1448), (ANSWERED + 2 * 1448, holes[1]))
    talk.client(here, ASKED + 200, 0, ANSWERED + 1448)
    for k in range(3):
        talk.client(here + 200 + 100 * k, ASKED + 200, 0, holes[0], blocks=block)
    talk.answer(here + half_us + 500, holes[0], 1448, ASKED + 200)
    talk.client(here + talk.rtt_us + 500, ASKED + 200, 0, holes[1], blocks=block[:1])
    filled = here + second_us
    talk.answer(filled - half_us, holes[1], 1448, ASKED + 200)
    talk.client(filled, ASKED + 200, 0, ANSWERED + 6 * 1448)
    talk.close(filled + 100_000, ASKED + 200, ANSWERED + 6 * 1448)


def test_the_second_round_of_a_recovery(tmp_path: Path) -> None:
    """Test a second gap that is filled a round trip after the first, when the timer could have fired too."""
    talk = Talk(rtt_us=300_000)
    _two_gaps(talk, 2 * talk.rtt_us + 500)
    assert set(explained(tmp_path, talk).stalls["cause"]) == {"lost_fast"}


@pytest.mark.parametrize("after_us", [400_000, 1_500_000])
def test_a_timer_that_goes_on_with_a_recovery(tmp_path: Path, after_us: int) -> None:
    """Test a second gap whose retransmission is lost too, and which the timer fills long after the last
    ACK."""
    talk = Talk()
    _two_gaps(talk, RTT_US + after_us)
    assert "lost_fast" not in explained(tmp_path, talk).stalls["cause"].to_list()


def test_a_server_that_refuses_many_handshakes_needs_no_other_timer(tmp_path: Path) -> None:
    """Test 60 handshakes with one server, of which every third waits a second: as many as a full listen queue
    drops, and not a path."""
    talks = []
    for k in range(60):
        talk, begin = Talk(port=30_000 + k), 2_000_000 * k
        if k % 3 == 0:
            talk.syn(begin, lost=0.9)
        done = talk.open(begin + (1_000_000 if k % 3 == 0 else 0))
        talk.close(talk.exchanges(done, 1), 201, 2)
        talks.append(talk)
    said = explained(tmp_path, *talks).handshake_advice
    assert said is not None and said.chosen is None
    assert "20 handshakes of 60 were held up" in said.why and "TcpExtListenDrops" in said.why


def test_requests_that_take_no_time_have_no_cause(tmp_path: Path) -> None:
    """Test captures in which all packets of a connection have the same time, as with a clock of seconds."""
    talk = Talk(rtt_us=0)
    talk.exchanges(0, 3, pause_us=0)
    later = Talk(rtt_us=0, port=40_001)
    later.exchanges(0, 3, pause_us=0)
    names = []
    for name in ("a.pcap", "b.pcap"):
        frames = [(1_600_000_000_000_000, *frame[1:]) for frame in talk.frames()]
        frames += [(1_600_000_001_000_000, *frame[1:]) for frame in later.frames()]
        (tmp_path / name).write_bytes(pcap(frames[: None if name == "a.pcap" else -1]))
        names.append(str(tmp_path / name))
    assert main(["explain", *names, "--all", "-q"]) == 0


def test_bytes_that_were_lost_before_the_capture_point_count(tmp_path: Path) -> None:
    talk = Talk()
    at = _asked(talk)
    for k in range(20):
        talk.answer(at + 100 * k, ANSWERED + 1448 * k, 1448, ASKED + 200, lost=0.1 if k == 4 else None)
    hole = ANSWERED + 4 * 1448
    for k in range(5, 20):
        block = (hole + 1448, ANSWERED + 1448 * (k + 1))
        talk.client(at + HALF_US + 100 * k, ASKED + 200, 0, hole, blocks=(block,))
    talk.answer(at + RTT_US + 800, hole, 1448, ASKED + 200)
    talk.close(at + 200_000, ASKED + 200, ANSWERED + 20 * 1448)
    found = explained(tmp_path, talk)
    assert found.requests["answer_bytes"][-1] == 20 * 1448
    assert found.connections["server_bytes"].to_list() == [BEFORE + 20 * 1448]


def test_a_window_update_is_no_duplicate_ack(tmp_path: Path) -> None:
    """Test a lone lost segment, after which the server only announces another window. A probe repairs it."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED, lost=0.9)
    talk.answer(at + 30_000, ANSWERED, 0, ASKED, window=65_000)
    talk.client(at + 82_000, ASKED, 200, ANSWERED)
    _served(talk, at + 82_000 + HALF_US)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "tail_probe"


def test_window_probes_before_a_late_answer(tmp_path: Path) -> None:
    """Test a client that closes its window with its request. The server probes it, and answers when it is
    open: nothing was lost."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED, window=0)
    talk.answer(at + HALF_US + 1000, ANSWERED, 0, ASKED + 200)
    for k in range(1, 4):
        talk.answer(at + 300_000 * k, ANSWERED, 1, ASKED + 200)
        talk.client(at + 300_000 * k + HALF_US, ASKED + 200, 0, ANSWERED, window=0)
    talk.client(at + 1_200_000, ASKED + 200, 0, ANSWERED)
    _served(talk, at + 1_260_000)
    assert "resend_lost" not in explained(tmp_path, talk).stalls["cause"].to_list()


def test_a_gain_of_the_model_alone_is_no_advice(tmp_path: Path) -> None:
    """Test settings that gain no more than the forecast of the present setting does."""
    talk = Talk()
    thin.traffic(talk, 1, 1500, 0.03, tick_us=4000)
    found = explained(tmp_path, talk)
    told = found.forecast
    assert told is not None and found.advice is not None and found.advice.chosen is not None
    best = found.advice.chosen
    told.outlooks = [replace(best, candidate=one.candidate) for one in told.outlooks]
    said = advice.of(found, told)
    assert said.chosen is None and "comes from the model and not from the setting" in said.why


def test_the_same_connections_in_two_files(tmp_path: Path) -> None:
    talk = Talk()
    talk.close(talk.exchanges(talk.open(), 5), 1001, 6)
    for name, frames in (("a.pcap", talk.frames()), ("b.pcap", talk.frames()[:-1])):
        (tmp_path / name).write_bytes(pcap(frames))
    warnings = run([tmp_path / "a.pcap", tmp_path / "b.pcap"]).warnings
    assert "1 connection in more than one file: counted in each" in warnings


def test_advice_from_the_same_connections_in_two_files_comes_with_a_caution(tmp_path: Path) -> None:
    talk = Talk()
    thin.traffic(talk, 1, 1500, 0.03, tick_us=4000)
    for name, frames in (("a.pcap", talk.frames()), ("b.pcap", talk.frames()[:-1])):
        (tmp_path / name).write_bytes(pcap(frames))
    for files, said in ((("a.pcap",), False), (("a.pcap", "b.pcap"), True)):
        found = run([tmp_path / name for name in files])
        (lines,) = sentences.advice(found)
        assert lines[said].startswith("Set ")
        assert lines[0].startswith("Explain one file alone before you set this: 1 connection is in") == said


def test_ports_that_two_captures_have_in_common_by_chance(tmp_path: Path) -> None:
    """Test captures of two days, in which one of 20 connections has the same ports."""
    for name, first in (("a.pcap", 40_000), ("b.pcap", 40_019)):
        frames: list[Frame] = []
        for port in range(first, first + 20):
            talk = Talk(port=port)
            talk.close(talk.exchanges(talk.open(), 5), 1001, 6)
            frames += talk.frames()
        (tmp_path / name).write_bytes(pcap(sorted(frames)))
    found = run([tmp_path / "a.pcap", tmp_path / "b.pcap"])
    assert (
        not found.repeats_traffic and "1 connection in more than one file: counted in each" in found.warnings
    )
