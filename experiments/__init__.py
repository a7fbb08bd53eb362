# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""One package for each experiment, which reproduces a paper or measures tcplearn; `lib` serves them all."""
