# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Learn from destinations' RTTs: the regression of the paper baddam2018, and models of the first RTO."""
