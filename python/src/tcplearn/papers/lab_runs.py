# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the papers' pages from the lab share: their scenarios run, but for what is kept."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence

from tcplearn.errors import FailedError
from tcplearn.jobs import Progress
from tcplearn.lab import run
from tcplearn.lab.checkout import LAB
from tcplearn.lab.scenario import Scenario
from tcplearn.papers import Request


def finished(
    request: Request, scenarios: Sequence[Scenario], progress: Progress | None, say: Callable[[str], None]
) -> list[run.Finished]:
    """One for each scenario: runs of today's module where they are kept, or of one in linux/lab/earlier.toml.
    Raise FailedError where a run failed."""
    listed = LAB / "earlier.toml"
    earlier = tomllib.loads(listed.read_text())["pages"] if listed.exists() else ()
    kept = request.kept and request.kept / "lab" / "runs"
    options = run.Options(place=request.place, out=kept, earlier=tuple(earlier))
    out = [run.run(one, options, progress, say) for one in scenarios]
    if failures := [line for done in out for line in done.failures]:
        raise FailedError(f"{len(failures)} runs failed; the others are kept")
    return out
