# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of a scenario file under a profile (a named set of changes to the file), and executes the
runs that are not yet stored. A run in ns-3 executes one algorithm. A run in the lab (real Linux TCP in
virtual machines) executes all algorithms in turn."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

from experiments.lib.runs import Floats, Identity, Run
from tcplearn import jobs
from tcplearn.jobs import Place, Progress

Json = dict[str, Any]
#: What is stored of a run: single numbers and series of numbers, both by name.
Figures = tuple[Mapping[str, float], Mapping[str, Floats]]


@dataclass(frozen=True)
class Work:
    """How runs are executed: `place` is this machine or a cluster, `cache` is the folder of finished runs,
    and `fresh` says whether runs that are in the cache are executed again."""

    place: Place = field(default_factory=Place)
    cache: Path | None = None  # None: the user's cache folder
    fresh: bool = False
    progress: Progress | None = None
    say: Callable[[str], None] = print

    @property
    def options(self) -> Json:
        """Returns the named arguments of `jobs.run`."""
        return {"fresh": self.fresh, "progress": self.progress, "say": self.say}


class Batch(Protocol):
    @property
    def name(self) -> str:
        """Returns the batch's name on the command line: the scenario file's name, "/", and the profile."""

    def planned(self) -> list[Identity]:
        """Returns what identifies each run of the batch, in the order in which the runs are executed: host
        ("lab" or "ns3"), scenario, profile, algorithm, labels, and number or seed."""

    def has(self, run: Run) -> bool:
        """Returns whether the stored `run` has the host ("lab" or "ns3"), scenario and profile of the batch.
        The scenario file may have changed since, so that it no longer lists this run."""

    def done(self, wanted: Sequence[Identity], work: Work, failures: list[str]) -> Iterator[Run]:
        """Executes those of the `wanted` runs that are not in the cache. Yields all wanted runs that have
        finished, also after an interrupt. Adds a line of text to `failures` for each run that failed. Raises
        UserError, FailedError."""


@dataclass(frozen=True)
class _ScenarioRuns(ABC):
    """The runs of a scenario file under a profile. `keep` returns the metrics and series to store for a
    run."""

    file: Path
    profile: str
    keep: Callable[..., Figures]
    host: ClassVar[str]

    @property
    def name(self) -> str:
        return f"{self.file.stem}/{self.profile}"

    @abstractmethod
    def load(self) -> Any:
        """Returns the scenario in the file, as changed by the profile."""

    @cached_property
    def scenario(self) -> str:
        return str(self.load().name)

    def has(self, run: Run) -> bool:
        return (run.host, run.scenario, run.profile) == (self.host, self.scenario, self.profile)


