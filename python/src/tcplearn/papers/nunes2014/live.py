# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's live experiments: a page and Figure 26, and a page with 4 ms as the unit of the experts' grid.
What is kept of their runs is not run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcplearn.errors import printable
from tcplearn.jobs import Progress
from tcplearn.lab import scenario
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.papers import Request, lab_runs
from tcplearn.papers.nunes2014 import figure_26, live_page
from tcplearn.scenario.tree import FULL

PAGE, FIGURE = "live", "live-figure-26.svg"
#: The paper's own size; and beside it experts on a grid that fits the path, and ours.
PROFILES = (FULL, "beside")
PAGE_4MS, PROFILES_4MS = "live-4ms", ("4ms",)
_Say = Callable[[str], None]


def write(request: Request, progress: Progress | None, say: _Say) -> str | None:
    return _write(request, progress, say, PAGE, PROFILES)


def write_4ms(request: Request, progress: Progress | None, say: _Say) -> str | None:
    return _write(request, progress, say, PAGE_4MS, PROFILES_4MS)


def _write(
    request: Request, progress: Progress | None, say: _Say, name: str, usual: Sequence[str]
) -> str | None:
    folder, out = request.folder, request.out
    files = sorted(folder.glob("live-*.toml"))
    if not files:
        return None
    make_directory(out)
    published = live_page.read_published(folder / "published-live.csv")
    profiles = (*((request.profile,) if request.profile else usual), *request.also)
    runs = 0
    parts: list[live_page.Part] = []
    picture: list[figure_26.Json] = []
    for file in files:
        chosen = [scenario.load(file, profile) for profile in profiles]
        finished = lab_runs.finished(request, chosen, progress, say)
        runs += sum(f.runs for f in finished)
        parts.append(live_page.Part(chosen[0], [row for f in finished for row in f.rows]))
        if name == PAGE:
            picture += figure_26.rows(chosen[0], finished[0].folders[0])
    if picture:
        write_atomically(out / FIGURE, figure_26.draw(picture))
    figure = FIGURE if picture else ""
    page = live_page.page(parts, published, request.command, request.notes(name), figure)
    write_atomically(out / f"{name}.md", page)
    return f"{runs} runs: {printable(out / f'{name}.md')}"
