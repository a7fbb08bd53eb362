# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the search for recurring fades in the times of lost and of delivered packets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from tcplearn.explain.recurring import FADES, FEWEST, Sendings, fades

Times = npt.NDArray[np.float64]


def _of(sent_s: Times, gone: npt.NDArray[np.bool_]) -> Sendings:
    lost_s = sent_s[gone]
    return Sendings(lost_s, lost_s, sent_s, sent_s[~gone], np.zeros(len(lost_s), np.uint32))


def _sendings(
    rng: np.random.Generator, fades_s: Times, lasts_s: float, loss: float, gap_s: float
) -> Sendings:
    """Return the sendings of one host for 600 s, one each `gap_s` on average. All in a fade are lost."""
    sent_s = np.sort(rng.uniform(0, 600, int(600 / gap_s)))
    before = np.searchsorted(fades_s, sent_s, side="right") - 1
    in_fade = (before >= 0) & (sent_s - fades_s[before] < lasts_s)
    return _of(sent_s, in_fade | (rng.random(len(sent_s)) < loss))


@pytest.mark.parametrize("every_s", [7.3, 15, 30])
@pytest.mark.parametrize(("gap_s", "loss"), [(0.03, 0.01), (0.2, 0.01), (0.2, 0.02)])
def test_fades_are_found(every_s: float, gap_s: float, loss: float) -> None:
    rng = np.random.default_rng(1)
    begins_s = 0.7 * every_s
    (found,) = fades(_sendings(rng, np.arange(begins_s, 600, every_s), 0.3, loss, gap_s))
    assert found[0] == pytest.approx(every_s, rel=1e-3)
    assert found[1] == pytest.approx(begins_s, abs=0.06) and found[2] == pytest.approx(0.3, abs=0.08)


def test_a_fade_begins_and_ends_with_its_losses() -> None:
    sent_s = np.arange(0, 600, 0.05) + 1e-3
    (found,) = fades(_of(sent_s, (sent_s + 1e-9) % 10 < 0.2))
    every_s, begins_s, lasts_s, losses = found
    since_s = (sent_s - begins_s) % every_s
    assert losses == 60 * 4 and ((since_s <= lasts_s) == ((sent_s + 1e-9) % 10 < 0.2)).all()


def test_a_lost_retransmission_after_a_fade_does_not_lengthen_it() -> None:
    of = _sendings(np.random.default_rng(3), np.arange(4, 600, 15), 0.2, 0.0, 0.1)
    until_s = of.lost_s.copy()
    until_s[5] += 3
    (found,) = fades(Sendings(of.lost_s, until_s, of.all_s, of.arrived_s, of.connection))
    assert found[2] == pytest.approx(0.2, abs=0.05)


def test_two_fades_of_a_path_are_found() -> None:
    rng = np.random.default_rng(2)
    both = np.sort(np.concatenate((np.arange(3, 600, 23), np.arange(9, 600, 29))))
    found = sorted(fades(_sendings(rng, both, 0.4, 0.01, 0.1)))
    assert [one[0] for one in found] == pytest.approx([23, 29], rel=1e-3)


def test_the_period_is_not_a_part_of_the_true_one() -> None:
    """Test fades each 10 s when nothing is sent 5 s after them."""
    sent_s = np.arange(0, 600, 0.05) + 1e-3
    sent_s = sent_s[(sent_s % 10 < 4.9) | (sent_s % 10 > 5.3)]
    (found,) = fades(_of(sent_s, sent_s % 10 < 0.1))
    assert found[0] == pytest.approx(10, rel=1e-3)


def test_the_number_of_fades_is_bounded() -> None:
    sent_s = np.arange(0, 200, 0.05) + 1e-3
    assert len(list(fades(_of(sent_s, sent_s % 1 < 0.1)))) <= FADES


@pytest.mark.parametrize("seed", range(20))
def test_losses_by_chance_are_no_fades(seed: int) -> None:
    """Test losses that are independent, and fades at random times, with few and with many requests."""
    rng = np.random.default_rng(seed)
    at_random_s = np.cumsum(rng.exponential(12, 40))
    for gap_s in (0.05, 0.2):
        for fades_s, loss in ((np.full(1, 1e9), 0.03), (at_random_s, 0.01)):
            assert not list(fades(_sendings(rng, fades_s, 0.4, loss, gap_s)))


@pytest.mark.parametrize("seed", range(20))
def test_requests_that_recur_are_no_fades(seed: int) -> None:
    """Test independent losses of requests that are all sent at the same time of a period."""
    rng = np.random.default_rng(seed)
    sent_s = np.sort((np.arange(0, 3600, 10)[:, None] + 0.01 * np.arange(5)).ravel())
    gone = rng.random(len(sent_s)) < 0.03
    assert gone.sum() > FEWEST
    assert not list(fades(_of(sent_s, gone)))
