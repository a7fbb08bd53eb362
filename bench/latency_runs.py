# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The lab's runs behind docs/latency.md. Those that are not kept in bench/latency-runs are done and kept
there, the first of each scenario and profile before the second of any; stop when you like.

python bench/latency_runs.py --list                             how many are kept, of how many
python bench/latency_runs.py [--jobs N] [--first N]             does the others; N: so many runs of each
python bench/latency_runs.py thin-wired/full thin-wired/bulk    of these alone

Runs are the same on each machine with the same QEMU, Debian packages and module. Where the module is another
one: its fingerprint goes into bench/latency-runs/fingerprints.toml, and the one before into
linux/lab/earlier.toml. Then of a path's requests our timers alone are run again (profile `ours`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import latency_archive
from latency_cells import earlier, paths
from latency_others import FADES, LOADS, OVERLOAD, PROGRAMS, VISITS

from tcplearn import jobs
from tcplearn.cli.common import progress_bar
from tcplearn.errors import InterruptedWork, UserError
from tcplearn.lab import kept, machine, run, scenario


@dataclass(frozen=True)
class Wanted:
    name: str  # as on the command line: scenario/profile
    chosen: scenario.Scenario
    alone: scenario.Scenario | None = None  # with our timers alone, to go with an earlier module's run

    def lacks(self, number: int) -> jobs.Job | None:
        """What is to be run for a run with this number."""
        if number >= self.chosen.runs.count or latency_archive.find(self.chosen, number):
            return None
        of = self.chosen
        if self.alone and latency_archive.find(of, number, earlier()):
            if latency_archive.find(self.alone, number):
                return None
            of = self.alone
        return run.job(of, number, latency_archive.fingerprint(of.with_programs), run.Options())

    def names(self) -> Iterator[str]:
        """Of every run that the page may be made of."""
        for chosen in filter(None, (self.chosen, self.alone)):
            yield from latency_archive.names(chosen, earlier())

    @property
    def missing(self) -> list[int]:
        """Numbers of runs."""
        return [n for n in range(self.chosen.runs.count) if self.lacks(n)]


def _wanted() -> Iterator[tuple[Path, str]]:
    """Scenario and profile of everything on the page."""
    yield from ((file, "full") for file in paths())
    yield FADES, "full"
    yield from ((OVERLOAD, profile) for profile in LOADS)
    for profile in ("bulk", "beside", "stream", "fresh", "inherit", "page"):
        yield from ((file, profile) for file in paths(profile))
    yield from ((PROGRAMS, profile) for profile in VISITS)


def wanted(names: Sequence[str] = ()) -> list[Wanted]:
    """All, or those that are named. Raises UserError for a name that there is not."""
    of = {f"{file.stem}/{profile}": (file, profile) for file, profile in _wanted()}
    if unknown := set(names) - of.keys():
        raise UserError(f"no {min(unknown)} on the page; there are {', '.join(of)}")
    return [_one(name, *of[name]) for name in names or of]


def _one(name: str, file: Path, profile: str) -> Wanted:
    """Of a path's requests every timer but ours is as with an earlier module."""
    alone = scenario.load(file, "ours") if profile == "full" and file in paths() else None
    return Wanted(name, scenario.load(file, profile), alone)


def todo(found: Sequence[Wanted], first: int) -> list[jobs.Job]:
    """The first runs of all come first."""
    numbers = range(min(first, max(one.chosen.runs.count for one in found)))
    return [job for n in numbers for one in found if (job := one.lacks(n))]


def _check(work: Sequence[jobs.Job]) -> None:
    """This machine's guest and module are those of the page's runs. Raises UserError, FailedError."""
    for programs in sorted({job.arguments[0]["programs"] for job in work}):
        ready = machine.prepare(machine.cache_folder(), programs)
        if ready.fingerprint != latency_archive.fingerprint(programs):
            raise UserError(
                f"{latency_archive.RUNS / 'fingerprints.toml'}: this machine has another QEMU, other Debian "
                f"packages or another module than the runs that are kept: {ready.fingerprint}; "
                "what to do then: python bench/latency_runs.py --help"
            )


def _do(found: Sequence[Wanted], first: int, workers: int) -> list[str]:
    """Failures, a line each."""
    if not (work := todo(found, first)):
        return []
    _check(work)
    done = kept.Folders(machine.cache_folder() / "runs")
    pool = jobs.Place(workers).pool(done.folder)
    try:
        with progress_bar(quiet=False) as progress:
            return jobs.run(work, done, pool, progress=progress).failures
    finally:
        todo(found, first)  # finds those that were done
        latency_archive.keep()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="SCENARIO/PROFILE")
    parser.add_argument("--jobs", type=int, default=0, help="at once; by default as many as processors")
    parser.add_argument("--first", type=int, default=sys.maxsize, help="runs of each, if it has as many")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    try:
        found = wanted(options.names)
        if not options.list and (failures := _do(found, options.first, options.jobs)):
            sys.exit(f"{len(failures)} runs failed; the others are kept")
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    except InterruptedWork as stopped:
        print(stopped, file=sys.stderr)
        sys.exit(130)
    if options.list:
        for one in found:
            missing = one.missing
            said = f"; not there: {', '.join(map(str, missing))}" if missing else ""
            print(f"{one.name}: {one.chosen.runs.count - len(missing)} of {one.chosen.runs.count}{said}")


if __name__ == "__main__":
    main()
