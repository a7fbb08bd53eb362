# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test after which time this machine's kernel gives up an unanswered handshake, if a wrong model sets a first
RTO of 60 ms. The time must be at least that of stock Linux and at most twice as long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sock_ops
from emulated_network import HERE, forbidden
from first_rto_trial import SHIPPED

pytestmark = pytest.mark.skipif(bool(sock_ops.missing()), reason=sock_ops.missing())
WRONG = replace(SHIPPED, steps=dict.fromkeys(SHIPPED.steps) | {"nothing": {"constant_us": 60_000.0}})
MORE_SYNS = 7
#: A busy machine comes to look later.
LATE_S = 0.6


@pytest.fixture
def namespace() -> Iterator[str]:
    """Yield a network namespace with a host that has an address and never answers."""
    if why := forbidden():
        pytest.skip(why)
    name = f"tl{os.getpid()}-dead"
    lines = ["link add near type veth peer name far"]
    lines += [f"link set {device} up" for device in ("lo", "near", "far")]
    lines += ["addr add 10.97.0.1/24 dev near", "addr add fd97::1/64 dev near nodad"]
    lines += [
        f"neigh add {at} lladdr 02:00:00:00:00:97 nud permanent dev near" for at in ("10.97.0.2", "fd97::2")
    ]
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        subprocess.run(["ip", "-n", name, "-batch", "-"], input="\n".join(lines), text=True, check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def sysctl(namespace: str, setting: str) -> None:
    command = ["ip", "netns", "exec", namespace, "sysctl", "-qw", f"net.ipv4.{setting}"]
    subprocess.run(command, check=True)


def begun(
    namespace: str, script: str, words: Sequence[str], join: Callable[[], None] | None
) -> subprocess.Popen[str]:
    command = ["ip", "netns", "exec", namespace, sys.executable, str(HERE / script), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=join)


def found(running: subprocess.Popen[str]) -> Any:
    output = running.communicate()[0]
    assert running.returncode == 0
    return json.loads(output)


#: Family, the application's TCP_SYNCNT or 0, how often the one socket connects; the time that stock takes.
CASES = {"4:0:1": 3, "4:1:1": 3, "4:2:1": 7, "6:0:1": 3, "6:1:1": 3, "4:0:2": 3, "4:1:2": 3}


def test_connect_to_a_dead_host_takes_stocks_time_to_twice_that(namespace: str, tmp_path: Path) -> None:
    """Test connect() to a host that never answers, with limits by sysctl and by the application's own
    TCP_SYNCNT, and a second connect() of the same socket. The application must read the TCP_SYNCNT that it
    set."""
    sysctl(namespace, "tcp_syn_retries=5")
    with sock_ops.Group(tmp_path, WRONG) as group:
        sysctl(namespace, "tcp_syn_retries=1")  # set while it is loaded
        both = [begun(namespace, "dead_host.py", ["far", *CASES], join) for join in (None, group.join)]
        stock, ours = map(found, both)
    for case, stock_s, plain, learned in zip(CASES, CASES.values(), stock, ours, strict=True):
        assert len(learned) == int(case[-1])
        for of, beside in zip(learned, plain, strict=True):
            assert stock_s <= beside["s"] < stock_s + LATE_S, (
                f"{case}: stock gave up after {beside['s']:.1f} s"
            )
            assert beside["s"] - 0.05 <= of["s"] < 2 * stock_s + LATE_S, (
                f"{case}: given up after {of['s']:.1f} s"
            )
            assert beside["syns"] < of["syns"] <= beside["syns"] + MORE_SYNS
            assert of["after"] == beside["after"]


#: TCP_SYNCNT before listen() or 0, what it is afterwards or 0, whether it is Fast Open; the time that stock
#: takes, SYN-ACKs, and whether the first RTO is ours. By itself Fast Open has one retry more than the sysctl.
LISTENERS = {
    "0:0:0": (3, 3, True),
    "1:0:0": (3, 3, True),
    "2:0:0": (7, 4, True),
    "0:1:0": (3, 2, False),
    "0:0:1": (7, 3, False),
    "1:0:1": (3, 3, True),
}


def test_a_listener_holds_a_request_for_stocks_time_to_twice_that(namespace: str, tmp_path: Path) -> None:
    """Test that a listener holds an unanswered request at least as long as stock Linux and at most twice as
    long, with one SYN-ACK more. A TCP_SYNCNT that is set after listen() is in force, with stock's first
    RTO."""
    sysctl(namespace, "tcp_synack_retries=1")
    sysctl(namespace, "tcp_fastopen=0x602")  # of all listeners, without cookies
    with sock_ops.Group(tmp_path, WRONG) as group:
        ours = found(begun(namespace, "dead_client.py", list(LISTENERS), group.join))
    for (case, (stock_s, syn_acks, shorter)), of in zip(LISTENERS.items(), ours, strict=True):
        assert stock_s <= of["s"] < 2 * stock_s + LATE_S, f"{case}: given up after {of['s']:.1f} s"
        assert len(of["syn_acks"]) == syn_acks, case
        assert (of["syn_acks"][1] < 0.9) == shorter, case
