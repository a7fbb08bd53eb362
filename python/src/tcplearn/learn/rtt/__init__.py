# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Learn from round-trip times of destinations: baddam2018's regression, and models of a connection's first
RTO."""
