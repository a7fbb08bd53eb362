# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Explain from captures why requests are slow: what each request waited for."""

from tcplearn.explain.model import Explained, Part, Summary
from tcplearn.explain.run import run

__all__ = ["Explained", "Part", "Summary", "run"]
