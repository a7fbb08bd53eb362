# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws the network paths of this experiment again, and writes their scenario files."""

from pathlib import Path

from experiments.families import draw

draw.write(Path(__file__).parent)
