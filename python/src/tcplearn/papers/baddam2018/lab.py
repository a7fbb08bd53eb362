# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""baddam2018's evaluation in the lab: the grid of downloads and the sanity check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tcplearn.jobs import Progress
from tcplearn.lab import scenario
from tcplearn.lab.downloads import RECEIVER
from tcplearn.lab.scenario import Scenario
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import table_of
from tcplearn.papers import Request, lab_runs, simulated
from tcplearn.papers.baddam2018 import cells, lab_figures, published
from tcplearn.papers.baddam2018.cells import Cell
from tcplearn.scenario.tree import FULL

PAGE, GRID, SANITY = "lab", "grid.toml", "sanity.toml"
#: The grid's background traffic.
PROFILES = (FULL, "low", "high")
ENDS = {"": "", "sender": "sender", RECEIVER: "downloader"}
HEAD = (
    "kernel", "version", "changed at", "download, s", "to stock's", "resent, at the downloader",
    "at the sender", "by the kernel", "timeouts",
)  # fmt: skip
#: As counted at the downloader, at the sender, and by the sender itself.
RESENT = (cells.RESENT, cells.RESENT_AT_SENDER, cells.RESENT_BY_KERNEL)
ABOUT = (
    "Downloads by curl from nginx over a real kernel in virtual time; each run has one of every cell, "
    "interleaved. *Resent* is `tshark -Y tcp.analysis.retransmission`, of a capture where the paper made "
    "its own, at the downloader, and of one at the sender, before anything is lost. It takes a resend that "
    "comes soon for a segment out of order, and counts too few: *by the kernel* is the sender's own "
    "counter, as *timeouts*. Means ± standard deviation; in brackets 95 % intervals of a ratio of means, "
    "the downloads of a run drawn together, 2,000 times. `stock` is the kernel's own timer, measured by the "
    "module."
)


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    grid, sanity = request.folder / GRID, request.folder / SANITY
    if not grid.exists():
        return None
    own = request.profile not in ("", lab_runs.KEPT)
    profiles = (request.profile,) if own else PROFILES
    chosen = [scenario.load(grid, profile) for profile in profiles]
    chosen.append(scenario.load(sanity, request.profile if own else FULL))
    if request.profile == lab_runs.KEPT:
        chosen = lab_runs.kept(request, chosen)
    done = list(zip(chosen, lab_runs.finished(request, chosen, progress, say), strict=True))
    parts = [(one, cells.cells(one, of.rows)) for one, of in done if not one.transfer.places]
    pinged = [(one, of.rows) for one, of in done if one.transfer.places]
    kernels = sorted({(f / "kernel").read_text().strip() for _, of in done for f in of.folders})
    make_directory(request.out)
    drawn = list(lab_figures.draw(parts))
    simulated.write_figures(request.out, ((name, svg) for name, _, svg in drawn))
    lines = [
        "# The grid of downloads, in the lab",
        f"Made by `{request.command}`; do not edit. Kernel {', '.join(kernels)}.",
        ABOUT,
        request.notes(PAGE).strip(),
        *(f"**{title}**\n\n![{title}](figures/{name})" for name, title, _ in drawn),
    ]
    for one, of in parts:
        runs = len(next(iter(of)).values[cells.TIME])
        lines += [f"## {one.title}", f"{one.transfer.bytes / 1e6:g} MB, {runs} downloads a cell."]
        lines.append(table_of(HEAD, list(_rows(of)), [True] * 3 + [False] * 6))
    for one, rows in pinged:
        lines += ["## Sanity check", _sanity(one, rows, request)]
    write_atomically(request.out / f"{PAGE}.md", "\n\n".join(filter(None, lines)) + "\n")
    return f"{sum(of.runs for _, of in done)} runs: {request.out / PAGE}.md"


def _rows(of: Sequence[Cell]) -> Iterator[list[str]]:
    stock = {cell.kernel: cell for cell in of if cell.version == cells.STOCK_NAME}
    for cell in of:
        ratio = ""
        if cell.version != cells.STOCK_NAME:
            value, low, high = cells.ratio(cell, stock[cell.kernel], cells.TIME)
            ratio = f"{value:.2f} [{low:.2f}, {high:.2f}]"
        counts = [f"{cell.mean(m):.1f} ± {cell.spread(m):.1f}" for m in RESENT]
        time = f"{cell.mean(cells.TIME):.2f} ± {cell.spread(cells.TIME):.2f}"
        timeouts = f"{cell.mean(cells.TIMEOUTS):.1f}"
        yield [cell.kernel, cell.version, ENDS[cell.at], time, ratio, *counts, timeouts]


def _sanity(pinged: Scenario, rows: Sequence[Mapping[str, Any]], request: Request) -> str:
    """Min, mean and max of each site before and after, beside the paper's own change."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        if row["metric"].startswith("ping_") and row["value"] is not None:
            kernel, estimator, *_ = row["algorithm"].split("+")
            version = published.ORIGINAL if estimator == "stock" else published.CHANGED
            found.setdefault((kernel, row["flow"], version), {})[row["metric"]] = row["value"]
    printed = {
        (b.kernel, b.site, b.version): (b.least, b.mean, b.most) for b in published.bursts(request.folder)
    }
    out = []
    for kernel in pinged.algorithms.congestion:
        for site in pinged.transfer.places.site if pinged.transfer.places else []:
            line = [kernel, site.name]
            for version in (published.ORIGINAL, published.CHANGED):
                ours = found.get((kernel, site.name, version), {})
                line.append(" / ".join(f"{value:.1f}" for value in ours.values()))
                line.append(" / ".join(f"{value:g}" for value in printed[kernel, site.name, version]))
            out.append(line)
    head = ["kernel", "site", "original", "paper's", "changed", "paper's"]
    about = (
        "Least / mean / largest RTT in ms of SYN pings from the downloader's kernel, as it is and changed "
        "as written. Each site is a path of the RTT that the paper printed for its original cubic kernel."
    )
    return f"{about}\n\n{table_of(head, out)}"
