# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's live experiments: a page and Figure 26. What is kept of their runs is not run again."""

from __future__ import annotations

from collections.abc import Callable

from tcplearn.errors import printable
from tcplearn.jobs import Progress
from tcplearn.lab import scenario
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.papers import Request, lab_runs
from tcplearn.papers.nunes2014 import figure_26, live_page

PAGE, FIGURE = "live", "live-figure-26.svg"
#: Every algorithm without tail loss probes, and some with them.
PROFILES = ("compare", "probes")
_Say = Callable[[str], None]


def write(request: Request, progress: Progress | None, say: _Say) -> str | None:
    folder, out = request.folder, request.out
    files = sorted(folder.glob("live-*.toml"))
    if not files:
        return None
    make_directory(out)
    published = live_page.read_published(folder / "published-live.csv")
    profiles = (*((request.profile,) if request.profile else PROFILES), *request.also)
    runs = 0
    parts: list[live_page.Part] = []
    picture: list[figure_26.Json] = []
    for file in files:
        chosen = [scenario.load(file, profile) for profile in profiles]
        finished = lab_runs.finished(request, chosen, progress, say)
        runs += sum(f.runs for f in finished)
        parts.append(live_page.Part(chosen[0], [row for f in finished for row in f.rows]))
        picture += figure_26.rows(chosen[0], finished[0].folders[0])
    if picture:
        write_atomically(out / FIGURE, figure_26.draw(picture))
    figure = FIGURE if picture else ""
    page = live_page.page(parts, published, request.command, request.notes(PAGE), figure)
    write_atomically(out / f"{PAGE}.md", page)
    return f"{runs} runs: {printable(out / f'{PAGE}.md')}"
