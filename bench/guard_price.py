# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The cost of the guard of `priced` against overload where no queue is overloaded: ratios to stock, geometric
means of ns-3's paths where losses reach the tail, with a bootstrap over seeds. No method that finds the cause
of a loss can regain more than this.

tcplearn simulate ns3/scenarios/thin.toml --profile no-guard [--out DIR]
python bench/guard_price.py [--out DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from latency_cells import OURS, spread
from latency_simulated import over_stock
from simulated_cells import FIGURES, Cell, cells_of

from tcplearn.output.markdown import table_of
from tcplearn.simulate.results import RunStore

SCENARIO = Path(__file__).resolve().parents[1] / "ns3" / "scenarios" / "thin.toml"
PROFILE = "no-guard"
WITHOUT = ":most_loss=1,most_loss_queued=1"


def table(cells: Sequence[Cell]) -> str:
    rows = [
        [f"`{timer}`", *(spread(*over_stock(cells, timer, figure)) for figure in FIGURES)]
        for timer in (name + guard for name in OURS for guard in ("", WITHOUT))
    ]
    return table_of(["timer", *(f"{figure}, × stock" for figure in FIGURES)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    cells = cells_of(SCENARIO, RunStore(parser.parse_args().out), profile=PROFILE)
    if not cells:
        parser.error(f"no run is kept: tcplearn simulate {SCENARIO} --profile {PROFILE}")
    print(table([c for c in cells if c.reaches_the_tail]))


if __name__ == "__main__":
    main()
