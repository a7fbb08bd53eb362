# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Estimates how long all simulations of a profile (a size of the scenarios, such as quick) take, by running a
random sample of them.
  python bench/profile_time.py experiments/nunes2014/scenario-*.toml --profile quick --runs 24
A simulation is drawn with a probability proportional to its planned CPU seconds. The estimate is the planned
total times the mean ratio of measured to planned seconds, with a 90 % interval. --out DIR stores the
simulations' results."""

import math
import random
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from tcplearn import jobs
from tcplearn.jobs import Job, Place
from tcplearn.jobs.runner import kept_of
from tcplearn.simulate import sweep
from tcplearn.simulate.interval import mean_interval
from tcplearn.simulate.results import RunStore

SEED = 2014


def said(every: Sequence[Job], drawn: Sequence[Job], kept: RunStore, processors: int) -> str:
    results = kept_of(drawn, kept)
    shares = [results[job.key]["run"]["cost"]["cpu_s"] / job.cost for job in drawn if job.key in results]
    planned_min = sum(job.cost for job in every) / 60
    mean, half = mean_interval(shares, 0.9)
    return (
        f"{len(every)} runs, planned {planned_min:.0f} CPU minutes; {len(shares)} of {len(drawn)} drawn took "
        f"{mean:.2f} ± {half or math.nan:.2f} of their plan: {mean * planned_min / processors:.0f} ± "
        f"{(half or math.nan) * planned_min / processors:.0f} minutes on {processors} processors"
    )


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--processors", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("build/profile-time"))
    arguments = parser.parse_args()
    every = sorted(sweep.plan(sorted(arguments.files), arguments.profile).jobs, key=lambda job: job.key)
    drawn = random.Random(SEED).choices(every, [job.cost for job in every], k=arguments.runs)
    kept = RunStore(arguments.out)
    work = list({job.key: job for job in drawn}.values())
    print(f"{len(work)} runs, planned {sum(job.cost for job in work) / 60:.1f} CPU minutes")
    jobs.run(work, kept, Place(arguments.processors).pool(kept.folder), say=print)
    print(said(every, drawn, kept, arguments.processors))


if __name__ == "__main__":
    main()
