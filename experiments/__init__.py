# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Contains a package for each experiment, which reproduces a paper or measures tcplearn, and the package
`lib`, which all experiments use."""
