# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes lab.md: tambuwal2018's startup policies (IW and ssthresh after a lost SYN-ACK) on a real Linux
kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.lib.batches import Batch, LabRuns
from experiments.lib.runs import Run, grouped
from experiments.tambuwal2018.lab_cells import (
    Interval,
    Part,
    after_handshake_ms,
    keep,
    mean,
    quantile,
    ratio,
    whole_ms,
)
from experiments.tambuwal2018.lab_figures import draw
from tcplearn.lab.pages import Page
from tcplearn.lab.scenario import STOCK
from tcplearn.output.markdown import table_of

NO_SSTHRESH = 2**30 - 1
#: Profiles of the scenario files. Each web page loses its first SYN-ACK under `full` (the startup policies
#: without feedback) and under `feedback` (with `tsl-feedback`); under `some`, 4 % of the pages do.
PROFILES = ("full", "feedback", "some")
HEAD = (
    "page",
    "startup",
    "pages",
    "whole, ms",
    "whole / stock's",
    "p99 of whole, ms",
    "after the handshake, ms",
    "after / stock's",
)


def batches(folder: Path, profile: str) -> list[Batch]:
    profiles = [profile] if profile else PROFILES
    return [LabRuns(folder / "lab" / f"{name}.toml", of, keep) for of in profiles for name in ("near", "far")]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    by_scenario = grouped(runs, lambda run: run.scenario)
    parts = [Part.of(of) for of in by_scenario.values()]
    return {
        "kernels": ", ".join(sorted({run.host_version for run in runs})),
        "parts": [
            {
                "heading": f"{part.name}: {part.title}",
                "began": _began(part),
                "times": _times(part, lambda _: True),
                "lost": _times(part, lambda page: page.is_lost) if _some(part) else "",
            }
            for part in parts
        ],
        "figures": list(draw(parts)),
    }


def _some(part: Part) -> bool:
    return any(not page.is_lost for cell in part.fetched.values() for page in cell)


def _shares(values: Sequence[int], shown: Callable[[int], str] = str) -> str:
    counts = Counter(map(shown, values))
    return ", ".join(f"{name} ({100 * n / len(values):.0f} %)" for name, n in counts.most_common())


def _threshold(segments: int) -> str:
    return "none" if segments >= NO_SSTHRESH else str(segments)


def _began(part: Part) -> str:
    rows = []
    for startup, fetched in part.fetched.items():
        began = [p.began for p in fetched if p.is_lost and p.began is not None]
        if not began:
            continue
        windows = _shares([b.iw for b in began])
        limits = _shares([b.ssthresh for b in began], _threshold)
        resent = _shares([b.retransmitted for b in began])
        rows.append([f"`{startup}`", str(len(began)), windows, limits, resent])
    return table_of(("startup", "connections", "IW", "ssthresh", "SYN-ACKs sent again"), rows)


def _times(part: Part, wanted: Callable[[Page], bool]) -> str:
    return table_of(HEAD, _rows(part, wanted))


def _rows(part: Part, wanted: Callable[[Page], bool]) -> Iterator[list[str]]:
    together = [("all", part.sizes)] if len(part.sizes) > 1 else []
    for label, sizes in [(f"{size / 1000:g} kB", [size]) for size in part.sizes] + together:
        cells = {
            name: [p for size in sizes for p in part.cell(name, size) if wanted(p)] for name in part.fetched
        }
        base = cells.get(STOCK, [])
        for startup, cell in cells.items():
            if not cell:
                continue
            compared = startup != STOCK and base
            yield [
                label,
                f"`{startup}`",
                str(len(cell)),
                _shown(mean(cell, whole_ms), 0),
                _shown(ratio(cell, base, whole_ms), 3) if compared else "",
                f"{quantile(cell, whole_ms, 0.99):.0f}",
                _shown(mean(cell, after_handshake_ms), 0),
                _shown(ratio(cell, base, after_handshake_ms), 2) if compared else "",
            ]


def _shown(of: Interval, digits: int) -> str:
    value, low, high = of
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
