# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live` on this machine's kernel: the floor falls, requests over a lossy path are answered
sooner, and however the program ends, new connections have stock timers again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_command import AT_ONCE, ask, missing, room, rto_ms_by_ss, server, sessions, until, words_of
from lossy_path import LossyPath, Spec

from tcplearn.bpf.libbpf import sock_ops_programs

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

STOCK_MS = 200  # the kernel's floor
LOSSY = Spec(rtt_ms=10, loss=0.03)
_WAITS_S = 60.0


@pytest.fixture
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LossyPath]:
    spec = getattr(request, "param", Spec(rtt_ms=5))
    with LossyPath(spec, tmp_path) as made, server(made):
        yield made


@pytest.mark.parametrize("path", [LOSSY], indirect=True)
def test_lost_requests_wait_less(path: LossyPath) -> None:
    """Test that the slow requests of the same series over the same path are faster than under stock, where a
    tail loss probe takes over 200 ms. The very slowest are left out, since a second loss waits for the
    doubled timer."""
    with room() as at:
        stock = json.loads(at.run(ask(path, 300, 5)).stdout)
        done = at.run(words_of("run", "--", *ask(path, 300, 5)))
    ours = json.loads(done.stdout)
    assert min(stock["rto_ms"]) > STOCK_MS
    assert max(ours["rto_ms"][200:]) < STOCK_MS / 2
    slow = sorted(stock["ms"])[-6], sorted(ours["ms"])[-6]
    assert slow[0] > STOCK_MS and slow[1] < slow[0] / 2, slow
    assert "1 connection, 30" in done.stderr and ", spurious in 0 rounds" in done.stderr


@pytest.mark.parametrize("path", [Spec(rtt_ms=5, ipv6=False), Spec(rtt_ms=5, ipv6=True)], indirect=True)
def test_ss_shows_it_and_afterwards_stock(path: LossyPath) -> None:
    with room() as at:
        running = at.popen(words_of("run", "--", *ask(path, 600, 3)), stdout=subprocess.DEVNULL)
        until(
            lambda: any(ms < STOCK_MS / 2 for ms in rto_ms_by_ss(path)), _WAITS_S, "the floor does not fall"
        )
        assert running.wait(timeout=_WAITS_S) == 0
        assert not list(at.cgroup.glob("tcplearn-*"))
        after = json.loads(at.run(ask(path, 1, 1)).stdout)
    assert after["rto_ms"][0] > STOCK_MS


def test_kill_9_releases_and_breaks_no_connection(path: LossyPath) -> None:
    with room() as at:
        running = at.popen(words_of("run", "--", *ask(path, 600, 3)), stdout=subprocess.PIPE)
        until(
            lambda: any(ms < STOCK_MS / 2 for ms in rto_ms_by_ss(path)), _WAITS_S, "the floor does not fall"
        )
        (own,) = at.cgroup.glob("tcplearn-live-*")
        assert sock_ops_programs(own) == ["live"]
        running.kill()
        assert running.stdout
        asked = json.loads(running.stdout.read())  # the command goes on, and then it ends
        running.wait()
        until(lambda: sock_ops_programs(own) == [], _WAITS_S, "it is still attached")
        assert len(asked["ms"]) == 600 and asked["rto_ms"][-1] < STOCK_MS / 2
        assert sessions(at) == []
        inside = f"echo $$ >{own}/cgroup.procs; exec " + " ".join(ask(path, 1, 1))
        after = json.loads(at.run(["sh", "-c", inside]).stdout)
        assert after["rto_ms"][0] > STOCK_MS
        until(lambda: not (own / "cgroup.procs").read_text(), _WAITS_S, "a process is left")
        assert at.live("run", "--", "true").returncode == 0
        assert not own.exists()  # the next one tidies up


def test_two_at_once_whose_pids_are_equal() -> None:
    alone = ["unshare", "--pid", "--fork", "--mount-proc"]  # as under `tcplearn emulate`
    with room() as at:
        both = [at.popen([*alone, *words_of("run", "-q", "--", "sleep", "2")]) for _ in range(2)]
        until(
            lambda: len(list(at.cgroup.glob("tcplearn-live-run-*"))) == 2, _WAITS_S, "not both have a cgroup"
        )
        assert [process.wait(timeout=_WAITS_S) for process in both] == [0, 0]
        assert not list(at.cgroup.glob("tcplearn-live-run-*"))


def test_observe_sets_nothing(path: LossyPath) -> None:
    with room() as at:
        done = at.live("run", "--observe", "--", *ask(path, 200, 3))
    assert min(json.loads(done.stdout)["rto_ms"]) > STOCK_MS
    told = "that would have had a learned floor"
    lowered = int(done.stderr.split(f" {told}")[0].split()[-1])
    assert lowered > 100 and "would have been saved" in done.stderr, done.stderr


def test_a_signal_is_handed_on_and_the_exit_code_back() -> None:
    with room() as at:
        assert at.live("run", "--", "sh", "-c", "exit 7").returncode == 7
        assert at.live("run", "--", "no-such-program").returncode == 127
        running = at.popen(words_of("run", "-q", "--", "sleep", "100"))
        until(lambda: bool(sessions(at)), _WAITS_S, "it is not noted")
        os.kill(running.pid, signal.SIGTERM)
        assert running.wait(timeout=_WAITS_S) == 128 + signal.SIGTERM
        assert not list(at.cgroup.glob("tcplearn-*")) and sessions(at) == []


@pytest.mark.parametrize("path", [LOSSY], indirect=True)
def test_without_timestamps_a_doubt_is_counted_and_floors_fall(path: LossyPath) -> None:
    """Test that without timestamps, when an ACK does not show which transmission it answers, the program
    counts this, waits longer, and then goes on learning."""
    off = path.within(path.near, "sysctl", "-qw", "net.ipv4.tcp_timestamps=0")
    subprocess.run(off, check=True)
    with room() as at:
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
        asked = json.loads(at.run(ask(path, 300, 5)).stdout)
        (session,) = sessions(at)
    counts = session["counts"]
    assert counts["resent_unclear"] > 0
    assert counts["resent_needed"] == counts["resent_spurious"] == counts["saved_us"] == 0
    assert min(asked["rto_ms"]) < STOCK_MS / 2
