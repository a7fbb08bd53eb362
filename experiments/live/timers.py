# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes docs/latency.md, the page for operators that compares settings of the retransmission timer: stock
Linux, a fixed `rto_min`, BBR, bpftune, `tcplearn live` and our kernel module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency import simulated
from experiments.latency.cells import P99, SLOW, Cell, overall
from experiments.latency.loads import LOADS, Fades
from experiments.lib import runs as kept
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run, select
from experiments.lib.statistics import Drawn, geometric_drawn, interval, spread
from experiments.live import lab
from tcplearn.output.numbers import milliseconds, ratio


@dataclass(frozen=True)
class Paths:
    """Paths in the lab, each measured with the same timers."""

    cells: Sequence[Cell]

    @property
    def lossy(self) -> list[Cell]:
        """Returns the paths where Linux's own timer retransmits for at least one request in a hundred."""
        return [c for c in self.cells if c.reaches_the_tail]

    def over_stock(self, timer: str, figure: str) -> str:
        """Returns `figure` under `timer` divided by that under Linux's own timer, on the lossy paths."""
        return spread(overall(self.lossy, timer, figure))

    def live_over(self, timer: str, figure: str) -> str:
        """Returns `figure` under `tcplearn live` divided by that under `timer`, on the lossy paths."""
        return spread(geometric_drawn([lab.over(c, timer, figure) for c in self.lossy]))

    def spurious(self, timer: str) -> str:
        """Returns the spurious retransmissions in 1,000 segments, in the mean and on the path with most."""
        permille = [c.timers[timer].spurious_permille for c in self.cells]
        return f"{np.mean(permille):.1f}; {max(permille):.1f}"

    def worst(self, timer: str, figure: str) -> str:
        """Returns the largest ratio of `figure` under `timer` to that under Linux's own timer on a lossy
        path, after the name of this path."""
        ratios = {c.path: c.ratio(timer, figure) for c in self.lossy}
        path = max(ratios, key=lambda name: ratios[name][0])
        return f"`{path}`: {spread(ratios[path])}"

    def on(self, path: str) -> Cell:
        return next(c for c in self.cells if c.path == path)


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    """Returns the variables of the page's template. The results of settings that were not measured together
    with `tcplearn live` are from the runs of experiments/latency."""
    cells = lab.cells_of(select(runs, profile=lab.PROFILE))
    if not cells:
        return {}
    others = kept.latest(kept.read(ROOT / "experiments" / "latency" / "runs.parquet"))
    full = select(others, host="lab", profile="full")
    module_fades = Fades(lab.timers_of(select(full, scenario=lab.FADES)))
    overload, fades = lab.overload_of(runs), lab.fades_of(runs)
    return {
        "paths": Paths(cells),
        "other_paths": Paths(lab.cells_of([run for run in full if run.scenario.startswith("thin-")])),
        "requests": f"{min(c.requests_of(lab.OURS) for c in cells):,}",
        "past_fades": lambda kernel, timer: spread(fades[kernel].over_stock(timer)),
        "past_fades_spaced": spread(module_fades.over_stock("priced/spaced")),
        "most_spurious": _most_spurious(cells),
        "drops": lambda timer: _between([overload.drops(load, timer) for load in LOADS]),
        "most_drops_in_ns3": ratio(_most_drops_in_ns3(select(others, host="ns3"), "rto_min 5 ms")),
        "spread": spread,
        "ms": milliseconds,
        "P99": P99,
        "SLOW": SLOW,
    }


def _most_spurious(cells: Sequence[Cell]) -> str:
    """Returns, as text, the name of the path on which `tcplearn live` adds most spurious retransmissions, and
    by how many in 1,000 segments there are more than with Linux's own timer."""
    drawn = lab.more_spurious(cells)
    worst = max(drawn, key=lambda path: float(np.mean(drawn[path])))
    low, high = interval(drawn[worst])
    return f"`{worst}`: {np.mean(drawn[worst]):.1f} ({low:.1f} to {high:.1f})"


def _between(drawn: Sequence[Drawn]) -> str:
    """Returns, as text, the least and the largest of the values `drawn`, with their intervals."""
    least, most = (choose(drawn, key=lambda one: one[0]) for choose in (min, max))
    return f"{spread(least)} and {spread(most)}"


def _most_drops_in_ns3(runs: Sequence[Run], timer: str) -> float:
    found = (queue.compared(timer, "drops") for queue in simulated.overloaded(runs))
    return max(value for value, *_ in filter(None, found))
