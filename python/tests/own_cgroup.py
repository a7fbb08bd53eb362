# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a cgroup for one test, in which the test loads a program into this machine's kernel."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcplearn.bpf.build import tool
from tcplearn.bpf.kernel import cgroups

_NUMBERS = itertools.count()


def refusal(cgroup: Path, kind: str = "sock_ops") -> str:
    """Return one line that names an ancestor of `cgroup` with an attached program of this kind, or "" if
    there is none. With one, the kernel would refuse the test's program, or run both programs on the test's
    sockets."""
    for ancestor in cgroup.parents:
        if not (ancestor / "cgroup.procs").exists():
            return ""
        for attached in _programs(ancestor):
            if attached["attach_type"].removeprefix("cgroup_") == kind:
                return f"{ancestor} has a {kind} program already (id {attached['id']}), and it applies here"
    return ""


def _programs(cgroup: Path) -> list[dict[str, str]]:
    shown = subprocess.run(
        [tool("bpftool"), "-j", "cgroup", "show", cgroup], capture_output=True, text=True, check=True
    ).stdout
    return json.loads(shown) if shown.strip() else []


@contextlib.contextmanager
def own_cgroup(under: Path | None = None, kind: str = "sock_ops") -> Iterator[Path]:
    """Make a new cgroup, and remove it with its attached programs afterwards. Skip the test if an ancestor
    has a program of that kind."""
    cgroup = (under or cgroups()) / f"tcplearn-test-{os.getpid()}-{next(_NUMBERS)}"
    if why := refusal(cgroup, kind):
        pytest.skip(why)
    cgroup.mkdir()
    try:
        yield cgroup
    finally:
        _remove(cgroup)


def _remove(cgroup: Path) -> None:
    """Remove `cgroup`, with retries, because the kernel may count an ended process for a moment."""
    for _ in range(100):
        try:
            cgroup.rmdir()
            return
        except OSError:
            time.sleep(0.02)
    cgroup.rmdir()
