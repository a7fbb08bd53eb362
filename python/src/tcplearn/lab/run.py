# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs of a scenario: those that are kept, and the rest over the cores."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from tcplearn import provenance
from tcplearn.errors import FailedError, UserError, printable

from . import guest, results
from .machine import Boots, Machine, cache_folder, prepare
from .scenario import Scenario

Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Options:
    fresh: bool = False
    jobs: int = 1
    out: Path | None = None  # where runs are kept; None: the cache
    pcap: bool = False


def seed_of(scenario: Scenario, run: int) -> int:
    """Of a run: the scenario's own for the first one, then others that differ in every bit."""
    if run == 0:
        return scenario.runs.seed
    text = f"{scenario.runs.seed}/{run}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "little") % 10**8


def run(scenario: Scenario, options: Options, progress: Progress | None = None) -> list[results.Row]:
    """Every run of the scenario, as rows. Raise UserError, FailedError."""
    if progress:
        progress(0.0, "guest and module")
    machine = prepare(cache_folder(), scenario.with_programs, scenario.kernel)
    kept = _folder(options)
    count = scenario.runs.count
    work = [_Work(scenario, n, seed_of(scenario, n), machine, kept, options.pcap) for n in range(count)]
    todo = [w for w in work if options.fresh or not w.done()]
    boots = Boots()
    finished = count - len(todo)

    def step(w: _Work) -> None:
        nonlocal finished
        w.boot(boots)
        finished += 1
        if progress:
            progress(finished / count, f"{finished} of {count} runs")

    if progress:
        progress(finished / count, f"{finished} of {count} runs")
    # asked to end, as by timeout or a job scheduler: the machines must end too
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        _all(todo, step, boots, options.jobs)
    finally:
        signal.signal(signal.SIGTERM, before)
    return [row for w in work for row in w.rows()]


def folder(scenario: Scenario, options: Options, number: int = 0) -> Path:
    """Of a finished run."""
    machine = prepare(cache_folder(), scenario.with_programs, scenario.kernel)
    seed = seed_of(scenario, number)
    return _Work(scenario, number, seed, machine, _folder(options), options.pcap).folder


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _all(todo: list[_Work], step: Callable[[_Work], None], boots: Boots, jobs: int) -> None:
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        waiting = [pool.submit(step, w) for w in todo]
        try:
            done, _ = wait(waiting, return_when=FIRST_EXCEPTION)
            failed = [error for f in done if (error := f.exception()) is not None]
        except BaseException:
            boots.stop()
            raise
        if failed:
            boots.stop()
            raise failed[0]


def _folder(options: Options) -> Path:
    folder = options.out or cache_folder() / "runs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{printable(folder)}: cannot be made: {error.strerror}") from error
    return folder


def _warned(folder: Path) -> str:
    """The first warning of the guest's kernel log."""
    told = folder / "warnings"
    return told.read_text(errors="replace").partition("\n")[0].strip() if told.exists() else ""


class _Work:
    """One run: its key, its folder and its rows."""

    def __init__(
        self, scenario: Scenario, run: int, seed: int, machine: Machine, kept: Path, pcap: bool
    ) -> None:
        self.scenario, self.number, self.seed, self.machine = scenario, run, seed, machine
        self.script = guest.script(scenario, run, pcap=pcap)
        key = hashlib.sha256(f"{machine.fingerprint}\n{seed}\n{self.script}".encode()).hexdigest()[:20]
        self.folder = kept / f"{scenario.name}-{run:03d}-{key}"

    def done(self) -> bool:
        return (self.folder / "complete").exists()

    def boot(self, boots: Boots) -> None:
        """Run it; its folder appears when it is whole."""
        partial = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}-", dir=self.folder.parent))
        try:
            try:
                boots.run(
                    self.machine, self.script, partial, seed=self.seed, limit_s=self.scenario.runs.limit_s
                )
            except FailedError as error:
                raise FailedError(
                    f"{self.scenario.name}, run {self.number}: {self._kept_log(partial, error)}"
                ) from error
            if warned := _warned(partial):
                raise FailedError(f"{self.scenario.name}, run {self.number}: the kernel warned: {warned}")
            for log in partial.glob("*/log"):
                log.with_name("log.gz").write_bytes(gzip.compress(log.read_bytes(), 6, mtime=0))
                log.unlink()
            partial.chmod(0o755)
            (partial / "complete").write_text(provenance.commit() + "\n")
            if self.folder.exists():
                shutil.rmtree(self.folder)
            partial.rename(self.folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _kept_log(self, partial: Path, error: FailedError) -> str:
        """The console of a run that failed stays, beside the finished ones."""
        console = partial / "console.log"
        if not console.exists():
            return str(error)
        kept = self.folder.with_name(f"failed-{self.scenario.name}-{self.number:03d}.log")
        shutil.copyfile(console, kept)
        return str(error).replace(str(console), str(kept))

    def rows(self) -> list[results.Row]:
        return results.rows(self.scenario, self.number, self.seed, self.folder, self.machine)
