# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the module promises beside its timers, in the machine."""

from __future__ import annotations

import pytest

from tcplearn.errors import FailedError
from tcplearn.lab import check, machine


@pytest.fixture(scope="module")
def with_python() -> machine.Machine:
    return machine.prepare(machine.cache_folder(), programs=True)


def test_promises_of_the_module(with_python: machine.Machine) -> None:
    lines = check.check_module(with_python)
    assert len(lines) == 14 and "loads_without_debugfs ok" in lines


def test_a_check_that_fails_is_named(with_python: machine.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"results": "one ok\ntwo it is not so\n", "warnings": "WARNING: here\n"}
    monkeypatch.setattr(check, "run_check", lambda *_, **__: left)
    with pytest.raises(FailedError, match=r"packets: two it is not so; the kernel warned: WARNING: here"):
        check.check_packets(with_python)
