# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes docs/latency.md, the page for operators that compares settings of the retransmission timer: stock
Linux, a fixed `rto_min`, BBR, bpftune, `tcplearn live` and our kernel module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency import simulated
from experiments.latency.cells import P99, SLOW, Cell, overall
from experiments.latency.lab import by_timer, overload_of
from experiments.latency.loads import LOADS, Fades
from experiments.latency.tables import TOOLS
from experiments.lib import runs as kept
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run, select
from experiments.lib.statistics import geometric_drawn, interval, spread
from experiments.live import lab
from tcplearn.output.numbers import ratio


class Paths:
    """Paths in the lab, each measured with the same timers. On the `lossy` ones Linux's own timer retransmits
    for at least one request in a hundred."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.lossy = [c for c in cells if c.reaches_the_tail]
        self.on = {c.path: c for c in cells}

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
        """Returns the name of the lossy path with the largest ratio of `figure` to stock's, and the ratio."""
        c = max(self.lossy, key=lambda c: c.ratio(timer, figure)[0])
        return f"`{c.path}`: {spread(c.ratio(timer, figure))}"


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    """Returns the variables of the page's template. The results of settings that were not measured together
    with `tcplearn live` are from the runs of experiments/latency."""
    cells = lab.cells_of(runs, profile=lab.PROFILE)
    if not cells:
        return {}
    others = kept.latest(kept.read(ROOT / "experiments" / "latency" / "runs.parquet"))
    full = select(others, host="lab", profile="full")
    module_fades = Fades(by_timer(select(full, scenario=lab.FADES)))
    overload, fades = overload_of(runs, lab.OVERLOAD, lab.TITLES), lab.fades_of(runs)
    queues = simulated.overloaded(select(others, host="ns3")).values()
    drops_in_ns3 = (simulated.compared(queue, "rto_min 5 ms", simulated.DROPS) for queue in queues)

    def drops(timer: str) -> str:
        found = sorted((overload.drops(load, timer) for load in LOADS), key=lambda drawn: drawn[0])
        return f"{spread(found[0])} and {spread(found[-1])}"

    return {
        "paths": Paths(cells),
        "other_paths": Paths(lab.cells_of(full)),
        "requests": f"{min(c.requests_of(lab.OURS) for c in cells):,}",
        "past_fades": lambda kernel, timer: spread(fades[kernel].over_stock(timer)),
        "past_fades_spaced": spread(module_fades.over_stock("priced/spaced")),
        "most_spurious": _most_spurious(cells),
        "drops": drops,
        "most_drops_in_ns3": ratio(max(value for value, *_ in filter(None, drops_in_ns3))),
        **TOOLS,
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
