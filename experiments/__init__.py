# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reproduces papers and measures tcplearn: a package for each experiment, and `lib`, which all of them
use."""
