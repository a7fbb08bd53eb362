# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads the golden vectors of every kind as vectors/README.md describes them, and runs them on Python's
classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from samples import ROOT
from tcplearn import _native, algorithms

VECTORS = ROOT / "vectors"
Numbers = Sequence[float]
Event = tuple[str, tuple[int, ...]]
#: Plays an event: its answer, None where it has none.
Player = Callable[[str, tuple[int, ...]], Numbers | None]
Q8, Q30 = 2**8, 2**30
NO_TRUTH = 2


def estimator(name: str, arithmetic: str, params: dict[str, float]) -> Player:
    state = _native.Estimator(name, arithmetic, params)

    def play(word: str, n: tuple[int, ...]) -> Numbers:
        if word == "sample":
            state.update(n[2], n[0], n[1], n[3], n[4], n[5], n[6])
        return state.rtt_us * Q8, state.rto_us * Q8

    return play


def loss(name: str, arithmetic: str, params: dict[str, float], features: bool = False) -> Player:
    state = _native.LossClassifier(name, arithmetic, params)
    said = [0]

    def play(word: str, n: tuple[int, ...]) -> Numbers | None:
        if word == "ack":
            state.observe(n[0], n[1], n[2], bool(n[3]))
        elif word == "change":
            state.change(n[0], n[2], n[4], n[5] if n[5] < 2 else said[0], n[1], n[3])
        elif word == "decide":
            found = [float(x) * Q30 for x in state.features(*n[:4])]
            probability, said[0] = state.decide(*n)
            return found if features else (said[0], probability * Q30)
        return None

    return play


def startup(name: str, arithmetic: str, params: dict[str, float]) -> Player:
    state = _native.StartupPolicy(name, params)

    def play(word: str, n: tuple[int, ...]) -> Numbers | None:
        if word == "handshake":
            return state.handshake(*n)
        if word == "report":
            state.report(*n)
        return None

    return play


def resend(name: str, arithmetic: str, params: dict[str, float]) -> Player:
    state = _native.ResendPolicy(name, arithmetic, params)

    def play(word: str, n: tuple[int, ...]) -> Numbers | None:
        return getattr(state, word)(*n) if word else None

    return play


def first_rto(name: str, arithmetic: str, params: dict[str, float]) -> Player:
    places = [_native.FirstRtoPlace(name, params) for _ in range(4)]

    def play(word: str, n: tuple[int, ...]) -> Numbers | None:
        if word == "query":
            return (places[n[0]].rto_us(places[n[1]], n[2], n[3], bool(n[4])),)
        if word:
            getattr(places[n[0]], word)(*n[1:])
        return None

    return play


#: By the folder of the answers; the units of fixed point in which a player answers.
PLAYERS: dict[tuple[str, str], tuple[Callable[[str, str, dict[str, float]], Player], tuple[int, ...]]] = {
    ("estimator", "expected"): (estimator, (Q8, Q8)),
    ("loss", "features"): (partial(loss, features=True), (Q30,) * 64),
    ("loss", "expected"): (loss, (1, Q30)),
    ("startup", "expected"): (startup, (1, 1)),
    ("resend", "expected"): (resend, (1, 1)),
    ("first-rto", "expected"): (first_rto, (1,)),
}


@cache
def _series(path: Path) -> tuple[list[int], list[tuple[str, tuple[int, ...]]]]:
    """Return the repetitions in the first line, and the word and the numbers of each further line."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    repeat = [int(n) for n in lines.pop(0)[1:]] if lines[0][0] == "repeat" else [1, 0, 1]
    return repeat, [(word, tuple(map(int, numbers))) for word, *numbers in lines]


def events(path: Path) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Yield the word and the numbers of each event, and whether an answer is expected after it. The first
    item has an empty word and stands for the state before any event."""
    yield "", (), True
    (rounds, period_us, every), lines = _series(path)
    count = 0
    for k in range(rounds):
        for word, n in lines:
            if k:
                n = (n[0] + k * period_us, n[1] + k * period_us, *n[2:])
            count += 1
            yield word, n, count % every == 0


def replay(kind: str, folder: str, name: str, arithmetic: str) -> Iterator[tuple[str, Numbers, Numbers]]:
    """Yield for each answer of an algorithm its case, the numbers found, and the numbers expected."""
    make, units = PLAYERS[kind, folder]
    text = (VECTORS / kind / folder / f"{name.replace('/', '--')}.csv").read_text()
    for part in text.split("case,")[1:]:
        head, *lines = part.splitlines()
        series, _, parameters = head.partition(",")
        spec = algorithms.parse(kind, name + (f":{parameters}" if parameters else ""))
        player = make(spec.name, arithmetic, dict(spec.params))
        expected = iter(lines)
        for word, numbers, asked in events(VECTORS / kind / "series" / f"{series}.csv"):
            found = player(word, numbers)
            if found is not None and asked:
                yield head, found, _expected(next(expected), len(found), units, arithmetic)
        assert next(expected, None) is None, f"{kind} {name}: {head}: too many answers"


def _expected(line: str, count: int, units: Sequence[int], arithmetic: str) -> list[float]:
    numbers: list[Any] = line.split(",")
    if arithmetic == "fixed":
        return [int(n) for n in numbers[:count]]
    reals = numbers[count:] or numbers[:count]
    return [float(n) * unit for n, unit in zip(reals, units, strict=False)]
