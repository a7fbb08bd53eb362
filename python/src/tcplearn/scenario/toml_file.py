# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""TOML files that people write: scenarios of the simulator and of the lab."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tcplearn.errors import UserError, printable


def read(path: Path) -> dict[str, Any]:
    """Raises UserError with one line that names the file."""
    name = printable(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{name}: no such file; check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{name}: cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: not TOML: {error}") from error
