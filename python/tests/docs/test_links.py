# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the links between pages lead to existing files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from samples import ROOT

PAGES = [
    page
    for page in sorted(ROOT.rglob("*.md"))
    if not {".venv", "build", "out", "node_modules"} & {*page.relative_to(ROOT).parts}
]


def missing(page: Path) -> list[str]:
    """Returns the relative links of `page` that lead to no file."""
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    return [link for link in links if ":" not in link and not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    assert missing(page) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[here](page.md#part), [there](https://example.net), [gone](gone.md#part)")
    assert missing(page) == ["gone.md"]
