# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that each number in the table of experiments/hwang2018/README.md is on the page that its row links
to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import ROOT

FOLDER = ROOT / "experiments" / "hwang2018"
ESTIMATE = re.compile(r"(?P<value>\d+\.\d+|\d+,\d{3})(?: \((?P<interval>\d+\.\d+ to \d+\.\d+)\))?")
COUNT = re.compile(r"\d+ of \d+")


def rows() -> Iterator[tuple[str, str, Path | None]]:
    """Yield the criterion, our number and the page of each row. A row with "there" has the page of the row
    before."""
    page: Path | None = None
    for line in (FOLDER / "README.md").read_text().splitlines():
        if not line.startswith("| ") or line.startswith("| criterion "):
            continue
        what, _, ours, _, where = (cell.strip() for cell in line.strip("|").split("|"))
        if where != "there":
            link = re.search(r"\]\(([^)#]*\.md)", where)
            page = (FOLDER / link[1]).resolve() if link else None
        yield what, ours, page


@pytest.mark.parametrize(("what", "ours", "page"), list(rows()))
def test_a_figure_is_on_its_page(what: str, ours: str, page: Path | None) -> None:
    figures, counts = list(ESTIMATE.finditer(ours)), COUNT.findall(ours)
    if page is None:
        assert not figures and not counts
        return
    text = page.read_text()
    assert figures or counts
    for found in figures:
        value, interval = found["value"], found["interval"]
        shown = {value, f"{value} ({interval})", f"{value} | {interval}"} - {value if interval else ""}
        assert any(one in text for one in shown), found[0]
    for count in counts:
        assert f"{count} conditions" in text or f"{count} decisions" in text
