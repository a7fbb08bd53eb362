# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the examples of docs/python-api.md run and give the output that the page shows."""

from __future__ import annotations

import doctest
import re

import pytest

from samples import ROOT
from tcplearn.replay.engine import _Users

PAGE = (ROOT / "docs" / "python-api.md").read_text()


@pytest.mark.usefixtures("own_cache")
def test_the_examples_give_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == PAGE.count("```") // 2 > 5
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python-api.md", None, None)
    wrong: list[str] = []
    found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples, out=wrong.append)
    assert found.attempted > 30 and not found.failed, "".join(wrong)


def test_the_page_has_every_key_of_a_sample() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(_Users.KNOWN)
