# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads a profile of ns-3's scenarios and checks every grid in it: python read_scenarios.py FILE...
[--profile NAME]. It does not plan the runs, because planning a large profile takes seconds."""

from __future__ import annotations

import argparse
from pathlib import Path

from tcplearn.scenario import tree
from tcplearn.simulate.scenario import Grid, load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--profile", default="quick")
    options = parser.parse_args()
    for file in options.files:
        document = load(file, options.profile)
        base = document.grid.model_dump()
        grids = [Grid.model_validate(tree.overlaid(base, grid)) for grid in document.grids]
        print(f"{file}: {len(grids)} grids")


if __name__ == "__main__":
    main()
