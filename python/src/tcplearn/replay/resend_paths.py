# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Use recorded RTTs as a path for requests of one segment, and simulate losses on the path. In a fade, which
lasts up to some seconds, the path loses all or most packets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcplearn.errors import UserError, did_you_mean, printable
from tcplearn.traces import TraceOptions, open_trace

Ints = NDArray[np.int64]
LEAST_SAMPLES = 100  # samples that a flow needs to be used as a path
_GAP_US = 2_000_000  # longer gaps between samples are shortened to this, or to twenty median steps if more
#: If the median step between samples exceeds _COARSE_US, it is shortened to _COARSE_STEP_US.
_COARSE_US, _COARSE_STEP_US = 2_000_000, 500_000

PROCESSES = {
    "none": "nothing is lost",
    "iid0.1": "0.1 % at random",
    "iid1": "1 % at random",
    "iid3": "3 % at random",
    "fade_short": "fades of 50 to 500 ms, 15 s apart on average, that lose 90 %; 0.1 % at random",
    "fade_long": "fades of 0.2 to 2 s, 30 s apart, that lose 90 %; 0.3 % at random",
    "outage": "outages of 0.3 to 8 s, 60 s apart; 0.1 % at random",
    "overflow": "10 % where the RTT is in its upper 8 %; 0.1 % at random",
}
_FADES = {  # mean gap, shortest and longest fade in ms; share lost in a fade; share lost at random
    "fade_short": (15e3, 50, 500, 0.9, 0.001),
    "fade_long": (30e3, 200, 2000, 0.9, 0.003),
    "outage": (60e3, 300, 8000, 1.0, 0.001),
}


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded series of RTTs. Its times increase from 0."""

    source: str
    flow: str
    time_us: Ints
    rtt_us: Ints


@dataclass(frozen=True, slots=True)
class Losses:
    fade_begin_us: Ints
    fade_end_us: Ints
    in_fade: float
    anywhere: float
    in_queue: float
    queue_us: int


def processes(text: str) -> tuple[str, ...]:
    """Return the loss processes named in `text`, separated by commas; all if it is empty. Raise UserError."""
    names = tuple(dict.fromkeys(filter(None, (part.strip() for part in text.split(",")))))
    for name in names:
        if name not in PROCESSES:
            hint = did_you_mean(name, PROCESSES, "there are " + ", ".join(PROCESSES))
            raise UserError(f"no process of losses '{name}'; {hint}")
    return names or tuple(PROCESSES)


def records(path: Path, options: TraceOptions, flow: str) -> Iterator[Record]:
    """Yield the RTTs of each flow with `flow` in its name and at least `LEAST_SAMPLES` samples. Memory holds
    only the times and RTTs of flows."""
    trace = open_trace(path, options=options)
    held: dict[int, list[Any]] = {}
    for batch in trace.batches():
        for number in np.unique(batch["flow"]).tolist():
            mine = (batch["flow"] == number) & (batch["rtt_us"] > 0)
            held.setdefault(number, []).append((batch["time_us"][mine], batch["rtt_us"][mine]))
        for ended in batch["ended"].tolist():
            info, parts = trace.flow(ended), held.pop(ended, [])
            trace.release(ended)
            count = sum(len(times) for times, _ in parts)
            if info["chosen"] and flow in info["name"] and count >= LEAST_SAMPLES:
                times, rtts = (np.concatenate(column) for column in zip(*parts, strict=True))
                yield _record(printable(path), info["name"], times, rtts)


def _record(source: str, flow: str, times: Any, rtts: Any) -> Record:
    order = np.argsort(times, kind="stable")
    steps = np.diff(times[order].astype(np.float64))
    middle = float(np.median(steps))
    steps = np.minimum(steps, max(20 * middle, _GAP_US))
    if middle > _COARSE_US:
        steps *= _COARSE_STEP_US / middle
    elapsed = np.concatenate([[0.0], np.cumsum(steps)])
    return Record(source, flow, np.rint(elapsed).astype(np.int64), rtts[order].astype(np.int64))


def wanted(count: int, seed: int) -> Ints:
    """Return the start times of `count` requests in us. The pauses between them are exponential with mean
    500 ms, clipped to 100 ms to 2 s."""
    pauses = np.clip(np.random.default_rng(100 + seed).exponential(500.0, count), 100, 2000)
    return np.rint(1000 * np.cumsum(pauses)).astype(np.int64)


def losses(name: str, record: Record, length_us: int, seed: int) -> Losses:
    dice = np.random.default_rng(200 + seed)
    none = np.zeros(0, np.int64)
    if name in _FADES:
        gap, low, high, inside, anywhere = _FADES[name]
        begin = np.cumsum(dice.exponential(gap, int(3 * length_us / 1000 / gap) + 20))
        end = begin + np.exp(dice.uniform(math.log(low), math.log(high), len(begin)))
        # a fade that would begin within an earlier fade begins at its end
        begin = np.maximum(begin, np.concatenate([[0.0], np.maximum.accumulate(end)[:-1]]))
        real = end > begin
        found = [np.rint(1000 * edge[real]).astype(np.int64) for edge in (begin, end)]
        return Losses(found[0], found[1], inside, anywhere, 0.0, 1 << 62)
    if name == "overflow":
        return Losses(none, none, 0.0, 0.001, 0.1, int(np.percentile(record.rtt_us, 92)))
    share = float(name[3:]) / 100 if name.startswith("iid") else 0.0
    return Losses(none, none, 0.0, share, 0.0, 1 << 62)
