# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Resend policies by what users type: "priced", or "stock:rto_min_us=5000"."""

from __future__ import annotations

from tcplearn import _native, losses


def policy(spec: str) -> _native.ResendPolicy:
    """In fixed point, as a kernel has it. Raises ValueError for what the core does not take."""
    name, params = losses.parse(spec)
    return _native.ResendPolicy(name, "fixed", params)


def check(spec: str) -> None:
    """Raise ValueError for what the core does not take."""
    policy(spec)
