# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Keeps the runs of an experiment, does those that are missing, and writes pages from them."""
