# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Train models of the C core (classifiers of losses, and models of the first RTO), and export them into
its C headers."""
