# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the papers' pages from the lab share: their scenarios run, but for what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tcplearn.errors import FailedError
from tcplearn.jobs import Progress
from tcplearn.lab import run
from tcplearn.lab.scenario import Scenario
from tcplearn.papers import Request


def folder(request: Request) -> Path | None:
    return request.kept and request.kept / "lab" / "runs"


def _options(request: Request) -> run.Options:
    return run.Options(place=request.place, out=folder(request))


def finished(
    request: Request, scenarios: Sequence[Scenario], progress: Progress | None, say: Callable[[str], None]
) -> list[run.Finished]:
    """One for each scenario. Raise FailedError where a run failed."""
    options = _options(request)
    out = [run.run(one, options, progress, say) for one in scenarios]
    if failures := [line for done in out for line in done.failures]:
        raise FailedError(f"{len(failures)} runs failed; the others are kept")
    return out
