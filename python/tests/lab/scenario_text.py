# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Loads scenarios whose text is in a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcplearn.errors import UserError
from tcplearn.lab import scenario
from tcplearn.lab.scenario import Scenario

ONE_HOP = 'name = "x"\n[path.hop.a]\n'


def load(folder: Path, text: str, profile: str = "full") -> Scenario:
    file = folder / "x.toml"
    file.write_text(text)
    return scenario.load(file, profile)


def refused(folder: Path, text: str, message: str) -> None:
    """Check that the scenario `text` is refused with `message`, in one line that names the file."""
    with pytest.raises(UserError, match=message) as caught:
        load(folder, text)
    assert "\n" not in str(caught.value) and "x.toml: " in str(caught.value)
