# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes traces of requests for bench/retry_latency.py. A trace has the time of each request, and determines
for each transmission of a request whether it is lost, and otherwise the latency of the answer. Some traces
use recorded RTTs; the others are generated from seeds."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

#: The number of transmissions of a request with their own random draws; further ones use these draws again.
COPIES = 4
#: The number of periods of a generated trace; the tables of levels, pauses and loss have a value for each.
STEPS = 20_000
#: The length of a period in traces of recorded latencies.
RECORDED_STEP_US = 500.0


@dataclass
class Trace:
    """Holds the requests of a trace in order. Times and latencies are in us. The lists `level_us`, `pause_us`
    and `loss` have a value for each period of `step_us`. Transmission `copy` of `request` is lost if the
    random number `luck[copy][request]` is below the `loss` of its period. Otherwise the latency of its answer
    is the period's `level_us` times `noise[copy][request]`. If `pause_us`, the end of a pause of the server,
    is later than the transmission, the latency counts from there."""

    name: str
    start_us: list[int]
    step_us: float
    level_us: list[float]
    pause_us: list[float]
    loss: list[float]
    noise: list[list[float]]
    luck: list[list[float]]
    generated: bool = True

    def latency_us(self, request: int, copy: int, at_us: int) -> int:
        """Return the latency of the answer to transmission `copy` of `request`, sent at `at_us`, or 0 if the
        transmission or its answer is lost."""
        row = min(int(at_us / self.step_us), len(self.level_us) - 1)
        if self.luck[copy % COPIES][request] < self.loss[row]:
            return 0
        wait = max(self.pause_us[row] - at_us, 0)
        level = self.level_us[row]
        if not self.generated and row + 1 < len(self.level_us):
            level += (self.level_us[row + 1] - level) * (at_us / self.step_us - row)
        return max(int(wait + level * self.noise[copy % COPIES][request]), 1)


Table = np.ndarray


def _two(dice: np.random.Generator, shape: tuple[int, int]) -> Table:
    """Returns the noise of a service that answers nine requests in ten from a cache."""
    return np.where(dice.random(shape) < 0.9, 1.0, 6.0) * np.exp(0.15 * dice.standard_normal(shape))


NOISES = {
    "narrow": lambda dice, shape: np.exp(0.03 * dice.standard_normal(shape)),
    "wide": lambda dice, shape: np.exp(0.4 * dice.standard_normal(shape)),
    "pareto": lambda dice, shape: 1 + 0.3 * dice.pareto(1.7, shape),
    "two": _two,
    "gamma": lambda dice, shape: 0.6 + dice.gamma(2.0, 0.2, shape),
}


def _noisy(dice: np.random.Generator) -> Table:
    """Returns a random course of the median latency: a factor for each of `STEPS` periods, of which
    consecutive ones are correlated."""
    x = np.zeros(STEPS)
    steps = dice.standard_normal(STEPS)
    for k in range(1, STEPS):
        x[k] = 0.995 * x[k - 1] + 0.1 * steps[k]
    return np.exp(0.35 * x)


