# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Jobs to results: what is kept is read, the rest run and kept; a failure does not stop the others."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tcplearn.jobs.job import Failure, Job
from tcplearn.jobs.pool import Pool
from tcplearn.jobs.store import Kept

Progress = Callable[[float, str], None]


@dataclass
class Done:
    results: dict[str, Any] = field(default_factory=dict)  # by key
    failures: list[str] = field(default_factory=list)  # a line each


def kept_of(jobs: Sequence[Job], kept: Kept) -> dict[str, Any]:
    """Results that need no run, by key."""
    return {job.key: found for job in jobs if (found := kept.get(job)) is not None}


def run(
    jobs: Sequence[Job],
    kept: Kept,
    pool: Pool,
    *,
    fresh: bool = False,
    progress: Progress | None = None,
    say: Callable[[str], None] = print,
) -> Done:
    done = Done({} if fresh else kept_of(jobs, kept))
    todo = [job for job in jobs if job.key not in done.results]
    total, spent = sum(job.cost for job in todo) or 1.0, 0.0

    def tell() -> None:
        if progress:
            progress(min(1.0, spent / total), f"{len(done.results)} of {len(jobs)} runs")

    tell()
    if not todo:  # no cluster is needed then
        return done
    with _interrupted_by_sigterm(), contextlib.closing(pool(todo)) as results:
        for job, result in results:
            spent += job.cost
            if isinstance(result, Failure):
                done.failures.append(_failed(job, result, kept))
                say(done.failures[-1])
            else:
                done.results[job.key] = kept.put(job, result)
            tell()
    return done


def _failed(job: Job, failure: Failure, kept: Kept) -> str:
    again, log = kept.put_failed(job, failure.log)
    where = f"; log: {log}" if log else ""
    return f"{job.title}: {failure.message}{where}; again: {again}"


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Ended by timeout or by a scheduler of jobs: the children end in good order, as on ^C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
