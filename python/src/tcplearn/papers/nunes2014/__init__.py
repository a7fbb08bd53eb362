# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014: its figures from our runs, and its printed numbers beside ours."""

from tcplearn.papers.nunes2014 import live, simulated

PAGES = {
    "simulated": simulated.write,
    "rounded": simulated.write_rounded,
    "live": live.write,
}
