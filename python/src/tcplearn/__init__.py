# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""RTT estimators and retransmission timers, classical and learned, measured on your own traffic."""

__version__ = "0.1.0"
