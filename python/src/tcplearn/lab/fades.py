# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Adds fades to a run of `tcplearn lab`: random periods in which a hop of the path loses all packets. The
overrun of a fade is the time from its end to the answer to the request that was lost in it."""

import math
import random
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tcplearn.scenario.path import DrawnFades

from .arm import Arm
from .workload import Figures, Left, Lines, Setup, Workload

TIMES = "fades"  # the times in us at which fades began and ended, on the clock that times requests
ON_THE_WAY_US = 1000  # a request written in the last ms of a fade may reach the hop after it

Floats = npt.NDArray[np.float64]


class Fades(Workload):
    count: Annotated[int, Field(ge=1, le=10_000)] = 60  # number of fades, drawn from the seed

    def starts(self, setup: Setup) -> Lines:
        assert setup.drawn_fades
        _, fading, clear = setup.fading
        yield "cat >/tmp/fades <<END"
        for begins, ends in drawn(setup.drawn_fades, self.count, setup.seed):
            yield f"{begins} {fading}"
            yield f"{ends} {clear}"
        yield "END"

    def before(self, setup: Setup, arm: Arm) -> Lines:
        ns, _, _ = setup.fading
        yield f"mkdir -p /out/{arm.folder}"
        pace = f"in_ns {ns} /scenario/transfer pace 0 /tmp/fades /out/{arm.folder}/{TIMES}"
        yield f"({pace} | in_ns {ns} tc -batch -) & fades=$!"

    def after(self, setup: Setup, arm: Arm) -> Lines:
        yield "wait $fades"

    def figures(self, left: Left) -> Figures:
        return figures(left.folder)


def drawn(fades: DrawnFades, count: int, seed: int) -> list[tuple[int, int]]:
    """Draw (beginning, end) of `count` fades, in ms from the start of the transfer, from `seed`."""
    rng = random.Random(f"fades/{seed}")
    shortest_ms, longest_ms = (1000 * s for s in fades.lasts_s)
    out, now_ms = [], 0
    for _ in range(count):
        begins = now_ms + round(1000 * fades.apart_s * rng.uniform(0.5, 1.5))
        now_ms = begins + round(math.exp(rng.uniform(math.log(shortest_ms), math.log(longest_ms))))
        out.append((begins, now_ms))
    return out


def overruns(folder: Path) -> Floats:
    """Return a row for each fade in which a request was lost, from the files in `folder`: the fade's number,
    its length in ms, and the time in ms from its end to the answer to this request."""
    times_us = np.loadtxt(folder / TIMES, dtype=np.int64, ndmin=1)
    took_us, started_us = np.loadtxt(folder / "requests", dtype=np.int64, ndmin=2).T
    answered_us = started_us + took_us
    out = []
    for number, (begins, ends) in enumerate(times_us.reshape(-1, 2)):
        # one request at a time: the first one answered after the fade's end was waiting at its end
        k = int(np.searchsorted(answered_us, ends, side="right"))
        if k < len(started_us) and begins - ON_THE_WAY_US <= started_us[k] <= ends - ON_THE_WAY_US:
            out.append((number, (ends - begins) / 1000, (answered_us[k] - ends) / 1000))
    return np.array(out, float).reshape(-1, 3)


def figures(folder: Path) -> Figures:
    past = overruns(folder)[:, 2]
    yield "fades", float(len(past))
    if len(past):
        yield "mean_overrun_ms", float(past.mean())
        yield "median_overrun_ms", float(np.median(past))
