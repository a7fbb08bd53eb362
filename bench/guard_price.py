# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the guard of `priced` against overload costs where no queue is overloaded: over stock's, geometric
means of ns-3's paths where losses reach the tail, seeds drawn again. Nothing that tells the cause of a loss
can give back more than that.

tcplearn simulate ns3/scenarios/thin.toml --profile no-guard [--out DIR]
python bench/guard_price.py [--out DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from latency_cells import OURS, geometric, spread
from simulated_cells import FIGURES, Cell, cells_of

from tcplearn.output.markdown import table_of
from tcplearn.simulate.results import RunStore

SCENARIO = Path(__file__).resolve().parents[1] / "ns3" / "scenarios" / "thin.toml"
PROFILE = "no-guard"
WITHOUT = ":most_loss=1,most_loss_queued=1"


def table(cells: Sequence[Cell]) -> str:
    rows = []
    for timer in (name + guard for name in OURS for guard in ("", WITHOUT)):
        row = [f"`{timer}`"]
        for figure in FIGURES:
            each = [c.ratio(timer, figure) for c in cells]
            drawn = np.exp(np.mean([np.log(drawn) for _, drawn in each], axis=0))
            row.append(spread(geometric([value for value, _ in each]), drawn))
        rows.append(row)
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
