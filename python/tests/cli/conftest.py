# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
import sys
from pathlib import Path

import pytest
import stub

sys.path.append(str(Path(__file__).parents[1] / "report"))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> stub.Engine:
    """Return made-up results that replace the native engine."""
    made = stub.Engine()
    made.install(monkeypatch.setitem, lambda *a: monkeypatch.setattr(*a, raising=False))
    return made


@pytest.fixture
def capture(tmp_path: Path) -> str:
    path = tmp_path / "home.pcapng"
    path.write_bytes(b"not read by the stub")
    return str(path)
