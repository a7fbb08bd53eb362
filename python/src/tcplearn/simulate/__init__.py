# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulates TCP in ns-3: turns scenario files into runs, and results into rows. See docs/simulation.md."""
