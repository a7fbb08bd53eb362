# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs a scenario of `tcplearn lab`: each run is a job that boots a new virtual machine."""

import gzip
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplearn import jobs
from tcplearn.bpf import build, floors
from tcplearn.errors import FailedError, FullDiskError
from tcplearn.jobs import Job, JobFailedError, Place
from tcplearn.output import temporary

from . import downloads, guest, machine, results, truth
from .arm import BY_BPF, LIVE_BOUNDED
from .kept import Folders, packed
from .scenario import Scenario

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    fresh: bool = False
    place: Place = field(default_factory=Place)
    out: Path | None = None  # where finished runs are stored; None: the cache
    pcap: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    rows: list[Json]
    folders: list[Path]  # of the runs that did not fail, in the order of the runs
    failures: list[str]
    runs: int


def seed_of(scenario: Scenario, run: int) -> int:
    """Return the seed of run number `run`: the scenario's for run 0, else a hash of it and `run`."""
    if run == 0:
        return scenario.runs.seed
    text = f"{scenario.runs.seed}/{run}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "little") % 10**8


def run(
    scenario: Scenario,
    options: Options,
    progress: jobs.Progress | None = None,
    say: Callable[[str], None] = print,
) -> Finished:
    """Execute those runs of `scenario` that are not stored yet. Return the result rows of all runs that did
    not fail, and the failures. Raise UserError."""
    kept = Folders(options.out or machine.cache_folder() / "runs")
    pool = options.place.pool(kept.folder / "slurm")
    if progress:
        progress(0.0, "guest and module")
    ready = machine.prepare(machine.cache_folder(), scenario.with_programs, scenario.kernel)
    if scenario.transfer.captured:
        downloads.tshark()
    work = [job(scenario, n, ready.fingerprint, options) for n in range(scenario.runs.count)]
    done = jobs.run(work, kept, pool, fresh=options.fresh, progress=progress, say=say)
    rows, folders = [], []
    for n, one in enumerate(work):
        if folder := done.results.get(one.key):
            rows += results.rows(scenario, one.key, seed_of(scenario, n), folder, ready)
            folders.append(folder)
    return Finished(rows, folders, done.failures, len(work))


def job(scenario: Scenario, run: int, fingerprint: str, options: Options) -> Job:
    pcap = options.pcap
    seed, script = seed_of(scenario, run), guest.script(scenario, run, pcap=pcap)
    document = {
        "name": f"{scenario.name}-{run:03d}",
        "script": script,
        "seed": seed,
        "limit_s": scenario.runs.limit_s,
        "programs": scenario.with_programs,
        "kernel": scenario.kernel,
        "fingerprint": fingerprint,
        "counted": [arm.folder for arm in guest.arms(scenario, run)] if scenario.transfer.captured else [],
        "truth": list(scenario.path.hop) if scenario.truth and not pcap else [],
        "live": build.preprocessed(floors.SOURCE) if scenario.algorithms.live else "",
    }
    key = hashlib.sha256(f"{fingerprint}\n{seed}\n{script}{document['live']}".encode()).hexdigest()[:20]
    return Job(key, boot, (document,), f"{scenario.name}, run {run}")


def boot(document: Json) -> bytes:
    """Execute the run that `document` describes; return a tar archive of its output. Raise FailedError."""
    ready = machine.prepared(document["fingerprint"], document["programs"], document["kernel"])
    with temporary.folder() as folder, temporary.folder() as more:
        files = live_files(more) if document["live"] else ()
        seed, limit_s = document["seed"], document["limit_s"]
        try:
            machine.run(ready, document["script"], folder, seed=seed, limit_s=limit_s, files=files)
        except FullDiskError:
            raise
        except FailedError as error:
            message = re.sub(r" \(log: [^)]*\)$", "", str(error))
            raise JobFailedError(message, _text(folder / "console.log")) from error
        if warned := _text(folder / "warnings").partition("\n")[0].strip():
            raise JobFailedError(f"the kernel warned: {warned}", _text(folder / "console.log"))
        if document["truth"]:
            truth.reduce(folder, document["truth"])
        if document["counted"]:
            downloads.count(folder, document["counted"])
        for log in folder.glob("*/log"):
            log.with_name("log.gz").write_bytes(gzip.compress(log.read_bytes(), 6, mtime=0))
            log.unlink()
        return packed(folder)


def live_files(folder: Path) -> list[Path]:
    """Make in `folder` the files that linux/lab/guest/live.sh reads: the BPF program of `tcplearn live`, and
    its settings as text. Return their paths. Raise UserError or FailedError."""
    build.compiled(floors.SOURCE, folder / "live.o")
    for setting in BY_BPF:
        packed_settings = floors.settings(machine.TICKS_PER_SECOND, bounds_backoff=setting == LIVE_BOUNDED)
        (folder / f"{setting}.settings").write_text(machine.hex_words(packed_settings))
    return sorted(folder.iterdir())


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
