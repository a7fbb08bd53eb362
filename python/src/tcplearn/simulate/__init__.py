# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulates TCP in ns-3: turns scenario files into runs, and the results of runs into tidy rows. See
docs/simulation.md."""
