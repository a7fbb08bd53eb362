# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test forecasts of handshakes under a learned first RTO against simulations of the same path with this RTO,
and the advice that follows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from talk import CLIENT, RTT_US, SERVER, Talk, explained, pcap_of
from thin import slowest

from tcplearn.cli import main
from tcplearn.explain import Explained, sentences
from tcplearn.lab import sock_ops

#: What a place's second handshake waits: three round trips, 200 ms at least.
LEARNED_US = max(3 * RTT_US, 200_000)
ANSWERED_EVERY_US = 500_000


def connections(
    count: int,
    seed: int,
    loss: float,
    first_us: int = 1_000_000,
    *,
    servers: int = 1,
    place: float = CLIENT,
    rtt_us: int = RTT_US,
) -> tuple[list[Talk], list[float]]:
    """Simulate connections of one request each, whose SYNs and SYN-ACKs may be lost. Return them and the
    times of their handshakes in ms. The first connection to each server has a first RTO of one second."""
    rng = np.random.default_rng(seed)
    talks, times, begin = [], [], 0
    for n in range(count):
        talk = Talk(port=20_000 + n, server=f"10.0.0.{2 + n % servers}", place=place, rtt_us=rtt_us)
        at, wait, replied = begin, 1_000_000 if n < servers else first_us, -ANSWERED_EVERY_US
        while True:
            syn, answer = (rng.random() < loss for _ in range(2))
            talk.syn(at, lost=0.9 if syn else None)
            again = at > begin and at - replied < ANSWERED_EVERY_US
            if not syn and not again:
                replied = at if at > begin else replied
                talk.syn_ack(at + rtt_us // 2, lost=0.1 if answer else None)
                if not answer:
                    break
            at += wait
            wait *= 2
        done = at + rtt_us
        talk.client(done, 1, 0, 1)
        talk.close(talk.exchanges(done, 1), 201, 2)
        times.append((done - begin) / 1e3)
        talks.append(talk)
        begin = done + 300_000
    return talks, times


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> tuple[Explained, list[float]]:
    talks, times = connections(1500, 1, 0.02)
    return explained(tmp_path_factory.mktemp("stock"), *talks), times


def test_what_was_seen(stock: tuple[Explained, list[float]]) -> None:
    found, times = stock
    assert found.handshakes is not None
    assert found.handshakes.segments == len(times)
    assert found.handshakes.seen.figure("p99").value == pytest.approx(np.quantile(times, 0.99))
    assert found.handshakes.seen.slowest_ms == pytest.approx(slowest(times))


def test_forecast_against_the_same_path(stock: tuple[Explained, list[float]]) -> None:
    learned = stock[0].handshakes.outlooks[0]  # type: ignore[union-attr]
    measured = [connections(1500, seed, 0.02, LEARNED_US)[1] for seed in range(2, 8)]
    assert learned.slowest_ms == pytest.approx(np.mean([slowest(times) for times in measured]), rel=0.15)
    p99 = learned.figure("p99")
    assert p99.low <= p99.value <= p99.high
    assert p99.value == pytest.approx(np.mean([np.quantile(times, 0.99) for times in measured]), rel=0.05)
    # a request and its answer are a round trip
    assert learned.figures["p99_first_answer_ms"].value == pytest.approx(p99.value + RTT_US / 1e3, rel=0.05)
    assert learned.spurious_permille == 0


@pytest.mark.parametrize("place", [CLIENT, SERVER])
def test_the_advice_is_a_line_to_type(tmp_path: Path, place: float) -> None:
    talks, _ = connections(300, 5, 0.04, place=place)
    said = explained(tmp_path, *talks).handshake_advice
    assert said is not None and said.chosen is not None
    assert said.line == "sudo $(which tcplearn) first-rto load rfc6298"
    assert sock_ops.shipped(Path(said.line.split()[-1])).is_file()
    assert said.undo == "sudo $(which tcplearn) first-rto unload"
    assert said.where == "the client (10.0.0.1)"
    text = " ".join(said.sentences)
    assert "For handshakes, set on" in text and "99 of 100 handshakes should take at most" in text
    assert "first answer" in text and "It costs no spurious SYN." in text


def test_beside_an_advised_setting_the_other_advice_is_one_for_requests(tmp_path: Path) -> None:
    talks, _ = connections(300, 5, 0.04)
    first, second = sentences.advice(explained(tmp_path, *talks))
    assert first[0].startswith("For handshakes, set on")
    assert second[0].startswith("For requests, no setting of TCP's timers is advised: ")


def test_nothing_is_learned_of_servers_that_are_seen_once(tmp_path: Path) -> None:
    talks, times = connections(120, 6, 0.1, servers=120)
    found = explained(tmp_path, *talks)
    assert found.handshakes is not None and found.handshakes.stalls == 0 and found.handshakes.untold > 10
    learned = found.handshakes.outlooks[0]
    assert learned.figure("p99").value == pytest.approx(np.quantile(times, 0.99))
    assert found.handshake_advice is not None and found.handshake_advice.chosen is None
    assert "22 handshakes were held up, none after earlier ones from which" in found.handshake_advice.why


def test_handshakes_that_take_longer_than_was_learned_cost_spurious_syns(tmp_path: Path) -> None:
    """Test the spurious SYNs that are forecast if every tenth handshake takes 700 ms and the others 40 ms. A
    learned wait of 200 ms is too short for the former; after a resent SYN the next wait is four times as
    long."""
    talks, begin = [], 0
    for n in range(200):
        rtt_us = 700_000 if n % 10 == 5 else 40_000
        talk = Talk(port=20_000 + n, place=CLIENT, rtt_us=rtt_us)
        if n % 20 == 3:
            talk.syn(begin, lost=0.9)
            talk.close(talk.exchanges(talk.open(begin + 1_000_000), 1), 201, 2)
        else:
            talk.close(talk.exchanges(talk.open(begin), 1), 201, 2)
        talks.append(talk)
        begin += 3_000_000
    found = explained(tmp_path, *talks)
    assert found.handshakes is not None and found.handshakes.stalls == 10
    # in 700 ms a wait of 200 ms ends twice
    assert found.handshakes.outlooks[0].spurious_permille == pytest.approx(200)
    assert found.handshake_advice is not None and found.handshake_advice.chosen is None
    assert "with 200 more spurious SYNs" in found.handshake_advice.why


def test_where_no_handshake_was_held_up_nothing_is_said_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_of(*connections(50, 1, 0.0)[0]))
    assert main(["explain", str(path), "-q"]) == 0
    assert "handshake" not in capsys.readouterr().out


