# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes the scenario files of the network paths, drawn again from the same seeds."""

from pathlib import Path

from experiments.families import draw

draw.write(Path(__file__).parent)
