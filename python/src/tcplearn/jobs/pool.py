# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Where runs run: processes on this machine, a Dask cluster, or Slurm."""

from __future__ import annotations

import concurrent.futures
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tcplearn.errors import FailedError, UserError
from tcplearn.simulate import engine

Json = dict[str, Any]
Pool = Callable[[Mapping[str, Json]], Iterator[tuple[str, Json]]]

#: How often Dask gives a run to another worker where its worker died.
RETRIES = 3


def local(workers: int) -> Pool:
    """Each run is a process of its own; threads here only wait for them."""

    def pool(jobs: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        executor = concurrent.futures.ThreadPoolExecutor(workers or os.cpu_count() or 1)
        waiting = {executor.submit(engine.simulate, document): key for key, document in jobs.items()}
        try:
            for done in concurrent.futures.as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            engine.stop()
            raise
        finally:
            executor.shutdown(wait=True, cancel_futures=True)

    return pool


def dask(address: str) -> Pool:
    def pool(jobs: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        client = _client(address)
        try:
            yield from _through(client, jobs)
        finally:
            client.close()

    return pool


def slurm(jobs_at_once: int, logs: Path) -> Pool:
    """That many Slurm jobs, another for each that ends early: sweeps outlast a job's time limit."""

    def pool(jobs: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        try:
            slurm_cluster: Any = importlib.import_module("dask_jobqueue").SLURMCluster
        except ImportError as error:
            raise UserError("--slurm needs dask-jobqueue; run: pip install dask-jobqueue") from error
        try:
            cluster = slurm_cluster(**_unless_configured(logs))
            cluster.adapt(minimum_jobs=jobs_at_once, maximum_jobs=jobs_at_once)
        except Exception as error:
            raise FailedError(f"--slurm: {error}") from error
        with cluster:
            yield from dask(cluster.scheduler_address)(jobs)

    return pool


def _unless_configured(logs: Path) -> Json:
    """What a job asks for; dask-jobqueue's own jobqueue.yaml goes before it, and has partition and time."""
    configured: Any = importlib.import_module("dask.config").get("jobqueue.slurm", {})
    ours = {"cores": 1, "processes": 1, "memory": "1GiB", "log-directory": str(logs)}
    return {key.replace("-", "_"): value for key, value in ours.items() if configured.get(key) is None}


def _client(address: str) -> Any:
    try:
        client: Any = importlib.import_module("distributed").Client
    except ImportError as error:
        raise UserError("--scheduler needs dask.distributed; run: pip install distributed") from error
    try:
        return client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise UserError(f"--scheduler {address}: no scheduler answers there; give HOST:PORT") from error


def _through(client: Any, jobs: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    as_completed: Any = importlib.import_module("distributed").as_completed

    # of the same name as the result: two sweeps that want one run share it
    waiting = {
        client.submit(engine.simulate, document, key=f"tcplearn-{key}", pure=False, retries=RETRIES): key
        for key, document in jobs.items()
    }
    for done in as_completed(waiting, loop=client.loop):
        key = waiting.pop(done)
        if done.status == "finished":
            yield key, done.result()
        else:
            yield key, {"error": f"Dask: {done.exception()!r}"}
        done.release()
