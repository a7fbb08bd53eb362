# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulation in ns-3: scenario files to runs, runs to tidy rows. docs/simulation.md is its page."""
