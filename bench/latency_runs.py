# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The lab's runs behind docs/latency.md. Those that are not kept in bench/latency-runs are done and kept
there, the first of each scenario and profile before the second of any; stop when you like.

python bench/latency_runs.py --list                             how many are kept, of how many
python bench/latency_runs.py [--jobs N] [--first N]             does the others; N: so many runs of each
python bench/latency_runs.py thin-wired/full thin-wired/bulk    of these alone
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import latency_archive
from latency_cells import SCENARIOS, paths
from latency_others import FADES, LOADS, OVERLOAD, PROGRAMS, VISITS

from tcplearn import jobs
from tcplearn.cli.common import progress_bar
from tcplearn.errors import UserError
from tcplearn.lab import kept, machine, run, scenario

#: Paths of the other ways to send, and of a transfer beside stock's.
WAYS = ("thin-wired", "thin-no-timestamps", "thin-delayed-acks", "thin-slots")
BESIDE = ("thin-wired", "thin-bloat", "thin-cellular")
WITHOUT_BULK = "thin-delayed-acks-200"


@dataclass(frozen=True)
class Wanted:
    name: str  # as on the command line: scenario/profile
    chosen: scenario.Scenario
    kept: list[Path]


def _wanted() -> Iterator[tuple[Path, str]]:
    """Scenario and profile of everything on the page."""
    yield from ((file, "full") for file in paths())
    yield FADES, "full"
    yield from ((OVERLOAD, profile) for profile in LOADS)
    yield from ((file, "bulk") for file in paths() if file.stem != WITHOUT_BULK)
    yield from ((SCENARIOS / f"{stem}.toml", "beside") for stem in BESIDE)
    for profile in ("stream", "fresh", "inherit", "page"):
        yield from ((SCENARIOS / f"{stem}.toml", profile) for stem in WAYS)
    yield from ((PROGRAMS, profile) for profile in VISITS)


def wanted(names: Sequence[str] = ()) -> list[Wanted]:
    """All, or those that are named. Raises UserError for a name that there is not."""
    of = {f"{file.stem}/{profile}": (file, profile) for file, profile in _wanted()}
    if unknown := set(names) - of.keys():
        raise UserError(f"no {min(unknown)} on the page; there are {', '.join(of)}")
    found = {name: scenario.load(*of[name]) for name in names or of}
    return [Wanted(name, chosen, latency_archive.runs(chosen)) for name, chosen in found.items()]


def _todo(found: Sequence[Wanted], first: int) -> Iterator[jobs.Job]:
    """The first runs of all come first."""
    options = run.Options()
    for n in range(max(one.chosen.runs.count for one in found)):
        for one in found:
            if len(one.kept) <= n < min(one.chosen.runs.count, first):
                yield run.job(one.chosen, n, latency_archive.fingerprint(one.chosen.with_programs), options)


def _check(found: Sequence[Wanted]) -> None:
    """This machine's guest and module are those of the page's runs. Raises UserError."""
    for programs in sorted({one.chosen.with_programs for one in found}):
        ready = machine.prepare(machine.cache_folder(), programs)
        if ready.fingerprint != latency_archive.fingerprint(programs):
            raise UserError(
                f"{latency_archive.RUNS}/fingerprints.toml: this machine's guest or module is another, "
                f"{ready.fingerprint}; with that in the file all runs of ours are done again, and those of "
                "the other timers too unless linux/lab/earlier.toml has the one before"
            )


def _do(found: Sequence[Wanted], first: int, workers: int) -> list[str]:
    """Failures, a line each."""
    _check(found)
    done = kept.Folders(machine.cache_folder() / "runs")
    pool = jobs.Place(workers).pool(done.folder)
    try:
        with progress_bar(quiet=False) as progress:
            return jobs.run(list(_todo(found, first)), done, pool, progress=progress).failures
    finally:
        latency_archive.folder.cache_clear()
        keep()


def keep() -> int:
    """Runs that are new in bench/latency-runs, which are all those on the page."""
    return latency_archive.keep(path for one in wanted() for path in one.kept)


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
        sys.exit(2)
    if options.list:
        for one in found:
            print(f"{one.name}: {len(one.kept)} of {one.chosen.runs.count}")


if __name__ == "__main__":
    main()
