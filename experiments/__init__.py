# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Has a package for each experiment, which reproduces a paper or measures this project's code, and `lib`, the
code that all experiments share."""
