# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Create a resend policy, which decides when TCP retransmits, from a spec such as "priced"."""

from __future__ import annotations

from tcplearn import _native, algorithms


def policy(spec: str) -> _native.ResendPolicy:
    """Return the resend policy with the spec `spec`. It computes in fixed point, as in the kernel module.
    Raise UserError."""
    read = algorithms.parse(algorithms.RESEND, spec)
    return _native.ResendPolicy(read.name, "fixed", read.params)
