# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs jobs in parallel: in threads or processes of this machine, on a Dask cluster, or in Slurm jobs."""

import contextlib
import importlib
import logging
import multiprocessing
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn import search_path
from tcplearn.errors import FailedError, UserError, need_extra
from tcplearn.jobs import children
from tcplearn.jobs.job import Failure, Job, outcome

Ended = Generator[tuple[Job, Any], None, None]
#: Runs jobs and yields each with its result or its Failure, in the order in which they end.
Pool = Callable[[Sequence[Job]], Ended]

RETRIES = 3  # how often Dask gives a job to another worker after its worker died


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Place:
    """Says where jobs run: on this machine, on a Dask cluster, or in Slurm jobs."""

    workers: int = 0  # jobs at once on this machine; 0: one for each processor
    scheduler: str = ""  # the address of a Dask scheduler
    slurm: int = 0  # the number of Slurm jobs

    def pool(self, logs: Path, *, in_processes: bool = False) -> Pool:
        """Return the function that runs jobs on this machine (in threads or, if `in_processes`, in
        processes), on the Dask cluster, or in Slurm jobs with logs in the folder `logs`. Raise UserError."""
        if self.scheduler and self.slurm:
            raise UserError("--scheduler and --slurm: give one of them")
        if self.scheduler:
            return dask(self.scheduler)
        if self.slurm:
            return slurm(self.slurm, logs)
        return (processes if in_processes else threads)(self.workers or processors())


def threads(workers: int) -> Pool:
    """Return a function that runs jobs in `workers` threads of this process."""

    def pool(jobs: Sequence[Job]) -> Ended:
        executor = futures.ThreadPoolExecutor(max(1, workers))
        waiting = {executor.submit(outcome, job.function, job.arguments): job for job in jobs}
        try:
            for done in futures.as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            children.stop()
            raise
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
            children.allow()

    return pool


def one_by_one(jobs: Sequence[Job]) -> Ended:
    """Run `jobs` in this thread; yield each with its result or its Failure."""
    for job in jobs:
        yield job, outcome(job.function, job.arguments)


def _start_worker(parent: int) -> None:
    children.end_with_parent(parent)
    for number in (signal.SIGINT, signal.SIGHUP):  # workers ignore Ctrl-C; the parent ends them
        signal.signal(number, signal.SIG_IGN)


def _leave_results_to_workers(executor: futures.ProcessPoolExecutor) -> None:
    """Close this process's write end of the pipe for results. If it stayed open, a worker that is killed
    while it writes would block this process forever."""
    results: Any = getattr(executor, "_result_queue", None)
    if results is not None:
        results._writer.close()


def processes(workers: int) -> Pool:
    """Return a function that runs jobs in `workers` processes or, if one is enough, in this thread."""

    def pool(jobs: Sequence[Job]) -> Ended:
        if min(workers, len(jobs)) <= 1:
            yield from one_by_one(jobs)
            return
        context = multiprocessing.get_context("spawn")  # a fork could copy a lock that the progress bar holds
        others = set(multiprocessing.active_children())
        with search_path.safe():  # this also starts Python's semaphore tracker
            count = min(workers, len(jobs))
            executor = futures.ProcessPoolExecutor(count, context, _start_worker, (os.getpid(),))
        try:
            with search_path.safe():  # submitting a job starts a worker
                waiting = {executor.submit(outcome, job.function, job.arguments): job for job in jobs}
            _leave_results_to_workers(executor)
            for done in futures.as_completed(waiting):
                yield waiting[done], done.result()
        except BrokenProcessPool as error:
            why = "a worker process died, perhaps for lack of memory; give a smaller --jobs"
            raise FailedError(why) from error
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            _leave_results_to_workers(executor)  # in case of an interrupt while jobs were submitted
            executor.shutdown(wait=True, cancel_futures=True)  # otherwise Python's exit prints a traceback
            raise
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    return pool


def dask(address: str) -> Pool:
    """Return a function that runs jobs on the Dask cluster whose scheduler has the address `address`."""

    def pool(jobs: Sequence[Job]) -> Ended:
        with contextlib.closing(_client(address)) as client:
            as_completed: Any = importlib.import_module("distributed").as_completed
            waiting = {  # the key is a hash of what determines the result, so two sweeps share a common run
                client.submit(
                    outcome,
                    job.function,
                    job.arguments,
                    key=f"tcplearn-{job.key}",
                    pure=False,
                    retries=RETRIES,
                ): job
                for job in jobs
            }
            for done in as_completed(waiting, loop=client.loop):
                yield waiting.pop(done), _answer(done)
                done.release()

    return pool


def slurm(jobs_at_once: int, logs: Path) -> Pool:
    """Return a function that runs jobs in `jobs_at_once` Slurm jobs, and replaces Slurm jobs that end early.
    Slurm's logs go to the folder `logs`."""

    def pool(jobs: Sequence[Job]) -> Ended:
        need_extra("cluster", "--slurm")
        slurm_cluster: Any = importlib.import_module("dask_jobqueue").SLURMCluster
        if not shutil.which("sbatch"):  # without sbatch, dask-jobqueue would wait for its jobs forever
            raise UserError("--slurm: there is no sbatch here; run it where jobs are submitted")
        with search_path.safe():  # sbatch passes the environment on to the job
            try:
                cluster = slurm_cluster(**_unless_configured(logs))
                cluster.adapt(minimum_jobs=jobs_at_once, maximum_jobs=jobs_at_once)
            except Exception as error:
                raise FailedError(f"--slurm: {error}") from error
            with cluster:
                yield from dask(cluster.scheduler_address)(jobs)

    return pool


def _unless_configured(logs: Path) -> dict[str, Any]:
    configured: Any = importlib.import_module("dask.config").get("jobqueue.slurm", {})
    ours = {"cores": 1, "processes": 1, "memory": "1GiB", "log-directory": str(logs)}
    asked = {key.replace("-", "_"): value for key, value in ours.items() if configured.get(key) is None}
    python = configured.get("python") or shlex.quote(sys.executable)
    return {**asked, "python": f"{python} {search_path.SAFE}"}


def _client(address: str) -> Any:
    need_extra("cluster", "--scheduler")
    client: Any = importlib.import_module("distributed").Client
    # Dask warns of each result that a lost worker held, although it computes the result again
    logging.getLogger("distributed.client").setLevel(logging.ERROR)
    try:
        return client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise UserError(f"--scheduler {address}: no scheduler answers there; give HOST:PORT") from error


def _answer(done: Any) -> Any:
    try:
        return done.result()
    except Exception as error:
        return Failure(f"Dask: {error!r}")