@dataclass(frozen=True)
class LabRuns(_ScenarioRuns):
    """The runs of a scenario in the lab (Linux in virtual machines). A run executes all algorithms in turn.
    The arguments of `keep` are the scenario, the folder with the results of one algorithm, and the metrics
    that `tcplearn lab run` computes from them."""

    count: int | None = None  # the number of runs; None: the scenario's own number
    pcap: bool = False  # whether the cache also keeps a capture of each run
    host = "lab"

    def load(self) -> Any:
        from tcplearn.lab import scenario

        return scenario.load(self.file, self.profile)

    def planned(self) -> list[Identity]:
        from tcplearn.lab import guest

        chosen = self.load()
        arms = guest.arms(chosen, 0)
        return [
            self._empty(chosen, arm, n).identity
            for n in range(self.count or chosen.runs.count)
            for arm in arms
        ]

    def _empty(self, chosen: Any, arm: Any, number: int, **more: Any) -> Run:
        from tcplearn.lab import run

        labels = {"tlp": arm.tlp}
        return Run(
            "lab", chosen.name, self.profile, arm.name, number, run.seed_of(chosen, number), labels, **more
        )

    def done(self, wanted: Sequence[Identity], work: Work, failures: list[str]) -> Iterator[Run]:
        for left in self.folders(sorted({number for *_, number in wanted}), work, failures):
            yield from self.read(*left)

    def folders(
        self, numbers: Sequence[int], work: Work, failures: list[str]
    ) -> Iterator[tuple[Path, int, Any, Any]]:
        """Executes the runs with these `numbers` that are not in the cache. Yields the arguments of `read`
        for each finished run: its folder, its number, the scenario and the virtual machine."""
        from tcplearn.lab import kept, machine, run

        chosen = self.load()
        ready = machine.prepare(machine.cache_folder(), chosen.with_programs, chosen.kernel)
        todo = {n: run.job(chosen, n, ready.fingerprint, run.Options(pcap=self.pcap)) for n in numbers}
        folders = kept.Folders(work.cache / "lab" if work.cache else machine.cache_folder() / "runs")
        pool = work.place.pool(folders.folder / "slurm")
        try:
            failures += jobs.run(list(todo.values()), folders, pool, **work.options).failures
        finally:  # an interrupt reaches the caller after the finished runs have been yielded
            for number, job in todo.items():
                if folder := folders.get(job):
                    yield folder, number, chosen, ready

    def read(self, folder: Path, number: int, chosen: Any, ready: Any) -> Iterator[Run]:
        """Yields a `Run` for each algorithm of a finished run in the lab, from the files in `folder`.
        `number` is the run's number, `chosen` its scenario and `ready` the virtual machine."""
        from tcplearn.lab import guest, kept, results, run

        rows = results.rows(chosen, "", run.seed_of(chosen, number), folder, ready)
        commit, version = kept.made_by(folder)
        parameters = chosen.model_dump(mode="json", exclude_defaults=True, exclude={"runs"})
        for arm in guest.arms(chosen, 0):
            measured = {
                row["metric"] if row["flow"] == results.TRANSFER else f"{row['flow']}:{row['metric']}": row[
                    "value"
                ]
                for row in rows
                if row["algorithm"] == arm.name and json.loads(row["parameters"])["tlp"] == arm.tlp
            }
            metrics, series = self.keep(chosen, folder / arm.folder, measured)
            made: Json = {"commit": commit, "version": version, "host_version": ready.kernel}
            made |= {"code": ready.fingerprint, "parameters": parameters}
            yield self._empty(chosen, arm, number, metrics=metrics, series=series, **made)


@dataclass(frozen=True)
class SimulatedRuns(_ScenarioRuns):
    """The runs of a scenario in ns-3. The arguments of `keep` are the run and ns-3's parsed JSON result."""

    host = "ns3"

    def planned(self) -> list[Identity]:
        from tcplearn.simulate import scenario

        found = [self._empty(run).identity for run in scenario.runs(self.file, self.profile)]
        return sorted(found, key=lambda identity: identity[-1])  # smallest seed first

    def load(self) -> Any:
        from tcplearn.simulate import scenario

        return scenario.load(self.file, self.profile)

    def _empty(self, run: Any, **more: Any) -> Run:
        labels = {**run.labels, "timing": run.timing}
        return Run("ns3", run.document.name, self.profile, run.algorithm, run.seed, run.seed, labels, **more)

    def done(self, wanted: Sequence[Identity], work: Work, failures: list[str]) -> Iterator[Run]:
        from tcplearn.simulate import engine, results, sweep

        asked = set(wanted)
        store = results.RunStore(work.cache)
        pool = work.place.pool(store.folder / "slurm")
        plan = sweep.plan([self.file], self.profile, work.progress)
        chosen = {key: run for run, key in plan.runs if self._empty(run).identity in asked}
        todo = [job for job in plan.jobs if job.key in chosen]
        engine.build()
        try:
            failures += jobs.run(todo, store, pool, **work.options).failures
        finally:  # an interrupt reaches the caller after the finished runs have been yielded
            for job in todo:
                if result := store.get(job):
                    yield self.read(chosen[job.key], result)

    def read(self, run: Any, result: Json) -> Run:
        """Returns the simulation `run` as a `Run`, with the metrics and series that the attribute `keep`
        takes from ns-3's cached `result`. The experiment stores it in its file runs.parquet."""
        from tcplearn.simulate import engine

        metrics, series = self.keep(run, result)
        made: Json = {"commit": result["commit"], "version": result["version"] or ""}
        made |= {"code": engine.identity(), "host_version": engine.ns3_version()}
        made["parameters"] = run.scenario.model_dump(mode="json")
        return self._empty(run, metrics=metrics, series=series, **made)


def lacking(batch: Batch, have: set[Identity], first: int | None = None) -> list[Identity]:
    """Returns the identities of the batch's planned runs that are not in `have`. If `first` is given, only
    the runs with the `first` smallest numbers (in ns-3: seeds) are considered."""
    planned = batch.planned()
    if first is not None:
        numbers = sorted({number for *_, number in planned})[:first]
        planned = [one for one in planned if one[-1] in numbers]
    return [one for one in planned if one not in have]
