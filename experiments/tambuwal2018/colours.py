# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines tambuwal2018's colour for each startup policy (IW and ssthresh after a lost SYN-ACK)."""

from __future__ import annotations

from experiments.tambuwal2018.cells import STANDARD

#: Most colours are from Okabe and Ito's palette, which colour-blind readers can distinguish.
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

#: Startups drawn as dashed lines, because their lines often coincide with another startup's.
DASHED = ("tsl", "tsl-feedback")
