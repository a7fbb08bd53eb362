# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Jobs: their form, the places where they run, and their stored results."""

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
