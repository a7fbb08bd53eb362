# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the search for recurring fades, short times in which a path loses everything, and forecasts of
response times on such a path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import thin
from talk import CLIENT, SERVER, Talk, explained
from thin import slowest

from tcplearn.explain import forecast, sentences
from tcplearn.explain.candidates import ALL
from tcplearn.explain.fades import FEWEST, _of_path, _Sendings

REQUESTS, LOSS = 4000, 0.01
#: The period of fades and how long each lasts, in us.
FADE_US = (15_000_000, 200_000)


@pytest.mark.parametrize("place", [CLIENT, SERVER])
def test_forecast_counts_what_is_sent_in_a_fade_as_lost(tmp_path: Path, place: float) -> None:
    """Test forecasts for shorter timers, against simulations, from a capture in which no retransmission was
    sent in a fade because the timer was too long."""
    talk = Talk(place=place)
    thin.traffic(talk, 1, REQUESTS, LOSS, fade_us=FADE_US)
    found = explained(tmp_path, talk)
    if place == CLIENT:
        (fade,) = found.fades
        assert (fade.client, fade.host, fade.by) == ("10.0.0.1", "10.0.0.2", "client")
        assert fade.every_s == pytest.approx(FADE_US[0] / 1e6, rel=1e-3)
        assert fade.lasts_s == pytest.approx(FADE_US[1] / 1e6, abs=0.04)
        said = "Every 15 s, all that 10.0.0.1 sends to 10.0.0.2 is lost for about "
        assert any(line.startswith(said) for line in sentences.of(found))
        told = next(forecast.of_each(found))
        for name in ("rto_min 5 ms", "rto_min 20 ms", "rto_min 100 ms", "priced"):
            spec = next(one.spec for one in ALL if one.name == name)
            runs = [thin.traffic(Talk(), k, REQUESTS, LOSS, spec, fade_us=FADE_US) for k in (2, 3)]
            assert told.of(name).slowest_ms == pytest.approx(np.mean([*map(slowest, runs)]), rel=0.15), name
    else:  # a request that is lost before the capture point is not seen
        assert not found.fades


def _sendings(
    rng: np.random.Generator, fades_s: npt.NDArray[np.float64], lasts_s: float, loss: float, gap_s: float
) -> _Sendings:
    """Return the sendings of one host for 600 s, one each `gap_s` on average. All in a fade are lost."""
    sent_s = np.sort(rng.uniform(0, 600, int(600 / gap_s)))
    before = np.searchsorted(fades_s, sent_s, side="right") - 1
    in_fade = (before >= 0) & (sent_s - fades_s[before] < lasts_s)
    gone = in_fade | (rng.random(len(sent_s)) < loss)
    return _Sendings(sent_s[gone], sent_s[gone], sent_s, sent_s[~gone])


@pytest.mark.parametrize("every_s", [7.3, 15, 30])
@pytest.mark.parametrize("gap_s", [0.03, 0.2])
def test_fades_are_found(every_s: float, gap_s: float) -> None:
    rng = np.random.default_rng(1)
    begins_s = 0.7 * every_s
    (found,) = _of_path(_sendings(rng, np.arange(begins_s, 600, every_s), 0.3, 0.01, gap_s))
    assert found[0] == pytest.approx(every_s, rel=1e-3)
    assert found[1] == pytest.approx(begins_s, abs=0.06) and found[2] == pytest.approx(0.3, abs=0.06)


def test_two_fades_of_a_path_are_found() -> None:
    rng = np.random.default_rng(2)
    both = np.sort(np.concatenate((np.arange(3, 600, 23), np.arange(9, 600, 29))))
    found = sorted(_of_path(_sendings(rng, both, 0.4, 0.01, 0.1)))
    assert [one[0] for one in found] == pytest.approx([23, 29], rel=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_losses_by_chance_are_no_fades(seed: int) -> None:
    """Test losses that are independent, and fades at random times, with few and with many requests."""
    rng = np.random.default_rng(seed)
    at_random_s = np.cumsum(rng.exponential(12, 40))
    for gap_s in (0.01, 0.2):
        for fades_s, loss in ((np.full(1, 1e9), 0.03), (at_random_s, 0.01)):
            assert not list(_of_path(_sendings(rng, fades_s, 0.4, loss, gap_s)))


@pytest.mark.parametrize("seed", range(20))
def test_requests_that_recur_are_no_fades(seed: int) -> None:
    """Test independent losses of requests that are all sent at the same time of a period."""
    rng = np.random.default_rng(seed)
    sent_s = np.sort((np.arange(0, 3600, 10)[:, None] + 0.01 * np.arange(5)).ravel())
    gone = rng.random(len(sent_s)) < 0.03
    assert gone.sum() > FEWEST
    assert not list(_of_path(_Sendings(sent_s[gone], sent_s[gone], sent_s, sent_s[~gone])))
