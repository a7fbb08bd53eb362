# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: ML-TCP's tables and figures from our runs, and its printed numbers beside ours."""

from tcplearn.papers.hwang2018 import lab, simulated

PAGES = {"simulated": simulated.write, "lab": lab.write}
