# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018 in the real kernel: the page and its figures. What is kept of their runs is not run again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tcplearn.errors import printable
from tcplearn.jobs import Progress
from tcplearn.lab import scenario
from tcplearn.lab.scenario import Scenario
from tcplearn.output.files import write_atomically
from tcplearn.papers import Request, simulated
from tcplearn.papers import lab_runs as lab_runs_of
from tcplearn.papers.hwang2018 import lab_figures, lab_page, lab_runs
from tcplearn.papers.hwang2018.runs import Point
from tcplearn.scenario.tree import FULL

PAGE = "lab"
#: In the page's order.
FILES = (
    "loss-0",
    "loss-1e-3",
    "loss-1e-2",
    "loss-1e-1",
    "bursts",
    "beside-0",
    "beside-1e-2",
    "history-0",
    "history-1e-2",
    "codel",
    "reordered",
    "cellular",
)
CONFIDENCE = 0.9


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    files = [file for name in FILES if (file := request.folder / "lab" / f"{name}.toml").exists()]
    if not files:
        return None
    chosen = [scenario.load(file, request.profile or FULL) for file in files]
    finished = lab_runs_of.finished(request, chosen, progress, say)
    found: dict[str, tuple[Scenario, list[Point]]] = {}
    drawn: list[tuple[Scenario, Path]] = []
    kernels: set[str] = set()
    for one, done in zip(chosen, finished, strict=True):
        kernels |= {json.loads(row["parameters"])["kernel"] for row in done.rows}
        found[one.name] = (one, lab_runs.points(one, done.rows))
        if one.name == lab_page.LOSSY:
            drawn.append((one, done.folders[0]))
    plain = {name: points for name, (of, points) in found.items() if lab_runs.plain_path(of)}
    figures = list(lab_figures.draw(plain, drawn, CONFIDENCE))
    simulated.write_figures(request.out, ((file, svg) for file, _, svg in figures))
    titles = [(file, title) for file, title, _ in figures]
    about = lab_page.About(request.command, CONFIDENCE, request.notes(PAGE), sorted(kernels), titles)
    page = request.out / f"{PAGE}.md"
    write_atomically(page, lab_page.page(found, about))
    return f"{sum(done.runs for done in finished)} runs, {len(figures)} figures: {printable(page)}"
