# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A colour for each startup, the same in every figure of tambuwal2018."""

from __future__ import annotations

from experiments.tambuwal2018.cells import STANDARD

#: Okabe and Ito's, the standard in grey behind them.
COLOURS = {
    STANDARD: "#6b6b6b",
    "tsl/1-16": "#56b4e9",
    "tsl/1-1000": "#0072b2",
    "tsl/3-2": "#e69f00",
    "tsl/3-16": "#d55e00",
    "tsl/3-1000": "#882255",
    "tsl": "#009e73",
    "linux": "#cc79a7",
    "tsl-feedback": "#332288",
}

#: Drawn over those whose runs theirs often are.
DASHED = ("tsl", "tsl-feedback")
