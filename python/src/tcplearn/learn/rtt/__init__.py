# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Learn from destinations' RTTs: baddam2018's regression, and models of a connection's first RTO."""
