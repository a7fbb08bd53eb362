# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Why requests are slow: what they waited for, from captures."""

from tcplearn.explain.model import Explained, Part, Summary
from tcplearn.explain.run import run

__all__ = ["Explained", "Part", "Summary", "run"]
