# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The places where jobs run: this machine, a Dask cluster, or Slurm."""

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
from tcplearn.errors import FailedError, UserError
from tcplearn.jobs import children
from tcplearn.jobs.job import Failure, Job, outcome

Json = dict[str, Any]
#: Yields jobs in any order, each with its result or its Failure.
Pool = Callable[[Sequence[Job]], Generator[tuple[Job, Any], None, None]]

#: How often Dask gives a job to another worker if its worker failed.
RETRIES = 3


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Place:
    """A place as given on the command line."""

    workers: int = 0  # jobs at once on this machine; 0: as many as its processors
    scheduler: str = ""
    slurm: int = 0

    def pool(self, logs: Path, *, in_processes: bool = False) -> Pool:
        """Return the pool; logs of Slurm go to `logs`. `in_processes`: the jobs work in Python, others only
        wait for a child."""
        if self.scheduler and self.slurm:
            raise UserError("--scheduler and --slurm: give one of them")
        if self.scheduler:
            return dask(self.scheduler)
        if self.slurm:
            return slurm(self.slurm, logs)
        return (processes if in_processes else threads)(self.workers or processors())


def threads(workers: int) -> Pool:
    def pool(jobs: Sequence[Job]) -> Generator[tuple[Job, Any], None, None]:
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


def one_by_one(jobs: Sequence[Job]) -> Generator[tuple[Job, Any], None, None]:
    """Yield the jobs with their results, done in this thread in their order."""
    for job in jobs:
        yield job, outcome(job.function, job.arguments)


def _start_worker(parent: int) -> None:
    children.end_with_parent(parent)
    for number in (signal.SIGINT, signal.SIGHUP):  # the parent ends its workers
        signal.signal(number, signal.SIG_IGN)


def _leave_results_to_workers(executor: futures.ProcessPoolExecutor) -> None:
    """Close this process's own end for writing into the pipe of results, once all workers have theirs. While
    it is open, the executor waits forever for the rest of a result whose worker was killed in the middle."""
    results: Any = getattr(executor, "_result_queue", None)
    if results is not None:
        results._writer.close()


def processes(workers: int) -> Pool:
    def pool(jobs: Sequence[Job]) -> Generator[tuple[Job, Any], None, None]:
        if min(workers, len(jobs)) <= 1:
            yield from one_by_one(jobs)
            return
        # a fork could copy the progress bar's thread in the middle of a step
        context = multiprocessing.get_context("spawn")
        others = set(multiprocessing.active_children())
        with search_path.safe():  # the tracker of its semaphores starts here too
            executor = futures.ProcessPoolExecutor(
                min(workers, len(jobs)), context, _start_worker, (os.getpid(),)
            )
        try:
            with search_path.safe():  # each worker starts with its first job
                waiting = {executor.submit(outcome, job.function, job.arguments): job for job in jobs}
            _leave_results_to_workers(executor)
            for done in futures.as_completed(waiting):
                yield waiting[done], done.result()
        except BrokenProcessPool as error:
            raise FailedError(
                "a worker process died, out of memory perhaps; give a smaller --jobs"
            ) from error
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            _leave_results_to_workers(executor)  # if it was interrupted while jobs were submitted
            # end it here, because otherwise Python's exit would print a traceback
            executor.shutdown(wait=True, cancel_futures=True)
            raise
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    return pool


def dask(address: str) -> Pool:
    def pool(jobs: Sequence[Job]) -> Generator[tuple[Job, Any], None, None]:
        with contextlib.closing(_client(address)) as client:
            yield from _through(client, jobs)

    return pool


def slurm(jobs_at_once: int, logs: Path) -> Pool:
    """Return a pool of `jobs_at_once` Slurm jobs, each replaced if it ends early, because sweeps may outlast
    a job's time limit."""

    def pool(jobs: Sequence[Job]) -> Generator[tuple[Job, Any], None, None]:
        try:
            slurm_cluster: Any = importlib.import_module("dask_jobqueue").SLURMCluster
        except ImportError as error:
            raise UserError("--slurm needs dask-jobqueue; run: pip install dask-jobqueue") from error
        if not shutil.which("sbatch"):  # without it dask-jobqueue would wait for its jobs for ever
            raise UserError("--slurm: there is no sbatch here; run it where jobs are submitted")
        with search_path.safe():  # sbatch passes the environment on
            try:
                cluster = slurm_cluster(**_unless_configured(logs))
                cluster.adapt(minimum_jobs=jobs_at_once, maximum_jobs=jobs_at_once)
            except Exception as error:
                raise FailedError(f"--slurm: {error}") from error
            with cluster:
                yield from dask(cluster.scheduler_address)(jobs)

    return pool


def _unless_configured(logs: Path) -> Json:
    """Return the resources of a Slurm job that dask-jobqueue's own jobqueue.yaml, which has partition and
    time, does not set."""
    configured: Any = importlib.import_module("dask.config").get("jobqueue.slurm", {})
    ours = {"cores": 1, "processes": 1, "memory": "1GiB", "log-directory": str(logs)}
    asked = {key.replace("-", "_"): value for key, value in ours.items() if configured.get(key) is None}
    python = configured.get("python") or shlex.quote(sys.executable)
    return {**asked, "python": f"{python} {search_path.SAFE}"}


def _client(address: str) -> Any:
    try:
        client: Any = importlib.import_module("distributed").Client
    except ImportError as error:
        raise UserError("--scheduler needs dask.distributed; run: pip install distributed") from error
    # it warns of each result of a lost worker, although the result is computed again
    logging.getLogger("distributed.client").setLevel(logging.ERROR)
    try:
        return client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise UserError(f"--scheduler {address}: no scheduler answers there; give HOST:PORT") from error


def _through(client: Any, jobs: Sequence[Job]) -> Generator[tuple[Job, Any], None, None]:
    as_completed: Any = importlib.import_module("distributed").as_completed

    # named by the result, so two sweeps that need the same run share it
    waiting = {
        client.submit(
            outcome, job.function, job.arguments, key=f"tcplearn-{job.key}", pure=False, retries=RETRIES
        ): job
        for job in jobs
    }
    for done in as_completed(waiting, loop=client.loop):
        job = waiting.pop(done)
        yield job, _answer(done)
        done.release()


def _answer(done: Any) -> Any:
    """Return the result of a future, after waiting where a worker ended with it and it is computed again."""
    try:
        return done.result()
    except Exception as error:
        return Failure(f"Dask: {error!r}")
