# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what is said and forecast of recurring fades, times in which a path loses everything; and that other
losses that recur are not taken for fades."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import thin
from talk import CLIENT, SERVER, Talk, explained
from thin import slowest

from tcplearn.explain import forecast, sentences
from tcplearn.explain.candidates import STOCK
from tcplearn.explain.fades import SEARCHED_S
from tcplearn.explain.forecast import _after

REQUESTS = 4000
#: The period of fades and how long each lasts, in us.
FADE_US = (15_000_000, 200_000)
MSS = 1400


@pytest.mark.parametrize(("loss", "seed"), [(0.01, 2), (0.03, 1)])
def test_forecast_counts_what_is_sent_in_a_fade_as_lost(tmp_path: Path, loss: float, seed: int) -> None:
    """Test forecasts for shorter timers, against simulations, from a capture in which no retransmission was
    sent in a fade because the timer was too long."""
    talk = Talk()
    captured = thin.traffic(talk, seed, REQUESTS, loss, tick_us=4000, fade_us=FADE_US)
    found = explained(tmp_path, talk)
    (fade,) = found.fades
    assert (fade.client, fade.host, fade.by) == ("10.0.0.1", "10.0.0.2", "client")
    assert fade.every_s == pytest.approx(FADE_US[0] / 1e6, rel=1e-3)
    # requests come each 0.13 s, and a fade's first loss stops them: how much longer it lasts is not seen
    assert fade.lasts_s == pytest.approx(FADE_US[1] / 1e6, abs=0.05)
    said = "Every 15 s, nothing that 10.0.0.1 sends to 10.0.0.2 seems to arrive for about "
    assert any(line.startswith(said) for line in sentences.of(found))
    told = next(forecast.of_each(found))
    assert told.of(STOCK).slowest_ms == pytest.approx(slowest(captured), rel=0.05)
    for name in ("rto_min 5 ms", "rto_min 20 ms", "priced"):
        spec = thin.spec_of(name)
        runs = [thin.traffic(Talk(), k, REQUESTS, loss, spec, tick_us=4000, fade_us=FADE_US) for k in (3, 4)]
        assert told.of(name).slowest_ms == pytest.approx(np.mean([*map(slowest, runs)]), rel=0.15), name


def test_what_is_lost_before_the_capture_point_is_not_seen(tmp_path: Path) -> None:
    talk = Talk(place=SERVER)
    thin.traffic(talk, 1, REQUESTS, 0.01, fade_us=FADE_US)
    assert not explained(tmp_path, talk).fades


def test_fades_hold_for_the_hour_in_which_they_were_found(tmp_path: Path) -> None:
    talk = Talk()
    thin.traffic(talk, 1, REQUESTS, 0.01, begin_us=int(1.5 * SEARCHED_S * 1e6), fade_us=FADE_US)
    (fade,) = explained(tmp_path, talk).fades
    within_s = np.array([fade.begins_s % fade.every_s + 0.1])
    hour_s = np.ceil(SEARCHED_S / fade.every_s) * fade.every_s
    assert fade.left_ms(within_s) > 0 and fade.left_ms(within_s + hour_s) == 0


def _requests(talk: Talk, rng: np.random.Generator, until_s: float, gap_s: float) -> Talk:
    """Add requests that are all answered at once, `gap_s` apart on average."""
    now, k = talk.open(50_000), 0
    while now < until_s * 1e6:
        talk.client(now, 1 + 200 * k, 200, 1 + k)
        talk.answer(now + talk.rtt_us // 2, 1 + k, 1, 201 + 200 * k)
        now, k = now + talk.rtt_us + int(rng.exponential(gap_s * 1e6)), k + 1
    talk.close(now, 1 + 200 * k, 1 + k)
    return talk


def _bursts(rng: np.random.Generator) -> Iterator[Talk]:
    """Thirty connections send a request each within 15 ms, each 10 s. One of the requests is lost."""
    lost = rng.integers(0, 30, 60)
    for k in range(30):
        talk = Talk(port=41_000 + k)
        talk.open(k * 1000)
        for burst, gone in enumerate((lost == k).tolist()):
            at, sequence = 1_000_000 + burst * 10_000_000 + k * 500, 1 + 200 * burst
            talk.client(at, sequence, 200, 1 + burst, lost=0.9 if gone else None)
            if gone:
                at += 250_000
                talk.client(at, sequence, 200, 1 + burst)
            talk.answer(at + talk.rtt_us // 2, 1 + burst, 1, sequence + 200)
        talk.close(602_000_000, 1 + 200 * 60, 61)
        yield talk


def _uploads(rng: np.random.Generator) -> Iterator[Talk]:
    """Each 10 s, a queue that is full drops the last two of twenty segments."""
    talk = Talk()
    talk.open(0)
    half_us = talk.rtt_us // 2
    for k in range(60):
        begin = 100_000 + k * 10_000_000 + int(rng.integers(0, 30_000))
        first = 1 + k * 20 * MSS
        sent = [begin + i * 2000 for i in range(20)]
        for i, at in enumerate(sent):
            talk.client(at, first + i * MSS, MSS, 1 + 100 * k, lost=0.9 if i >= 18 else None)
        for i, at in enumerate(sent[:18]):
            talk.answer(at + half_us, 1 + 100 * k, 0, first + (i + 1) * MSS)
        probe, last = sent[-1] + 100_000, first + 20 * MSS
        talk.client(probe, last - MSS, MSS, 1 + 100 * k)
        talk.answer(probe + half_us, 1 + 100 * k, 0, last - 2 * MSS, blocks=((last - MSS, last),))
        again = probe + talk.rtt_us + 500
        talk.client(again, last - 2 * MSS, MSS, 1 + 100 * k)
        talk.answer(again + half_us, 1 + 100 * k, 100, last)
    talk.close(605_000_000, 1 + 60 * 20 * MSS, 1 + 100 * 60)
    yield talk


def _idle(_: np.random.Generator) -> Iterator[Talk]:
    """A connection is used each 30 s, and a firewall drops the first packet each time."""
    talk = Talk(port=42_000)
    talk.open(0)
    for k in range(20):
        at, sequence = 1_000_000 + k * 30_000_000, 1 + 200 * k
        talk.client(at, sequence, 200, 1 + k, lost=0.9)
        talk.client(at + 240_000, sequence, 200, 1 + k)
        talk.answer(at + 240_000 + talk.rtt_us // 2, 1 + k, 1, sequence + 200)
    talk.close(601_000_000, 1 + 200 * 20, 21)
    yield talk


@pytest.mark.parametrize("losses", [_bursts, _uploads, _idle])
def test_losses_that_recur_with_traffic_are_no_fades(
    tmp_path: Path, losses: Callable[[np.random.Generator], Iterator[Talk]]
) -> None:
    rng = np.random.default_rng(1)
    others = _requests(Talk(port=39_000, place=CLIENT), rng, 600, 0.5)
    found = explained(tmp_path, others, *losses(rng))
    assert found.stalls.height >= 20
    assert not found.fades


def test_the_first_wait_after_a_fade() -> None:
    """Test retransmissions after 232, 464 and 928 ms, or each 232 ms, against fades of up to 500 ms."""
    wait_ms, fade_ms = np.full(3, 232.0), np.array([0.0, 400.0, 500.0])
    assert _after(fade_ms, wait_ms, linear=False).tolist() == [232, 464, 928]
    assert _after(fade_ms, wait_ms, linear=True).tolist() == [232, 464, 696]
