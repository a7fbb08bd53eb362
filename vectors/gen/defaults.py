# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Default parameters in several reference implementations, as the pages in docs/algorithms list them."""

BOUNDS = {"rto_initial_us": 1_000_000, "rto_max_us": 60_000_000}
LAST = {"beta": 0.25, "k": 4, "granularity_us": 1, "rto_min_us": 0, **BOUNDS}
JACOBSON = {**LAST, "alpha": 0.125, "quantum_us": 0, "sampling": 0}
