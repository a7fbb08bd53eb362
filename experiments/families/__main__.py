# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws the paths again and writes their scenario files."""

from experiments.families.draw import main

main()
