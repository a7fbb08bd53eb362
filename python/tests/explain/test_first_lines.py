# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the first lines of `explain` and its advice: pauses within answers, losses outside of requests, few
requests, names in place of addresses."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scenes import ANSWERED, ASKED, HALF_US, _calm
from talk import CLIENT, RTT_US, SERVER, Talk
from test_ordinary_captures import S, _run
from thin import traffic
from wire import pcap

from tcplearn.explain import run, sentences
from tcplearn.explain.advice import _seen_by

CAPTURES = Path(__file__).parents[3] / "experiments" / "stalls" / "captures"


def _in_two_parts(talk: Talk, pause_us: int) -> None:
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 200)
    at += 100_000
    talk.answer(at, ANSWERED, 1448, ASKED + 200)
    talk.client(at + HALF_US, ASKED + 200, 0, ANSWERED + 1448)
    at += pause_us
    talk.answer(at, ANSWERED + 1448, 100, ASKED + 200)
    talk.client(at + HALF_US, ASKED + 200, 0, ANSWERED + 1548)


def test_a_silence_of_unknown_cause_is_not_the_servers(tmp_path: Path) -> None:
    """Test a pause after a full segment, without IP identification: what followed may have been lost."""
    talk = Talk(place=CLIENT, numbered=False)
    _in_two_parts(talk, 2 * S)
    (slow,) = _run(tmp_path, talk).requests.filter(pl.col("response_ms") > 1000).iter_rows(named=True)
    assert slow["unknown_ms"] > 1900 and slow["server_ms"] < 200 and slow["pauses_ms"] == 0


@pytest.mark.parametrize("pause_s", [0.5, 3])
def test_the_first_lines_name_pauses_within_an_answer(tmp_path: Path, pause_s: float) -> None:
    """Test that the first lines say so if the server paused for a second or more within its answer."""
    talk = Talk(place=SERVER)
    _in_two_parts(talk, round(pause_s * S))
    found = _run(tmp_path, talk)
    named = [line for line in sentences.of(found) if "without being asked" in line]
    assert len(named) == (pause_s >= 1)
    assert all(line.startswith("In it the server had begun to answer") for line in named)
    assert float(found.requests["pauses_ms"].max() or 0) == pytest.approx(3000 * len(named), abs=60)


def test_an_address_behind_a_translation_is_not_routed_to() -> None:
    """Test that no route to a private address is advised for a server with a public one."""
    assert not _seen_by("192.168.1.4", ["192.229.232.240", "10.0.0.1"])
    assert not _seen_by("100.64.3.4", ["192.229.232.240"])  # of a carrier's translation (RFC 6598)
    assert _seen_by("192.168.1.4", ["10.0.0.1"]) and _seen_by("192.229.232.240", ["20.106.86.13"])


def test_an_anonymous_report_with_an_advised_setting(tmp_path: Path) -> None:
    """Test that names in place of addresses do not stop the advice."""
    path = tmp_path / "thin.pcap"
    talk = Talk()
    traffic(talk, 1, 600, 0.03)
    path.write_bytes(pcap(talk.frames()))
    found = run([path], anonymize=True)
    assert found.advice and found.advice.chosen is not None and "10.0.0" not in found.advice.line


def test_few_requests_give_no_setting(tmp_path: Path) -> None:
    """Test that the slowest of few requests decides nothing, though a timer ended enough stalls."""
    path = tmp_path / "thin.pcap"
    talk = Talk()
    traffic(talk, 1, 40, 0.3)
    path.write_bytes(pcap(talk.frames()))
    found = run([path])
    assert found.advice and found.advice.chosen is None and "only 40 requests, too few" in found.advice.why


def test_losses_outside_of_requests_are_named(tmp_path: Path) -> None:
    """Test a download whose request came before the capture began, with lost segments."""
    talk = Talk(place=CLIENT)
    at, to = 0, 1
    for _ in range(6):
        talk.answer(at, to, 1448, 1, lost=0.9)
        talk.answer(at + 10, to + 1448, 1448, 1)
        talk.client(at + 10 + HALF_US, 1, 0, to, blocks=((to + 1448, to + 2896),))
        at += 700_000
        talk.answer(at, to, 1448, 1)
        talk.client(at + HALF_US, 1, 0, to + 2896)
        at += RTT_US
        to += 2896
    (line,) = [line for line in sentences.of(_run(tmp_path, talk)) if line.startswith("Outside of requests")]
    assert "for 3.5 s in all" in line


@pytest.mark.parametrize(
    ("name", "says"), [("thin-30-client", 0), ("thin-30-server", 1), ("delay-spikes-server", 0)]
)
def test_near_the_server_lost_requests_are_missing(name: str, says: int) -> None:
    """Test that the first lines say so if a capture with losses was taken near the server."""
    lines = sentences.of(run([CAPTURES / f"{name}.pcap.gz"]))
    assert len([line for line in lines if "A capture at a client shows it" in line]) == says


def test_one_spurious_retransmission_reads_well(tmp_path: Path) -> None:
    """Test the words for one retransmission, which was spurious."""
    talk = Talk(place=SERVER)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += HALF_US
    talk.answer(at, ANSWERED, 100, ASKED + 200)
    talk.answer(at + 242_000, ANSWERED, 100, ASKED + 200)
    talk.client(at + 250_000, ASKED + 200, 0, ANSWERED + 100)
    talk.client(at + 262_000, ASKED + 200, 0, ANSWERED + 100, blocks=((ANSWERED, ANSWERED + 100),))
    lines = sentences.of(_run(tmp_path, talk))
    assert any("was a retransmission, a spurious one: an earlier copy had arrived" in line for line in lines)


def test_delayed_acks_of_most_requests_are_named_beside_the_slowest() -> None:
    """Test a capture in which losses hold the slowest requests up, and delayed ACKs a third of all time."""
    lines = sentences.of(run([CAPTURES / "delayed-acks-client.pcap.gz"]))
    (line,) = [line for line in lines if line.startswith("Of the time of all requests")]
    assert "37 % went to waiting for delayed ACKs" in line and "set TCP_NODELAY" in line