_TIMES = np.linspace(0, 1, STEPS)
#: The course of the median latency; "queue" is that of a queue that fills and empties.
LEVELS = {
    "flat": lambda dice: np.ones(STEPS),
    "steps": lambda dice: np.repeat(np.exp(dice.uniform(-1, 1, 10)), STEPS // 10),
    "drift": lambda dice: np.exp(np.cumsum(dice.standard_normal(STEPS)) * 0.6 / np.sqrt(STEPS)),
    "queue": lambda dice: 1 + 1.5 * ((_TIMES * 40 + dice.random()) % 1.0) ** 2,
    "noisy": _noisy,
    "day": lambda dice: 1 + 0.8 * np.sin(2 * np.pi * _TIMES * 3),
}


def _pauses(dice: np.random.Generator, step_us: float, count: int, length_us: tuple[float, float]) -> Table:
    until = np.zeros(STEPS)
    for _ in range(count):
        begin = int(dice.integers(STEPS))
        end_us = begin * step_us + dice.uniform(*length_us)
        rows = slice(begin, int(end_us / step_us) + 1)
        until[rows] = np.maximum(until[rows], end_us)
    return until


def _losses(dice: np.random.Generator, share: float, bursts: int) -> Table:
    loss = np.full(STEPS, share)
    for _ in range(bursts):
        begin = int(dice.integers(STEPS))
        loss[begin : begin + int(dice.integers(4, 40))] = 0.7
    return loss


@dataclass(frozen=True)
class Made:
    """Describes a generated trace of requests: median latency, requests per second (`rate`), noise (a key of
    `NOISES`), course of the median latency (`level`, a key of `LEVELS`), share of lost transmissions, share
    of stragglers (answers that take ten times as long), number of pauses of the server, and number of
    `bursts` in which more transmissions are lost."""

    name: str
    level_ms: float
    rate: float
    noise: str
    level: str = "flat"
    loss: float = 0.0
    stragglers: float = 0.0
    pauses: int = 0
    bursts: int = 0

    def trace(self, seed: int, requests: int) -> Trace:
        dice = np.random.default_rng(seed)
        start = np.cumsum(dice.exponential(1e6 / self.rate, requests))
        step_us = float(start[-1]) / (STEPS - 1)
        shape = (COPIES, requests)
        noise = NOISES[self.noise](dice, shape)
        noise = np.where(dice.random(shape) < self.stragglers, 10 * noise, noise)
        pause_us = (50e3 * self.level_ms**0.5, 300e3 * self.level_ms**0.5)
        return Trace(
            self.name,
            start.astype(np.int64).tolist(),
            step_us,
            (1000 * self.level_ms * LEVELS[self.level](dice)).tolist(),
            _pauses(dice, step_us, self.pauses, pause_us).tolist(),
            _losses(dice, self.loss, self.bursts).tolist(),
            noise.tolist(),
            dice.random(shape).tolist(),
        )


MADE = (
    Made("resolver", 20, 20, "narrow", loss=0.01),
    Made("resolver, stragglers", 20, 20, "gamma", loss=0.005, stragglers=0.02),
    Made("local calls", 1.5, 400, "wide", stragglers=0.01),
    Made("local calls, pauses", 2, 300, "gamma", stragglers=0.005, pauses=40),
    Made("heavy tail", 10, 50, "pareto", loss=0.002),
    Made("heavy tail, drift", 40, 40, "pareto", "drift", loss=0.005),
    Made("cache", 4, 200, "two", loss=0.003),
    Made("steps", 30, 30, "gamma", "steps", loss=0.01),
    Made("steps, wide", 15, 60, "wide", "steps", loss=0.005, stragglers=0.01),
    Made("drift", 60, 20, "narrow", "drift", loss=0.01),
    Made("queue", 40, 50, "narrow", "queue", loss=0.01),
    Made("noisy", 50, 30, "narrow", "noisy", loss=0.02),
    Made("noisy, slow", 80, 2, "gamma", "noisy", loss=0.01),
    Made("day", 25, 40, "gamma", "day", loss=0.003, stragglers=0.005),
    Made("bursts of loss", 35, 30, "gamma", loss=0.002, bursts=60),
    Made("radio", 70, 10, "wide", "noisy", loss=0.02, bursts=20),
    Made("far", 180, 8, "narrow", loss=0.03),
    Made("rare", 30, 0.5, "gamma", loss=0.02),
    Made("busy", 50, 300, "gamma", "noisy", loss=0.01),
    Made("no loss", 12, 80, "gamma", "drift"),
)


def recorded(folder: Path, requests: int) -> list[Trace]:
    """Return a trace of `requests` requests for each file `folder`/*.csv with the columns t_s and rtt_ms. The
    latencies follow the recorded RTTs, with gaps between them shortened to 2 s. Between two recorded requests
    the latency is interpolated, so that during a pause all transmissions are answered at its end, to within
    the recorded jitter. If a file has enough of them, the requests are sent at its times; otherwise at random
    times, over RTTs that are repeated as often as needed."""
    out = []
    for n, path in enumerate(sorted(folder.glob("*.csv"))):
        with path.open() as f:
            rows = [(float(r["t_s"]), float(r["rtt_ms"])) for r in csv.DictReader(f)]
        times = np.cumsum([0.0, *(min(b[0] - a[0], 2.0) for a, b in pairwise(rows))])
        rtts = np.array([r[1] for r in rows])
        dice = np.random.default_rng(1000 + n)
        gaps = np.clip(dice.exponential(0.1, requests), 0.02, 1.0)
        start = times[1 : requests + 1] if len(times) > requests else np.cumsum(gaps)
        steps = int(1e6 * start[-1] / RECORDED_STEP_US) + 2
        within = RECORDED_STEP_US / 1e6 * np.arange(steps) % max(times[-1], 1.0)
        level = np.interp(within, times, rtts)
        shape = (COPIES, requests)
        out.append(
            Trace(
                f"recorded: {path.stem}",
                (1e6 * start).astype(np.int64).tolist(),
                RECORDED_STEP_US,
                (1000 * level).tolist(),
                [0.0] * steps,
                [0.01] * steps,
                np.ones(shape).tolist(),
                dice.random(shape).tolist(),
                generated=False,
            )
        )
    return out


def traces(half: str, requests: int, folder: Path | None) -> list[Trace]:
    """Return the traces of one half, "tuning" or "judged". Generated traces have different seeds in the two
    halves. The recorded series in `folder` are divided between the halves (None: there are none)."""
    first = 0 if half == "tuning" else 1
    made = [m.trace(2 * k + first, requests) for k, m in enumerate(MADE)]
    return made + (recorded(folder, requests)[first::2] if folder else [])
