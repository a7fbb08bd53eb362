# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures on a real kernel a first RTO (for SYN and SYN-ACK) that a trained model predicts, and compares it
with Linux's 1 s and with constants. Connections to many destination prefixes lose SYNs and SYN-ACKs."""

import functools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.batches import Batch, Work
from experiments.lib.runs import Floats, Identity, Run
from experiments.lib.statistics import interval, ratio_drawn
from tcplearn.lab import first_rto
from tcplearn.lab.first_rto import TICKS_PER_SECOND, Network, Place, Trial
from tcplearn.lab.handshake_waits import Connection
from tcplearn.learn.export import shipped_rtt
from tcplearn.learn.rtt.model import packed

#: Seed, destination prefixes, connections to each, losses, jitter; the shipped model was trained on seed 1.
SEED, PLACES, COUNT, LOSS_PERCENT, JITTER = 3, 40, 50, 10.0, 0.05
#: Constant first RTOs: `SAFE_US` is above all drawn RTTs; `WRONG_US` is that of a model of a faster network.
SAFE_US, WRONG_US = 350_000, 20_000
RESAMPLES = 2000
STOCK, BEST, BEST_AT_BOTH = "stock, 1 s", "best constant of the training", "best constant at both ends"
KNOWN, KNOWN_AT_BOTH = "model, known places", "model at both ends, known places"
UNSEEN, UNSEEN_AT_BOTH = "model, unseen places", "model at both ends, unseen places"
#: The trial of a constant first RTO with which each trial of the model is compared.
BESIDE = {KNOWN_AT_BOTH: BEST_AT_BOTH, UNSEEN_AT_BOTH: BEST_AT_BOTH, KNOWN: BEST, UNSEEN: BEST}


def trials(*, small: bool = False) -> list[Trial]:
    model = shipped_rtt()[1]
    best = model.steps["nothing"] or {}

    def constant(us: float, age: int | None = 0) -> bytes:
        steps = dict.fromkeys(model.steps) | {"nothing": {"constant_us": us}}
        changed = replace(model, steps=steps, max_age_us=model.max_age_us if age is None else age)
        return packed(changed, TICKS_PER_SECOND)

    known, wrong = packed(model, TICKS_PER_SECOND), constant(WRONG_US, None)
    trained, safe = constant(best["constant_us"]), constant(SAFE_US)
    every = [
        Trial(STOCK),
        Trial(BEST, trained),
        Trial("constant of 350 ms", safe),
        Trial(KNOWN, known),
        Trial(UNSEEN, known, fresh=True),
        Trial("model of another network (20 ms)", wrong),
        Trial(BEST_AT_BOTH, trained, trained),
        Trial("350 ms at both ends", safe, safe),
        Trial(KNOWN_AT_BOTH, known, known),
        Trial(UNSEEN_AT_BOTH, known, known, fresh=True),
        Trial("model of another network at both ends", wrong, wrong),
        Trial("model at the server alone, known places", None, known),
    ]
    return [trial for trial in every if not small or trial.name in (STOCK, KNOWN_AT_BOTH)]


def network(*, small: bool = False) -> Network:
    draw = random.Random(SEED)
    rtts_ms = [round(2 * 150 ** draw.random(), 3) for _ in range(3 if small else PLACES)]
    places = tuple(Place(rtt, round(rtt / 2 * JITTER, 3)) for rtt in rtts_ms)
    return Network(places, LOSS_PERCENT, 24 if small else COUNT, SEED)


@dataclass(frozen=True)
class Trials:
    """A batch of runs, one for each trial of a first RTO (a constant, or predicted by a model)."""

    profile: str

    @property
    def name(self) -> str:
        return f"first-rto/{self.profile}"

    @property
    def _small(self) -> bool:
        return self.profile == "smoke"

    def _empty(self, trial: str, **more: Any) -> Run:
        return Run("lab", "first-rto", self.profile, trial, 0, SEED, **more)

    def planned(self) -> list[Identity]:
        return [self._empty(trial.name).identity for trial in trials(small=self._small)]

    def has(self, run: Run) -> bool:
        return (run.host, run.scenario, run.profile) == ("lab", "first-rto", self.profile)

    def done(self, wanted: Sequence[Identity], work: Work, failures: list[str]) -> Iterator[Run]:
        import tcplearn
        from tcplearn import provenance
        from tcplearn.lab import machine

        names = [algorithm for _, _, _, algorithm, *_ in wanted]
        chosen = [trial for trial in trials(small=self._small) if trial.name in names]
        of, ready = network(small=self._small), machine.prepare(machine.cache_folder(), True)
        cache = work.cache / "lab" if work.cache else None
        found = first_rto.run(of, chosen, work.place, cache, work.progress, work.say)
        parameters = {"places": len(of.places), "count": of.count, "loss_percent": of.loss_percent}
        made = {"commit": provenance.commit(), "version": tcplearn.__version__}
        made |= {"host_version": ready.kernel, "code": ready.fingerprint}
        for name, connections in found.items():
            metrics, series = kept(connections)
            yield self._empty(name, parameters=parameters, metrics=metrics, series=series, **made)


def kept(connections: Sequence[Connection]) -> tuple[dict[str, float], dict[str, Floats]]:
    """Returns counts of the `connections`, their SYNs and SYN-ACKs, and two series in us: `wait_us` has the
    wait for retransmission timers of each connection that lost a SYN or SYN-ACK, and `answered_us` the times
    from the end of the handshake to the first response."""
    counts = {
        "connections": float(len(connections)),
        "syns": float(sum(len(c.syns) for c in connections)),
        "answers": float(sum(len(c.answers) for c in connections)),
        "spurious_syns": float(sum(c.spurious_syns for c in connections)),
        "unanswered_syns": float(sum(c.unanswered_syns for c in connections)),
        "spurious_answers": float(sum(c.spurious_answers for c in connections)),
    }
    return counts, {
        "wait_us": np.array([c.wait_us for c in connections if c.lost], float),
        "answered_us": np.array([c.answered_us for c in connections if c.answered_us >= 0], float),
    }


def batches(folder: Path, profile: str) -> list[Batch]:
    return [Trials(profile or "full")]


def _beside(ours: Run, base: Run) -> list[str]:
    """Returns, as text, the mean of the handshake waits of `ours` in ms and its ratio to that of `base`, then
    the 99th percentile and its ratio. A ratio has its 95 % interval; it is "" if both are the same run.
    Returns dashes if a run has no waits."""
    waits, others = (run.series["wait_us"] / 1000 for run in (ours, base))
    if not (len(waits) and len(others)):
        return ["–"] * 4
    out = []
    for figure in (np.mean, functools.partial(np.percentile, q=99)):
        value, drawn = ratio_drawn(waits, others, SEED, RESAMPLES, figure)
        ratio = "" if ours is base else "{:.2f} [{:.2f}, {:.2f}]".format(value, *interval(drawn))
        out += [f"{figure(waits):.0f}", ratio]
    return out


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    found = {run.algorithm: run for run in runs}
    if STOCK not in found:
        return {}
    return {
        "trials": found,
        "waits": {name: _beside(run, found[STOCK]) for name, run in found.items()},
        "answered": {name: np.percentile(run.series["answered_us"], 99) for name, run in found.items()},
        "beside": [
            [name, of, *_beside(found[name], found[of])[1::2]]
            for name, of in BESIDE.items()
            if name in found and of in found
        ],
        "jitter": f"{100 * JITTER:.0f}",
        "resamples": f"{RESAMPLES:,}",
        **found[STOCK].parameters,
    }
