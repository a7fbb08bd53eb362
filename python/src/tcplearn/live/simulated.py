# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulate connections by their numbers of rounds (round trips), losses and spurious retransmissions, to test
the decisions of a Guard. The counts are the same that linux/bpf/live_arms.h makes of real connections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .arms import ARMS, CONTROL, EPOCHS, OURS, STOPPED, WHOLE, Counts, Place, Seen, none
from .guard import Guard, Plan

_SIDE = ("connections", "rounds", "resent", "needed", "spurious", "wait")
_UNITS_PER_MS = 10
_MEAN_TIMES = 1.1875  # the mean of the numerator in _times()
_AGAIN = 0.1  # probability that a retransmission is lost too, after which the wait is doubled


@dataclass(frozen=True)
class Path:
    """The probabilities of losses and spurious retransmissions in the round trips of simulated connections,
    and the time of a round trip with a loss. In a pair, the first value is for the kernel's RTO floor, the
    second for a learned floor."""

    loss: float = 0.0  # probability of a round with a loss that only the timer repairs
    spurious: tuple[float, float] = (0.0, 0.0)  # of a round: stock, ours
    wait_ms: tuple[float, float] = (230.0, 60.0)  # mean of a lossy round
    rounds: float = 20.0  # mean of a connection, geometric
    #: How unlike its connections are: both probabilities are multiplied by a gamma variable of mean 1 and
    #: this variance.
    unlike: float = 1.0


@dataclass
class Fleet:
    """A sequence of simulated connections to random places, and their counts."""

    paths: Sequence[Path]  # of each place
    seed: int
    rounds_per_s: float = 50.0
    look_every_s: float = 2.0
    rounds: int = 0
    now_s: float = 0.0
    harm: int = 0  # spurious retransmissions under learned floors, more than the same rounds had under stock
    saved_ms: float = 0.0  # by learned floors
    seen: Seen = field(default_factory=lambda: Seen(_elements(), {}))

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng(self.seed)
        self._looked_s = 0.0

    def play(self, rounds: int, guard: Guard | None = None) -> Fleet:
        """Simulate connections until there are `rounds` rounds (round trips) in all. Without `guard`, all
        connections have learned RTO floors."""
        stopped: set[bytes] = set()
        while self.rounds < rounds:
            if guard and self.now_s - self._looked_s >= self.look_every_s:
                guard.look(self.now_s, self.seen)
                stopped = set(guard.places.stopped(self.now_s))
                self._looked_s = self.now_s
            at = int(self._draw.integers(len(self.paths)))
            key = key_of(at)
            ours = guard is None or self._draw.random() * WHOLE < guard.share
            arm = STOPPED if key in stopped else OURS if ours else CONTROL
            epoch = guard.epoch % EPOCHS if guard else 0
            self._place(key, arm == OURS, *self.connect(self.paths[at], arm, epoch))
        return self

    def connect(self, path: Path, arm: int, epoch: int = 0) -> tuple[int, int, int]:
        """Simulate a connection over `path` in the arm (group) `arm`; return the number of its rounds (round
        trips), of its rounds with a spurious retransmission, and of its rounds with a loss."""
        draw, is_ours = self._draw, arm == OURS
        rounds = int(draw.geometric(1 / path.rounds))
        much = draw.gamma(1 / path.unlike, path.unlike) if path.unlike else 1.0
        lost = int(draw.binomial(rounds, min(1.0, path.loss * much)))
        spurious = int(draw.binomial(rounds, min(1.0, path.spurious[is_ours] * much)))
        again = draw.geometric(1 - _AGAIN, lost) - 1
        wait_ms = [float(path.wait_ms[is_ours] * _times(int(more))) for more in again]
        count(self.seen.arms[epoch][arm], rounds, spurious, wait_ms, is_ours)
        if is_ours:
            self.harm += spurious - int(draw.binomial(rounds, min(1.0, path.spurious[0] * much)))
            self.saved_ms += lost * (path.wait_ms[0] - path.wait_ms[1])
        self.rounds += rounds
        self.now_s += rounds / self.rounds_per_s
        return rounds, spurious, lost

    def _place(self, key: bytes, is_ours: bool, rounds: int, spurious: int, lost: int) -> None:
        places = self.seen.places
        assert isinstance(places, dict)
        if key not in places:
            places[key] = Place(dict.fromkeys(_SIDE, 0), dict.fromkeys(_SIDE, 0))
        side = places[key].ours if is_ours else places[key].stock
        side["connections"] += 1
        side["rounds"] += rounds
        side["spurious"] += spurious
        side["needed"] += lost


def _times(doubled: int) -> float:
    """Return the time of a round with a loss, in which the timer was doubled `doubled` times, divided by the
    mean time of rounds with a loss."""
    return (2.0 ** min(doubled, 6) * 1.5 - 0.5) / _MEAN_TIMES


def key_of(number: int) -> bytes:
    """Return the key of the simulated destination prefix number `number`, a prefix of length /24."""
    prefix = bytes((10, number >> 8, number & 255, 0))
    return bytes(18) + b"\xff\xff" + prefix + (120).to_bytes(4, "little") + bytes(4)


def count(to: Counts, rounds: int, spurious: int, wait_ms: Sequence[float], is_lowered: bool) -> None:
    """Add a complete connection to the counts `to` of its arm."""
    needed, wait = len(wait_ms), round(_UNITS_PER_MS * sum(wait_ms))
    resent = needed + spurious
    for name, by in {
        "connections": 1,
        "rounds": rounds,
        "rounds_lowered": rounds if is_lowered else 0,
        "timers": resent,
        "resent": resent,
        "needed": needed,
        "spurious": spurious,
        "wait": wait,
        "wait_square": wait**2,
        "needed_square": needed**2,
        "wait_needed": wait * needed,
        "spurious_square": spurious**2,
    }.items():
        to[name] += by
    for times in (1, 4, 16):
        to[f"spurious_{times}"] += spurious >= times
        to[f"resent_{times}"] += resent >= times


def _elements() -> list[list[Counts]]:
    return [[none() for _ in range(ARMS)] for _ in range(EPOCHS)]


def guarded(fleet: Fleet, plan: Plan) -> Guard:
    return Guard(plan, fleet.now_s, fleet.seen)
