# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018: startup after a lost SYN-ACK, the paper's tables beside ours."""

from tcplearn.papers.tambuwal2018 import lab, simulated

PAGES = {"simulated": simulated.write, "lab": lab.write}
