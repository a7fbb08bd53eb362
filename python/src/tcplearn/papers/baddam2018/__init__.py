# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""baddam2018: RTTs by regression; its figures beside ours, and the first RTO that the idea is good for."""

from tcplearn.papers.baddam2018 import first_rto, lab, regression, simulated

PAGES = {
    "regression": regression.write,
    "lab": lab.write,
    "first-rto": first_rto.write,
    "simulated": simulated.write,
}
