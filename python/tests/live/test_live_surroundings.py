# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live` where something is missing (type information, bpffs, a capability, the machine's user
namespace), and in the namespaces of a container."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from live_command import AT_ONCE, ask, missing, room, server, sessions, words_of
from lossy_path import LossyPath, Spec
from test_live_kernel import STOCK_MS

from own_cgroup import own_cgroup
from tcplearn.bpf.kernel import BTF, cgroups
from tcplearn.bpf.libbpf import sock_ops_programs

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

HIDDEN_BTF = f'mount -t tmpfs none {BTF.parent}; exec "$@"'
IN_USER_NAMESPACE = ["unshare", "--user", "--map-root-user"]
HIDDEN_BPFFS = """while umount -l /sys/fs/bpf; do :; done 2>/dev/null
! grep -q ' bpf ' /proc/mounts
exec "$@"
"""


def _in_mounts(script: str) -> list[str]:
    return ["unshare", "--mount", "sh", "-ec", script, "sh"]


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (
            _in_mounts(HIDDEN_BTF),
            f"this kernel has no BTF (CONFIG_DEBUG_INFO_BTF): there is no {BTF}",
        ),
        (
            ["setpriv", "--bounding-set", "-perfmon"],
            "CAP_PERFMON missing: grant it to this container or unit; nothing was changed",
        ),
        (
            IN_USER_NAMESPACE,
            "this is root in a user namespace only: run it on the machine; nothing was changed",
        ),
    ],
    ids=["no-btf", "no-perfmon", "rootless"],
)
def test_what_is_missing_is_one_line(before: list[str], why: str) -> None:
    if before == IN_USER_NAMESPACE and subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("no user namespace can be made here, as in a chroot")
    with own_cgroup() as cgroup:
        begun = [*before, *words_of("start", "--cgroup", cgroup)]
        done = subprocess.run(begun, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tcplearn: {why}\n")
        assert sock_ops_programs(cgroup) == []


def test_without_bpffs_it_runs() -> None:
    with room() as at:
        done = at.run([*_in_mounts(HIDDEN_BPFFS), *words_of("run", "--", "true")])
    assert done.returncode == 0 and "live: 0 connections" in done.stderr, done


def _container(path: LossyPath, words: list[str], before: str = "") -> list[str]:
    """Return the words that run `words` with mounts, PIDs, cgroups and a network of their own."""
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--cgroup", "--mount-proc"]
    script = f'umount {cgroups()}; mount -t cgroup2 none {cgroups()}\n{before}exec "$@"'
    return path.within(path.near, *own, "sh", "-ec", script, "sh", *words)


def _asked(path: LossyPath, count: int) -> list[str]:
    return [sys.executable, *ask(path, count, 3)[len(path.within(path.near)) + 1 :]]


def test_a_container_from_outside(tmp_path: Path) -> None:
    """Test `start --pid` and `stop --pid` with a process of a container, whose connections get
    learned floors."""
    with LossyPath(Spec(rtt_ms=5), tmp_path) as path, server(path), room() as at:
        waits = _container(path, _asked(path, 100), before="read line\n")
        running = at.popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        begun = subprocess.run(
            words_of("start", *AT_ONCE, "--pid", running.pid), capture_output=True, text=True, check=False
        )
        assert f"started for new connections of {at.cgroup}; undo:" in begun.stdout, begun
        asked = json.loads(running.communicate("go\n", timeout=300)[0])
        (session,) = sessions(at)
        assert min(asked["rto_ms"]) < STOCK_MS / 2 and len(asked["ms"]) == 100
        assert session["counts"]["connections"] == 1 and session["counts"]["rounds"] > 90
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
        assert sock_ops_programs(at.cgroup) == []


def test_in_a_container(tmp_path: Path) -> None:
    """Test `run` in a privileged container, which sees only its own part of the cgroups."""
    with LossyPath(Spec(rtt_ms=5), tmp_path) as path, server(path), room() as at:
        done = at.run(_container(path, words_of("run", "--", *_asked(path, 100))))
        assert done.returncode == 0, done.stderr
        assert not list(at.cgroup.glob("tcplearn-live-*"))
    assert min(json.loads(done.stdout)["rto_ms"]) < STOCK_MS / 2
    assert "live: 1 connection, " in done.stderr
