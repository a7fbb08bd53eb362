# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulate connections as counts of rounds (round trips), losses and spurious retransmissions, like those of
the BPF program (linux/bpf/live_arms.h), to test the guard on them. A floor is a learned minimum RTO; a lossy
round has a loss that needs a retransmission by timer."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .arms import ARMS, CONTROL, EPOCHS, OURS, STOPPED, WHOLE, Counts, Place, Seen, none
from .guard import Guard, Plan

#: The counts that the BPF program has for each destination prefix.
_SIDE = ("connections", "rounds", "resent", "needed", "spurious", "wait")
_UNITS_PER_MS = 10  # of the times that the BPF program counts
_MEAN_TIMES = 1.1875  # the mean of the numerator in _times(), so that the mean of _times() is 1
_EARLY = 32  # TL_LIVE_EARLY_ROUNDS
_AGAIN = 0.1  # probability that a retransmission is lost too, after which the wait is doubled


@dataclass(frozen=True)
class Path:
    """The probabilities of losses and spurious retransmissions in the round trips of simulated connections,
    and the time of a round trip with a loss. In a pair, the first value is for the kernel's minimum RTO, the
    second for a learned one."""

    loss: float = 0.0  # probability of a round with a loss that only the timer repairs
    spurious: tuple[float, float] = (0.0, 0.0)  # probability in a round
    wait_ms: tuple[float, float] = (230.0, 60.0)  # mean time of a round with a loss
    rounds: float = 20.0  # mean number in a connection; the distribution is geometric
    #: How much the path's connections differ: both probabilities are multiplied by a gamma variable of mean 1
    #: and this variance.
    unlike: float = 1.0
    is_recognised: bool = True  # False: it is not known which retransmissions were spurious


@dataclass
class Connection:
    """A simulated connection: its path, its arm (group), and its counts so far."""

    path: Path
    key: bytes  # of its destination prefix
    arm: int
    counts: Counts  # those of its arm, to which it adds its own
    left: int  # rounds to come
    much: float  # by which the path's probabilities are multiplied
    rounds: int = 0
    early: int = 0  # the number of its first rounds, at most `_EARLY`, up to one with a retransmission
    is_early: bool = False  # whether that round with a retransmission is among them
    spurious: int = 0
    wait_ms: list[float] = field(default_factory=list)


