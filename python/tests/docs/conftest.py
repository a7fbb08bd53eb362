# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from runner import Forks, Runner


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    made = Forks()
    yield made
    made.close()


@pytest.fixture
def runner(forks: Forks, tmp_path: Path) -> Runner:
    return Runner(forks, tmp_path)
