# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018 in the real kernel: the page and its figures. What is kept of their runs is not run again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tcplearn.errors import FailedError, printable
from tcplearn.jobs import Progress
from tcplearn.lab import run, scenario
from tcplearn.lab.scenario import Scenario
from tcplearn.output.files import write_atomically
from tcplearn.papers import Request, simulated
from tcplearn.papers.hwang2018 import lab_figures, lab_page, lab_runs
from tcplearn.papers.hwang2018.runs import Point
from tcplearn.scenario.tree import FULL

PAGE = "lab"
#: In the page's order.
FILES = ("loss-0", "loss-1e-3", "loss-1e-2", "loss-1e-1", "bursts", "beside-0", "beside-1e-2")
CONFIDENCE = 0.9


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    files = [file for name in FILES if (file := request.folder / "lab" / f"{name}.toml").exists()]
    if not files:
        return None
    kept = request.kept and request.kept / "lab" / "runs"
    options = run.Options(place=request.place, out=kept)
    found: dict[str, tuple[Scenario, list[Point]]] = {}
    drawn: list[tuple[Scenario, Path]] = []
    kernels: set[str] = set()
    runs = 0
    for file in files:
        chosen = scenario.load(file, request.profile or FULL)
        finished = run.run(chosen, options, progress, say)
        if finished.failures:
            raise FailedError(f"{len(finished.failures)} runs failed; the others are kept")
        runs += finished.runs
        kernels |= {json.loads(row["parameters"])["kernel"] for row in finished.rows}
        found[chosen.name] = (chosen, lab_runs.points(chosen, finished.rows))
        if chosen.name == lab_page.LOSSY:
            drawn.append((chosen, finished.folders[0]))
    plain = {name: points for name, (of, points) in found.items() if lab_runs.plain_path(of)}
    figures = list(lab_figures.draw(plain, drawn, CONFIDENCE))
    simulated.write_figures(request.out, ((file, svg) for file, _, svg in figures))
    titles = [(file, title) for file, title, _ in figures]
    about = lab_page.About(request.command, CONFIDENCE, request.notes(PAGE), sorted(kernels), titles)
    page = request.out / f"{PAGE}.md"
    write_atomically(page, lab_page.page(found, about))
    return f"{runs} runs, {len(figures)} figures: {printable(page)}"
