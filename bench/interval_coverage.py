# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Prints a table of docs/metrics.md, which shows how often a 95 % interval of an error ratio contains the
true ratio.
.venv/bin/python bench/interval_coverage.py       takes some minutes"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "tests"))

from tcplearn.replay import bootstrap
from test_bootstrap import autoregressive, blocks_of

PHIS = (0.0, 0.5, 0.9, 0.98)
LENGTHS = (30, 100, 300, 1000, 10_000)
SERIES, SERIES_LONG = 400, 150
TRUTH_SAMPLES = 400_000
NAMES = ["jacobson", "last"]
PLAIN = (1 - bootstrap.COVERAGE) / 2


def coverage(rows: int, phi: float) -> tuple[float, float]:
    """Return two fractions: of the intervals of `tcplearn replay`, and of plain percentile intervals, that
    contain the true ratio of the prediction errors of two estimators (`last` and `jacobson`). The RTTs are
    autoregressive series of `rows` samples with the coefficient `phi`."""
    rng = np.random.default_rng(1)
    sums = sum(
        blocks_of(autoregressive(rng, rows, phi), NAMES).sum(axis=0) for _ in range(TRUTH_SAMPLES // rows)
    )
    truth = sums[1, 0] / sums[0, 0]
    series = SERIES if rows < LENGTHS[-1] else SERIES_LONG
    held = plain = 0
    for i in range(series):
        blocks = blocks_of(autoregressive(rng, rows, phi), NAMES)
        low, high, drawn = bootstrap.of_flow(blocks, 0, bootstrap.generator(i, "coverage"))
        held += bool(low[1, 0] <= truth <= high[1, 0])
        low, high = bootstrap.intervals(drawn, 0, PLAIN)
        plain += bool(low[1, 0] <= truth <= high[1, 0])
    return held / series, plain / series


def main() -> None:
    print("| samples | " + " | ".join(f"φ = {phi:g}" for phi in PHIS) + " |")
    print("|---" * (len(PHIS) + 1) + "|")
    for rows in LENGTHS:
        cells = ("{:.0f} % ({:.0f})".format(*(100 * c for c in coverage(rows, phi))) for phi in PHIS)
        print(f"| {rows:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
