# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Create resend policies from specs such as "priced" or "stock:rto_min_us=5000". A resend policy decides
how long TCP waits before it retransmits."""

from __future__ import annotations

from tcplearn import _native, algorithms


def policy(spec: str) -> _native.ResendPolicy:
    """Return the resend policy of spec `spec`, in the fixed-point arithmetic that the kernel module uses.
    Raise UserError."""
    read = algorithms.parse(algorithms.RESEND, spec)
    return _native.ResendPolicy(read.name, "fixed", read.params)
