# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a test's BPF program is not loaded below a cgroup that has a program of the same kind."""

from __future__ import annotations

from pathlib import Path

import pytest
import sock_ops

from own_cgroup import own_cgroup, refusal
from tcplearn.learn.export import shipped_rtt

pytestmark = pytest.mark.skipif(bool(sock_ops.missing()), reason=sock_ops.missing())


def test_below_a_program_of_the_kind_it_refuses_in_one_line(tmp_path: Path) -> None:
    with sock_ops.Group(tmp_path, shipped_rtt()[1]) as group:
        between = group.cgroup / "between"
        between.mkdir()
        with pytest.raises(pytest.skip.Exception) as refused, own_cgroup(between):
            pytest.fail("it was made")
        said = str(refused.value)
        assert said.startswith(f"{group.cgroup} has a sock_ops program already") and "\n" not in said
        assert not list(between.glob("tcplearn-*"))
        assert refusal(between / "x", "device") == ""
        between.rmdir()


def test_it_is_taken_away() -> None:
    with own_cgroup() as one, own_cgroup() as other:
        assert one != other and (one / "cgroup.procs").exists()
        with own_cgroup(one) as below:
            assert below.parent == one
    assert not one.exists() and not other.exists()
