# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "traces"))
