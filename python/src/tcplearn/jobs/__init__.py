# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs jobs (functions with plain arguments) on this machine or a cluster, and stores their results."""

from tcplearn.jobs.job import Job, JobFailedError, advance, repeated
from tcplearn.jobs.pool import Place, Pool
from tcplearn.jobs.runner import Done, Progress, run
from tcplearn.jobs.store import Kept, Store

__all__ = [
    "Done",
    "Job",
    "JobFailedError",
    "Kept",
    "Place",
    "Pool",
    "Progress",
    "Store",
    "advance",
    "repeated",
    "run",
]
