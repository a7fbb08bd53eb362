# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stores the runs of an experiment, executes missing runs, and writes pages from the stored runs."""
