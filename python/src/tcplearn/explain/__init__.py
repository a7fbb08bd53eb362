# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Explain from captures why requests are slow: what each request waited for. A stall is a wait in which no
data moved."""

from tcplearn.explain.model import Explained, Part, Summary
from tcplearn.explain.run import run

__all__ = ["Explained", "Part", "Summary", "run"]
