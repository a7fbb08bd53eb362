# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live start`, `status` and `stop`, and the input that they refuse in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from live_command import AT_ONCE, Room, ask, missing, room, server, sessions, words_of
from lossy_path import LossyPath, Spec

from tcplearn.bpf import build
from tcplearn.bpf.libbpf import Object, sock_ops_programs

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

_OTHER = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
SEC("sockops") int other(struct bpf_sock_ops *ctx) { return 1; }
char _license[] SEC("license") = "GPL";
"""


def _refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1 and words in done.stderr, done.stderr


def test_started_stopped_and_started_twice() -> None:
    with room() as at:
        begun = at.live("start", "--cgroup", at.cgroup)
        assert begun.returncode == 0 and f"undo: tcplearn live stop --cgroup {at.cgroup}" in begun.stdout
        assert sock_ops_programs(at.cgroup) == ["live"]
        _refused(at.live("start", "--cgroup", at.cgroup), f"live is started already for {at.cgroup}")
        _refused(at.live("run", "--", "true"), f"live is started already for {at.cgroup}")
        assert (
            f"{at.cgroup}: sets learned floors for 1 % of the new connections, since"
            in at.live("status").stdout
        )
        metrics = at.live("status", "--prometheus").stdout.splitlines()
        assert f'tcplearn_live_rounds_total{{cgroup="{at.cgroup}"}} 0' in metrics
        assert f'tcplearn_live_share{{cgroup="{at.cgroup}"}} 0.0099945068359375' in metrics
        assert f'tcplearn_live_stopped{{cgroup="{at.cgroup}"}} 0' in metrics
        arm = f'tcplearn_live_arm_rounds_total{{cgroup="{at.cgroup}",arm="control",share="0.0100"}} 0'
        assert arm in metrics
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
        assert sock_ops_programs(at.cgroup) == [] and sessions(at) == []
        _refused(at.live("stop", "--cgroup", at.cgroup), "live is not started for")


def test_the_process_that_stays_runs_no_module_of_the_current_directory(tmp_path: Path) -> None:
    """Test that the process that stays as root does not import a file such as `signal.py` from the current
    directory in place of the standard module."""
    imported = tmp_path / "imported"
    for name in ("signal", "struct", "tcplearn"):
        (tmp_path / f"{name}.py").write_text(f"open({str(imported)!r}, 'w')\n")
    with room() as at:
        words = [sys.executable, "-P", "-m", "tcplearn", "live", "start", "--cgroup", str(at.cgroup)]
        begun = at.popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL)
        assert begun.wait(timeout=60) == 0 and sock_ops_programs(at.cgroup) == ["live"]
    assert not imported.exists()


def test_not_around_a_part_that_has_it() -> None:
    with room() as at:
        part = at.cgroup / "tcplearn-live-part"
        part.mkdir()
        assert at.live("start", "--cgroup", part).returncode == 0
        _refused(at.live("start", "--cgroup", at.cgroup), "a part of it")
        assert at.live("stop", "--cgroup", part).returncode == 0


def test_not_below_another_program_of_the_kind(tmp_path: Path) -> None:
    source = tmp_path / "other.bpf.c"
    source.write_text(_OTHER)
    with room() as at:
        other = Object(build.compiled(source, tmp_path / "other.o"))
        other.attach("other", at.cgroup)
        _refused(at.live("run", "--", "true"), "has another sock_ops program, other")
        other.close()
        assert at.live("run", "-q", "--", "true").returncode == 0


def test_a_cgroup_that_is_removed_under_it() -> None:
    with room() as at:
        part = at.cgroup / "tcplearn-live-part"
        part.mkdir()
        assert at.live("start", "--cgroup", part).returncode == 0
        part.rmdir()
        assert "this cgroup is gone" in at.live("status").stdout
        assert at.live("stop", "--cgroup", part).returncode == 0
        assert sessions(at) == []


def test_no_cgroup(tmp_path: Path) -> None:
    with room() as at:
        _refused(at.live("start", "--cgroup", tmp_path), "no cgroup of version 2")


@pytest.mark.parametrize("words", ["run -- true", "start", "stop", "status", "observe --for 1s"])
def test_a_user_without_privilege_changes_nothing(words: str) -> None:
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    done = subprocess.run([*nobody, *words_of(*words.split())], capture_output=True, text=True, check=False)
    _refused(done, "CAP_BPF missing: run it with sudo; nothing was changed")


def test_check_says_what_is_there() -> None:
    with room() as at:
        lines = {line["name"]: line for line in json.loads(at.live("check", "--json").stdout)}
    assert lines["program"]["state"] == "yes" and "verified in" in lines["program"]["text"]
    assert {"privilege", "BTF", "cgroup2", "clock", "sock_ops", "backoff", "floor"} <= lines.keys()


def _first_rto_ms(at: Room, path: LossyPath, host: int, count: int = 1, each: int = 0) -> float:
    done = at.run(ask(path, count, 2, f"10.78.0.{host}", each))
    return float(json.loads(done.stdout)["rto_ms"][0])


def test_neighbours_teach_each_other_and_one_cannot_spoil_it(tmp_path: Path) -> None:
    """Test hosts of one /24. A single neighbour's evidence has no effect; two neighbours give a new host the
    more careful of their floors; and a neighbour that learned nothing useful does not make the next one
    stock."""
    with LossyPath(Spec(rtt_ms=4), tmp_path) as path, server(path), room() as at:
        for namespace, gateway in ((path.near, "via 10.77.0.2 dev path"), (path.far, "dev lo")):
            kind = "local " if "lo" in gateway else ""
            words = f"ip -n {namespace} route add {kind}10.78.0.0/24 {gateway}"
            subprocess.run(words.split(), check=True)
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
        assert _first_rto_ms(at, path, 1, 200, 100) > 200  # nothing is known
        assert _first_rto_ms(at, path, 1) < 100  # of itself
        assert _first_rto_ms(at, path, 2, 200, 100) > 200  # of one neighbour
        assert _first_rto_ms(at, path, 3) < 100  # of two
        assert _first_rto_ms(at, path, 4) < 100  # of three, the last of which has learned from one answer
        (session,) = sessions(at)
        assert session["hosts"] == 4 and session["places"] == 1
        assert session["counts"]["inherited"] == 5 and session["counts"]["floors_refused"] == 0
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
