# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs a list of jobs, except those with a stored result. If a job fails, the others continue."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcplearn.errors import InterruptedWork, printable
from tcplearn.interrupts import as_on_interrupt
from tcplearn.jobs.job import Failure, Job, watching
from tcplearn.jobs.pool import Pool
from tcplearn.jobs.store import Kept
from tcplearn.output.files import naming_full_disk

Progress = Callable[[float, str], None]


@dataclass
class Done:
    """What became of the jobs of a call of run()."""

    results: dict[str, Any] = field(default_factory=dict)  # by the job's key
    failures: list[str] = field(default_factory=list)  # one line for each failed job


_STEP = 100  # stored results read between two reports of progress; reading one takes below a millisecond


def kept_of(jobs: Sequence[Job], kept: Kept, progress: Progress | None = None) -> dict[str, Any]:
    """Return the results of those of `jobs` whose result is stored in `kept`, by the job's key."""
    get = kept.finder()
    out: dict[str, Any] = {}
    for i, job in enumerate(jobs):
        if progress and i % _STEP == 0:
            progress(i / len(jobs), f"{len(out)} of {i} found")
        if (found := get(job)) is not None:
            out[job.key] = found
    return out


def run(
    jobs: Sequence[Job],
    kept: Kept,
    pool: Pool,
    *,
    fresh: bool = False,
    progress: Progress | None = None,
    say: Callable[[str], None] = print,
    unit: str = "runs",
) -> Done:
    """Return the results of `jobs`. Results that are stored in `kept` are used, unless `fresh` is true. The
    other jobs run in `pool`, and their results are stored. `say` gets a line for each failure. `unit` is the
    word for jobs in messages. Raise InterruptedWork on Ctrl-C."""
    done = Done({} if fresh else kept_of(jobs, kept))
    todo = [job for job in jobs if job.key not in done.results]
    if not todo:  # don't start a cluster
        return done
    total, spent, ended = sum(job.cost for job in todo) or 1.0, 0.0, 0

    def tell(share: float = 0.0) -> None:
        if progress:
            more = share * todo[ended].cost if share else 0.0
            progress(min(1.0, (spent + more) / total), f"{len(done.results)} of {len(jobs)} {unit}")

    tell()
    with (
        _saying_what_is_kept(jobs, kept, unit, fresh=fresh),
        as_on_interrupt(),
        _watched(tell),
        naming_full_disk(kept.folder),
        contextlib.closing(pool(todo)) as results,
    ):
        for job, result in results:
            spent, ended = spent + job.cost, ended + 1
            if isinstance(result, Failure):
                again, log = kept.put_failed(job, result.log)
                where = f"; log: {log}" if log else ""
                done.failures.append(f"{job.title}: {result.message}{where}; again: {again}")
                say(done.failures[-1])
            else:
                done.results[job.key] = kept.put(job, result)
            tell()
    return done


@contextlib.contextmanager
def _saying_what_is_kept(jobs: Sequence[Job], kept: Kept, unit: str, *, fresh: bool) -> Iterator[None]:
    """Within this context, Ctrl-C raises InterruptedWork, which says how many results are stored."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        finished = sum(kept.has(job) for job in jobs)
        count = f"stopped: {finished or 'none'} of {len(jobs)} {unit} kept"
        again = "the same command without --fresh" if fresh else "the same command"
        where = f" in {printable(kept.folder)}; {again} goes on from there" if finished else " yet"
        raise InterruptedWork(count + where) from interrupt


@contextlib.contextmanager
def _watched(watch: Callable[[float], None]) -> Iterator[None]:
    before = watching.set(watch)
    try:
        yield
    finally:
        watching.reset(before)
