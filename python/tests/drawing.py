# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The script that draws reports, made once for several tests: making it takes seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcplearn.report import page


def made(folder: Path) -> Path:
    """The script as this version makes it, and not one that the user's cache has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        page._bundle()
    (script,) = folder.glob("tcplearn/vega-*.js")
    return script


def keep(script: Path, cache: Path) -> None:
    """In a test's own cache."""
    cache.mkdir(parents=True, exist_ok=True)
    (cache / script.name).symlink_to(script)