def test_screen_rows_and_report_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, report = tmp_path / "a.pcap", tmp_path / "a.html"
    path.write_bytes(pcap_of(*connections(300, 5, 0.04)[0]))
    assert main(["explain", str(path), "-q"]) == 0
    screen = capsys.readouterr().out
    assert "first-rto load rfc6298" in screen and "First RTO on the client, forecast of 300" in screen
    assert main(["explain", str(path), "-q", "--format", "json", "--report", str(report)]) == 0
    rows = json.loads(capsys.readouterr().out)
    learned = next(row for row in rows if row.get("setting") == "learned first RTO")
    assert learned["advised"] == 1 and f"at most {learned['p99_handshake_ms']:.0f} ms" in " ".join(
        screen.split()
    )
    assert rows[0]["p99_handshake_ms"] > 1000
    assert "first-rto load rfc6298" in report.read_text()


def test_on_a_path_of_a_third_of_a_second_a_second_is_not_too_long(tmp_path: Path) -> None:
    """Test a path with an RTT of 360 ms: three round trips are longer than the one second that every
    connection waits, so that no shorter wait can be learned."""
    talks, times = connections(60, 7, 0.05, rtt_us=360_000)
    found = explained(tmp_path, *talks)
    assert found.handshakes is not None and found.handshakes.stalls == 0
    assert found.handshakes.outlooks[0].slowest_ms == pytest.approx(slowest(times))
    assert found.handshake_advice is not None
    assert "none after earlier ones from which a shorter wait is learned" in found.handshake_advice.why