@dataclass
class Effect:
    """What learned minimum RTOs (floors) did to simulated connections, and what they would have done to all
    connections."""

    saved_ms: float = 0.0  # waiting
    could_save_ms: float = 0.0
    harm: int = 0  # spurious retransmissions, less those of the same rounds without floors
    could_harm: float = 0.0  # the expected number

    def __add__(self, other: Effect) -> Effect:
        return Effect(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


@dataclass
class Fleet:
    """Simulated connections to random destination prefixes, and their counts. At any time `at_once`
    connections are open. They take turns of `turn` rounds (round trips) each; if only one is open, it has all
    its rounds in one turn."""

    paths: Sequence[Path]  # of each destination prefix
    seed: int
    rounds_per_s: float = 50.0
    at_once: int = 1
    turn: int = 5
    look_every_s: float = 2.0
    rounds: int = 0
    now_s: float = 0.0
    effects: dict[Path, Effect] = field(default_factory=lambda: defaultdict(Effect))
    seen: Seen = field(default_factory=lambda: Seen(_elements(), {}))

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng(self.seed)
        self._looked_s = 0.0
        self._open: deque[Connection] = deque()

    def play(self, rounds: int, guard: Guard | None = None) -> Fleet:
        """Simulate connections until they have `rounds` rounds (round trips) in all, and return this object.
        `guard` decides which connections get learned minimum RTOs; without it, all do."""
        stopped: set[bytes] = set()
        while self.rounds < rounds:
            if guard and self.now_s - self._looked_s >= self.look_every_s:
                guard.look(self.now_s, self.seen)
                stopped = set(guard.places.stopped(self.now_s))
                self._looked_s = self.now_s
            while len(self._open) < self.at_once:
                at = int(self._draw.integers(len(self.paths)))
                key = key_of(at)
                ours = guard is None or self._draw.random() * WHOLE < guard.share
                arm = STOPPED if key in stopped else OURS if ours else CONTROL
                self._open.append(
                    self.connect(self.paths[at], arm, guard.epoch % EPOCHS if guard else 0, key)
                )
            connection = self._open.popleft()
            self.advance(connection, self.turn if self.at_once > 1 else connection.left)
            if connection.left:
                self._open.append(connection)
        return self

    def connect(self, path: Path, arm: int, epoch: int = 0, key: bytes = b"") -> Connection:
        """Return a new connection over `path` to the destination prefix `key`. `arm` and `epoch` (a group of
        connections and a time) select the counts to which it adds its own."""
        rounds = int(self._draw.geometric(1 / path.rounds))
        much = self._draw.gamma(1 / path.unlike, path.unlike) if path.unlike else 1.0
        return Connection(path, key, arm, self.seen.arms[epoch][arm], rounds, much)

    def advance(self, of: Connection, most: int) -> None:
        """Simulate the next round trips of the connection `of`, at most `most`, and count them."""
        draw, path, is_ours, rounds = self._draw, of.path, of.arm == OURS, min(most, of.left)
        lost = int(draw.binomial(rounds, min(1.0, path.loss * of.much)))
        spurious = int(draw.binomial(rounds, min(1.0, path.spurious[is_ours] * of.much)))
        again = draw.geometric(1 - _AGAIN, lost) - 1
        before, had = self._counted(of), dict(of.counts)
        if not of.spurious and not of.wait_ms:
            of.early, of.is_early = _early(of.early, rounds, lost + spurious)
        of.left -= rounds
        of.rounds += rounds
        of.spurious += spurious
        of.wait_ms += (path.wait_ms[is_ours] * _times(again)).tolist()
        for name, number in self._counted(of).items():
            of.counts[name] += number - before[name]
        saved_ms = lost * (path.wait_ms[0] - path.wait_ms[1])
        effect = self.effects[path]
        effect.could_save_ms += saved_ms
        effect.could_harm += rounds * of.much * (path.spurious[1] - path.spurious[0])
        if is_ours:
            effect.saved_ms += saved_ms
            effect.harm += spurious - int(draw.binomial(rounds, min(1.0, path.spurious[0] * of.much)))
        self.rounds += rounds
        self.now_s += rounds / self.rounds_per_s
        if of.key:
            self._place(of, is_ours, rounds, {name: of.counts[name] - had[name] for name in _SIDE[2:]})

    @staticmethod
    def _counted(of: Connection) -> Counts:
        """Return what the connection `of` adds to the counts of its group so far."""
        counts = _sums(of.rounds, (of.early, of.is_early), of.spurious, of.wait_ms, of.arm == OURS)
        hidden = {name: 0 for name in counts if name.startswith("spurious") and not of.path.is_recognised}
        return counts | hidden

    def _place(self, of: Connection, is_ours: bool, rounds: int, more: Counts) -> None:
        places = self.seen.places
        assert isinstance(places, dict)
        if of.key not in places:
            places[of.key] = Place(dict.fromkeys(_SIDE, 0), dict.fromkeys(_SIDE, 0))
        side = places[of.key].ours if is_ours else places[of.key].stock
        side["connections"] += rounds == of.rounds
        side["rounds"] += rounds
        for name, number in more.items():
            side[name] += number


def _times(doubled: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the times of round trips with a loss in which the timer was doubled `doubled` times, divided by
    the mean time of all round trips with a loss."""
    return (2.0 ** np.minimum(doubled, 6) * 1.5 - 0.5) / _MEAN_TIMES


def lossy_counts(path: Path, connections: int, is_ours: bool, draw: np.random.Generator) -> Counts:
    """Return the counts of `connections` complete connections over `path`, which all have learned minimum
    RTOs (`is_ours`) or none. Only the counts of round trips with a loss are simulated; the others are 0. As
    the connections are simulated all at once, this is much faster than Fleet."""
    rounds = draw.geometric(1 / path.rounds, connections)
    much = draw.gamma(1 / path.unlike, path.unlike, connections) if path.unlike else 1.0
    needed = draw.binomial(rounds, np.minimum(1.0, path.loss * much))
    wait_ms = path.wait_ms[is_ours] * _times(draw.geometric(1 - _AGAIN, needed.sum()) - 1)
    needed = needed[needed > 0]
    ends = np.cumsum(needed)
    whole_ms = np.concatenate(([0.0], np.cumsum(wait_ms)))
    wait = np.rint(_UNITS_PER_MS * (whole_ms[ends] - whole_ms[ends - needed])).astype(np.int64)
    return none() | {
        "needed": int(needed.sum()),
        "wait": int(wait.sum()),
        "needed_square": int((needed**2).sum()),
        "wait_square": int((wait**2).sum()),
        "wait_needed": int((wait * needed).sum()),
    }


def key_of(number: int) -> bytes:
    """Return the BPF map key of the simulated destination prefix (a /24) number `number`."""
    prefix = bytes((10, number >> 8, number & 255, 0))
    return bytes(18) + b"\xff\xff" + prefix + (120).to_bytes(4, "little") + bytes(4)


def count(to: Counts, rounds: int, spurious: int, wait_ms: Sequence[float], is_lowered: bool) -> None:
    """Add to the counts `to` a complete connection with `rounds` round trips and `spurious` spurious
    retransmissions. Lossy rounds (round trips in which a loss needed a retransmission by timer) took
    `wait_ms`; `is_lowered` says whether the connection had a learned minimum RTO (floor)."""
    early = _early(0, rounds, spurious + len(wait_ms))
    for name, number in _sums(rounds, early, spurious, wait_ms, is_lowered).items():
        to[name] += number


def _early(had: int, rounds: int, resent: int) -> tuple[int, bool]:
    """Return the number of a connection's early round trips, and whether one of them has a retransmission.
    Early are the first `_EARLY` round trips, but none after the first one with a retransmission. The
    connection has had `had` round trips without a retransmission. Of the next `rounds`, `resent` have one, at
    random places; the mean place of the first is taken."""
    first = had + (max(1, round((rounds + 1) / (resent + 1))) if resent else rounds)
    return min(first, _EARLY), resent > 0 and first <= _EARLY


def _sums(
    rounds: int, early: tuple[int, bool], spurious: int, wait_ms: Sequence[float], is_lowered: bool
) -> Counts:
    """Return, by name, what a connection with `rounds` round trips so far adds to the counts of its group.
    `early` is the result of _early(). The other arguments are those of count()."""
    needed, wait = len(wait_ms), round(_UNITS_PER_MS * sum(wait_ms))
    resent = needed + spurious
    return {
        "connections": int(rounds > 0),
        "rounds": rounds,
        "rounds_lowered": rounds if is_lowered else 0,
        "rounds_early": early[0],
        "resent_early": int(early[1]),
        "timers": resent,
        "resent": resent,
        "needed": needed,
        "spurious": spurious,
        "wait": wait,
        "wait_square": wait**2,
        "needed_square": needed**2,
        "wait_needed": wait * needed,
        "spurious_square": spurious**2,
        **{f"spurious_{times}": int(spurious >= times) for times in (1, 4, 16)},
        **{f"resent_{times}": int(resent >= times) for times in (1, 4, 16)},
    }


def _elements() -> list[list[Counts]]:
    return [[none() for _ in range(ARMS)] for _ in range(EPOCHS)]


def guarded(fleet: Fleet, plan: Plan) -> Guard:
    return Guard(plan, fleet.now_s, fleet.seen)
