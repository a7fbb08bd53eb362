# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: the limits of the bars, for the pages on ns-3 and on the lab."""

# Goodput at a loss rate of 0.01, at least so many times that of
OVER_LOSSLESS = 0.7  # the same sender without loss: the paper's 70 %
OVER_VENO = 1.5
OVER_ORACLE = 0.95
OVER_BBR = 0.9  # in the lab: Linux's

# Without random loss, beside the plain sender
HARM = 1.05  # drops at the queue, what is sent again, mean RTT: at most so many times
JAIN = 0.95  # Jain's index, at least

# With random loss, a neighbour's goodput: at least so many times what it has
NEIGHBOUR = 0.9  # beside the oracle
NEIGHBOUR_BBR = 1.0  # beside BBR
