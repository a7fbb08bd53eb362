# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Learned TCP that one can measure, simulate, run on a real kernel and deploy."""

__version__ = "0.1.0"
