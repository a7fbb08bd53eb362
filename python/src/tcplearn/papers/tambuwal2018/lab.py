# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018's startups on a real kernel: the page and its figures, of runs that are kept or done now."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn.jobs import Progress
from tcplearn.lab import scenario
from tcplearn.output.files import write_atomically
from tcplearn.papers import Request, lab_runs, simulated
from tcplearn.papers.tambuwal2018 import lab_figures, lab_page
from tcplearn.papers.tambuwal2018.lab_cells import Part
from tcplearn.scenario.tree import FULL

PAGE, FOLDER = "lab", "lab"
#: Every page loses its first SYN-ACK, of all startups and of the one with feedback; some do.
PROFILES = (FULL, "feedback", "some")


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    files = sorted((request.folder / FOLDER).glob("*.toml"), reverse=True)
    if not files or request.profile == simulated.PROFILE:
        return None  # that profile is of the simulations alone
    profiles = (request.profile,) if request.profile else PROFILES
    chosen = [scenario.load(file, profile) for profile in profiles for file in files]
    finished = lab_runs.finished(request, chosen, progress, say)
    parts = [Part.of(one, done.folders) for one, done in zip(chosen, finished, strict=True)]
    drawn = list(lab_figures.draw(parts))
    simulated.write_figures(request.out, ((name, svg) for name, _, svg in drawn))
    titles = [(name, title) for name, title, _ in drawn]
    text = lab_page.page(parts, titles, request.command, request.notes(PAGE))
    write_atomically(request.out / f"{PAGE}.md", text)
    return f"{sum(done.runs for done in finished)} runs: {request.out / PAGE}.md"
