# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the waits under `tcplearn live --backoff bounded` while a path is interrupted, and afterwards."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from live_command import AT_ONCE, ask, missing, room, rto_ms_by_ss, server, sessions
from lossy_path import LossyPath, Spec

from tcplearn.errors import UserError
from tcplearn.live.conditions import need_bounds


def _cannot() -> str:
    try:
        need_bounds()
    except UserError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(missing() or _cannot()), reason=missing() or _cannot())

GONE_S = 7.0
KERNELS_OWN_MS = 120_000


def _longest_wait_ms(path: LossyPath) -> float:
    """Return the longest RTO in ms while the far host's link is down."""
    link = ["ip", "-n", path.far, "link", "set", "path"]
    subprocess.run([*link, "down"], check=True)
    end, longest = time.monotonic() + GONE_S, 0.0
    while time.monotonic() < end:
        longest = max(longest, *rto_ms_by_ss(path))
        time.sleep(0.1)
    subprocess.run([*link, "up"], check=True)
    return longest


@pytest.mark.parametrize("backoff", ["bounded", "kernel"])
def test_waits_of_an_outage(tmp_path: Path, backoff: str) -> None:
    """Test the waits after 7 s of interruption: a doubled wait exceeds 2 s, because the first was below 0.2
    s, and a bounded wait is a sixth of the elapsed time. Afterwards the kernel's own limit applies again."""
    with LossyPath(Spec(rtt_ms=5), tmp_path) as path, server(path), room() as at:
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup, "--backoff", backoff).returncode == 0
        asking = at.popen(ask(path, 400, 5), stdout=subprocess.PIPE)
        time.sleep(1.5)
        longest_ms = _longest_wait_ms(path)
        assert asking.stdout
        asked = json.loads(asking.stdout.read())
        asking.wait()
        (session,) = sessions(at)
        at.live("stop", "--cgroup", at.cgroup)
    counts = session["counts"]
    assert max(asked["ms"]) > 1000 * GONE_S - 100
    assert len(asked["rto_max_ms"]) == 400 and {*asked["rto_max_ms"]} == {KERNELS_OWN_MS}
    assert counts["bounds_refused"] == 0
    if backoff == "bounded":
        assert 1000 <= longest_ms <= 1000 * GONE_S / 6 + 100
        assert counts["waits_bounded"] == counts["timeouts"] >= 6
        assert max(asked["ms"]) < 1000 * GONE_S * (1 + 1 / 6) + 500
    else:
        assert longest_ms > 2000 and counts["waits_bounded"] == 0


@pytest.mark.full
def test_a_dead_peer_is_given_up_no_earlier(tmp_path: Path) -> None:
    """Test that bounded backoff gives up a dead peer no earlier than stock Linux, which takes about four
    minutes with the smallest number of retries for which backoff is bounded."""
    with LossyPath(Spec(rtt_ms=5), tmp_path) as path, server(path), room() as at:
        command = path.within(path.near, "sysctl", "-qw", "net.ipv4.tcp_retries2=10")
        subprocess.run(command, check=True)
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup, "--backoff", "bounded").returncode == 0
        words = ask(path, 4000, 5)
        stock = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        bounded = at.popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1.5)
        subprocess.run(["ip", "-n", path.far, "link", "set", "path", "down"], check=True)
        begun, ended_s = time.monotonic(), {}
        while len(ended_s) < 2 and time.monotonic() < begun + 600:
            for name, process in (("stock", stock), ("bounded", bounded)):
                if name not in ended_s and process.poll() is not None:
                    ended_s[name] = time.monotonic() - begun
            time.sleep(0.2)
        assert bounded.stderr and "TimeoutError" in bounded.stderr.read()
        assert ended_s["bounded"] > ended_s["stock"] - 1
        print(ended_s)
