# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables and pictures of docs/latency.md, of the lab's runs that are kept in bench/latency-runs, and of those
that `tcplearn lab run` has left on this machine: every thin-*.toml is a path.

python bench/latency_runs.py       does the runs that are not kept
python bench/latency.py            prints them
python bench/latency.py --write    writes them into docs/latency.md, and docs/images/latency*.svg
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import latency_archive
import latency_others as others
import overrun_chart
from latency_bar import bar, overall
from latency_cells import (
    OURS,
    ROOT,
    STATIC,
    STOCK,
    Cell,
    cell,
    interval,
    is_earlier,
    p99,
    path_cell,
    paths,
    slowest,
)
from latency_tables import against_floor, bulk, by_path, by_timer, by_workload, needless, requests, wired

from tcplearn.output.numbers import counted
from tcplearn.replay.resends import NEEDLESS, Summary
from tcplearn.report import resend_chart

BEGIN, END = "<!-- begin: python bench/latency.py -->\n", "<!-- end -->\n"
PAGE = ROOT / "docs" / "latency.md"
WORKLOADS = {
    "stream": "a message of 200 bytes each 30 ms",
    "fresh": "a connection for each request",
    "inherit": "a connection for each request, begun with what the one before learned",
    "page": "30 objects of 10 kB at once",
}


def _draw(cells: Sequence[Cell], folder: Path) -> None:
    """Summaries of the timers, and their intervals."""
    summaries, intervals = [], {}
    for timer in (*STATIC, "thin linear", *OURS):
        each = zip(resend_chart.MEASURED, (p99, slowest), strict=True)
        found = {key: overall(cells, timer, f) for key, f in each}
        figures = {key: value for key, (value, _) in found.items()}
        summaries.append(Summary(timer, figures | {NEEDLESS: needless(cells, timer)}))
        if timer != STOCK:
            intervals[timer] = {key: interval(drawn) for key, (_, drawn) in found.items()}
    resend_chart.write(summaries, folder, "latency", resend_chart.MEASURED, intervals)


def _of_paths(cells: Sequence[Cell], found_bulk: Sequence[Cell]) -> Iterator[str]:
    yield f"**By timer**, geometric means over the paths:\n\n{by_timer(cells)}"
    yield "![needless resends against p99 and the slowest 2 %](images/latency.svg)"
    yield (
        "**By path**, times in ms, ours over stock's with 95 % intervals (° stock's timer sends again for "
        "less than one request in a hundred; kept-…: looked at before, so no blind test; kept-train's bulk "
        f"had a part in ADR 55):\n\n{by_path(cells)}"
    )
    yield (
        "**Over the best fixed `rto_min` in hindsight, by path**, with no more needless resends than ours "
        f"(stock where there is none), chosen on one half and judged on the other:\n\n{against_floor(cells)}"
    )
    if first := next((c for c in cells if c.path == "wired"), None):
        yield (
            f"**Wired, 30 ms, 1 % loss**, {requests(first)} requests of each timer. With one packet in a "
            "hundred lost, chance decides for any timer whether its p99 is one of those; the slowest 2 % say "
            f"more:\n\n{wired(first)}"
        )
    if found_bulk:
        yield f"**Bulk**, 2 MB at a time, 95 % intervals of transfers drawn again:\n\n{bulk(found_bulk)}"


def _of_others(
    overruns: dict[str, others.Overruns], loads: dict[str, dict[str, others.Load]], jain: others.Shared
) -> Iterator[str]:
    if overruns:
        yield (
            "**Past the end of a fade** (`fades.toml`): from its end to the answer to the request lost in "
            f"it, with 95 % intervals of fades drawn again:\n\n{others.past_fades(overruns)}"
        )
        yield "![overrun past the end of fades](images/latency-fades.svg)"
    if loads:
        yield (
            "**Thin flows over an overloaded queue** (`overload.toml`), with 95 % intervals: each run's "
            f"answers in {others.BLOCKS} blocks drawn again, drops as counts whose "
            f"variance is {others.dispersion(loads):.1f} times their mean, as between runs, 1 at least:\n\n"
            + others.overload(loads)
        )
    if jain:
        yield (
            "**A transfer beside another of plain CUBIC** (`--profile beside`), means over the runs:\n\n"
            + others.beside_stock(jain)
        )
    if visits := others.visits():
        yield (
            "**Real programs** (`programs-requests.toml`), over the wired path with 2 % loss:\n\n"
            + others.by_program(visits)
        )


def _earlier() -> str:
    """What is not of the module whose fingerprint is in bench/latency-runs/fingerprints.toml."""
    found = [
        f"{what} ({counted(n, 'path')})"
        for profile, what in (WORKLOADS | {"bulk": "bulk", "beside": "a transfer beside stock"}).items()
        if (n := sum(is_earlier(file, profile) for file in paths(profile)))
    ]
    found += [what for profile, what in others.VISITS.items() if is_earlier(others.PROGRAMS, profile)]
    found += [what for profile, what in others.LOADS.items() if is_earlier(others.OVERLOAD, profile)]
    found += ["fades"] if is_earlier(others.FADES, "full") else []
    return f"Of an earlier module, as there is no run of the page's: {'; '.join(found) or 'nothing'}."


def _parts(cells: Sequence[Cell], overruns: dict[str, others.Overruns]) -> Iterator[str]:
    found_bulk = _cells("bulk")
    loads, jain = others.loads(), others.jain()
    lines = others.bar(overruns, loads, jain)
    over = f"over {counted(len(cells), 'path')}, one kept connection, 1 kB, but where another load is named"
    yield f"**Bar**, {over}:\n\n{bar(cells, found_bulk, lines)}"
    yield from _of_paths(cells, found_bulk)
    if workloads := _workloads():
        yield f"**Other ways to send**:\n\n{by_workload(workloads)}"
    yield from _of_others(overruns, loads, jain)
    yield _earlier()


def _cells(profile: str) -> list[Cell]:
    return [c for c in (cell(file, profile) for file in paths(profile)) if c]


def _workloads() -> Mapping[str, Sequence[Cell]]:
    found = {what: _cells(profile) for profile, what in WORKLOADS.items()}
    return {what: cells for what, cells in found.items() if cells}


def of_page(cells: Sequence[Cell], overruns: dict[str, others.Overruns]) -> str:
    return "\n\n".join(_parts(cells, overruns)) + "\n"


def path_cells() -> list[Cell]:
    return [c for c in map(path_cell, paths()) if c]


def main() -> None:
    cells, overruns = path_cells(), others.overruns()
    if not cells:
        sys.exit("no path has kept runs of stock and of the page's `priced`: python bench/latency_runs.py")
    text = of_page(cells, overruns)
    if "--write" not in sys.argv[1:]:
        print(text, end="")
        return
    latency_archive.keep()
    head, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")
    images = PAGE.parent / "images"
    _draw(cells, images)
    if overruns:
        overrun_chart.write(overruns, images / "latency-fades.svg")


if __name__ == "__main__":
    main()
