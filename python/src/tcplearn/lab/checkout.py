# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Where the sources of the lab and of the module are: they come with a checkout, not with the package."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
LAB = ROOT / "linux" / "lab"
