# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Captures lab runs under unchanged Linux (`stock`), and stores `tcplearn explain`'s forecasts from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from experiments.lib.batches import Figures, LabRuns, Work
from experiments.lib.runs import Identity, Run

PROFILE = "captured"


def keep(_chosen: Any, folder: Path, _measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of a captured run: the series of all response times in us that the application
    measured."""
    return {}, {"response_us": _response_us(folder)}


def _response_us(folder: Path) -> Any:
    return np.loadtxt(folder / "requests", usecols=0, ndmin=1)


def _unseen_ms(requests: pl.DataFrame, folders: Sequence[Path]) -> float:
    """Returns by how much the response times that the application measured are longer than those in the
    captures: the mean over captures of the median over requests, in ms. The capture's last requests may be
    missing, because tcpdump is stopped before it has written them."""
    over_ms = []
    for number, folder in enumerate(folders):
        seen_ms = requests.filter(pl.col("source") == number)["response_ms"].to_numpy()
        (measured,) = folder.glob("*/requests")
        measured_ms = _response_us(measured.parent) / 1e3
        over_ms.append(np.median(measured_ms[: len(seen_ms)] - seen_ms))
    return float(np.mean(over_ms))


@dataclass(frozen=True)
class Forecasts:
    """The batch of a scenario: its runs in the lab, captured under unchanged Linux, and the forecasts that
    `tcplearn explain` makes from all these captures together. The forecast for each timer setting is stored
    like a run."""

    file: Path

    @cached_property
    def captures(self) -> LabRuns:
        return LabRuns(self.file, PROFILE, keep, pcap=True)

    @property
    def name(self) -> str:
        return self.captures.name

    def has(self, run: Run) -> bool:
        return self.captures.has(run)

    def planned(self) -> list[Identity]:
        from tcplearn.explain.candidates import ALL
        from tcplearn.lab import scenario

        chosen = scenario.load(self.file, PROFILE)
        return self.captures.planned() + [self._empty(chosen, one.name).identity for one in ALL]

    def _empty(self, chosen: Any, candidate: str, **more: Any) -> Run:
        return Run("lab", chosen.name, PROFILE, candidate, 0, chosen.runs.seed, {}, **more)

    def done(self, wanted: Sequence[Identity], work: Work, failures: list[str]) -> Iterator[Run]:
        from tcplearn.lab import scenario

        numbers = range(scenario.load(self.file, PROFILE).runs.count)
        folders = []
        for left in self.captures.folders(numbers, work, failures):
            folders.append(left[0])
            yield from self.captures.read(*left)
        if len(folders) == len(numbers):
            yield from self._forecast(folders, *left[2:])

    def _forecast(self, folders: Sequence[Path], chosen: Any, ready: Any) -> Iterator[Run]:
        from tcplearn import explain, provenance
        from tcplearn.explain import advice, forecast
        from tcplearn.explain.candidates import ALL, STOCK
        from tcplearn.explain.causes import RESENT
        from tcplearn.explain.model import held_up
        from tcplearn.explain.rows import foretold

        found = explain.run([folder / "pcap" / "sender.pcap" for folder in folders])
        # the lab applies a setting at the client only
        one_end = next((one for one in forecast.of_each(found) if one.by == ("client",)), None)
        if one_end is None:
            return
        best = advice.of(found, one_end).chosen
        advised = best.candidate.name if best else STOCK
        timed = found.stalls.filter(pl.col("by").is_in(one_end.by) & pl.col("cause").is_in(RESENT))
        share = held_up(found.requests, timed)["request"].n_unique() / found.requests.height
        of_all = {"held_up_share": share, "unseen_ms": _unseen_ms(found.requests, folders)}
        for candidate in ALL:
            metrics = foretold(one_end.of(candidate.name)) | {"advised": candidate.name == advised} | of_all
            yield self._empty(
                chosen,
                candidate.name,
                parameters=chosen.model_dump(mode="json", exclude_defaults=True, exclude={"runs"}),
                metrics={key: float(value) for key, value in metrics.items()},
                commit=provenance.commit(),
                version=found.made_by["version"],
                host_version=ready.kernel,
                code=ready.fingerprint,
            )
