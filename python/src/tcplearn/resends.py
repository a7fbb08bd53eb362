# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Resend policies by their specs, such as "priced" or "stock:rto_min_us=5000"."""

from __future__ import annotations

from tcplearn import _native, algorithms


def policy(spec: str) -> _native.ResendPolicy:
    """Return the policy of a spec in fixed point, as in the kernel; raise UserError."""
    read = algorithms.parse(algorithms.RESEND, spec)
    return _native.ResendPolicy(read.name, "fixed", read.params)
