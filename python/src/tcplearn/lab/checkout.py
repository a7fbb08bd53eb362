# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The folders of the lab's and the module's sources, which are in a checkout, not in the package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
LAB = ROOT / "linux" / "lab"
