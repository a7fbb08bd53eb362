# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the connections that `tcplearn live top` shows, the search for cgroups by name, and first RTOs
together with floors."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from live_command import AT_ONCE, Room, ask, missing, room, server, sessions, tail, words_of
from lossy_path import LossyPath, Spec

from tcplearn.bpf import build, kernel
from tcplearn.bpf.libbpf import Object, sock_ops_programs
from tcplearn.errors import FailedError, UserError
from tcplearn.live.top import lines

COUNT = 1000  # number of requests

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def _until_asked(at: Room, count: int) -> None:
    while sessions(at)[0]["counts"]["rounds"] < count:
        pass


_EMPTY_ITERATOR = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
SEC("iter/bpf_sk_storage_map") int nothing(void *ctx) { return 0; }
char _license[] SEC("license") = "GPL";
"""


@pytest.fixture
def storage_iterator(tmp_path: Path) -> None:
    """Skip the test if Linux refuses even an empty iterator over socket storage, which `top` needs to read
    connections."""
    source = tmp_path / "empty.bpf.c"
    source.write_text(_EMPTY_ITERATOR)
    try:
        Object(build.compiled(source, tmp_path / "empty.o")).close()
    except FailedError as error:
        if "operation not permitted" not in str(error):
            raise
        pytest.skip("this kernel refuses every BPF iterator over socket storage (EPERM), as `live top` needs")


@pytest.mark.usefixtures("storage_iterator")
@pytest.mark.parametrize("ipv6", [pytest.param(False, marks=pytest.mark.full), True])
def test_top_shows_each_connection_as_ss_does(tmp_path: Path, ipv6: bool) -> None:
    with LossyPath(Spec(rtt_ms=4, ipv6=ipv6), tmp_path) as path, server(path), room() as at:
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
        asking = at.popen(ask(path, 2000, 4), stdout=subprocess.DEVNULL)
        _until_asked(at, 100)
        found = json.loads(at.live("top", "--json").stdout)
        shown = at.live("top").stdout
        asking.kill()
        asking.wait()
    (session,) = (one for one in found if one["cgroup"] == str(at.cgroup))
    (one,) = (one for one in session["connections"] if one["own_port"] != 7000)
    host = f"[{path.address}]" if ipv6 else path.address
    assert one["peer"] == f"{host}:7000" and one["arm"] == "ours"
    assert 4 <= one["least_rtt_ms"] <= 2 * one["rtt_ms"] and one["rounds"] >= 100
    assert 8 <= one["floor_ms"] == one["chosen_ms"] < 200 and one["floor_ms"] < one["rto_ms"]
    assert one["peer"] in shown and session["traffic"][0]["place"] in shown
    assert len([*lines(session)]) == 7


@pytest.mark.usefixtures("storage_iterator")
def test_top_needs_a_started_program() -> None:
    with room() as at:
        done = at.live("top", "--once")
        assert (done.returncode == 2 and "live is not started" in done.stderr) or "connections" in done.stdout


def test_a_unit_is_found_by_its_name_and_a_process_by_its_number() -> None:
    with room() as at:
        unit = at.cgroup / "tcplearn-live-named.service"
        unit.mkdir()
        try:
            name = "tcplearn-live-named"
            assert kernel.cgroup_of_unit(name) == kernel.cgroup_of_unit(f"{name}.service") == unit
            asleep = at.popen(["sleep", "60"])
            assert kernel.cgroup_of_process(asleep.pid) == at.cgroup
            asleep.kill()
            asleep.wait()
            begun = at.live("start", "--unit", name)
            assert begun.returncode == 0 and sock_ops_programs(unit) == ["live"]
            assert at.live("stop", "--unit", name).returncode == 0 and sock_ops_programs(unit) == []
        finally:
            unit.rmdir()
        for words in (("--unit", "no-such-unit"), ("--pid", 2**22), ("--pid", 1, "--unit", "a")):
            done = at.live("start", *words)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


def test_observe_says_what_would_have_been_gained(tmp_path: Path) -> None:
    with LossyPath(Spec(rtt_ms=4, loss=0.05), tmp_path) as path, server(path), room() as at:
        observing = at.popen(
            words_of("observe", "--cgroup", at.cgroup, "--for", "60s"), stdout=subprocess.PIPE
        )
        while not sessions(at):
            pass
        at.run(ask(path, 120, 2))
        observing.send_signal(signal.SIGINT)
        output = observing.communicate()[0]
    saved, then = output.splitlines()[-2:]
    assert saved.startswith("learned floors would have spared about") and "rounds with a loss" in saved
    spared_s = float(saved.split("about ")[1].split(" s")[0])
    assert spared_s > 0 and f"{spared_s:>12.3g}  200 ms less the floor" in output
    assert then.startswith(f"next: `tcplearn live start --cgroup {at.cgroup}` sets learned floors")


@pytest.mark.parametrize(
    ("loss", "says"), [(0.05, "with learned floors 99 of 100 requests would take"), (0.0, "none")]
)
def test_observe_forecasts_response_times_from_packets(loss: float, says: str, tmp_path: Path) -> None:
    with LossyPath(Spec(rtt_ms=4, loss=loss), tmp_path) as path, server(path), room() as at:
        words = path.within(
            path.near, *words_of("observe", "--cgroup", at.cgroup, "-i", "path", "--for", "60s")
        )
        observing = at.popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert observing.stderr and "observing" in observing.stderr.readline()
        done = at.run(ask(path, COUNT, 2))
        time.sleep(1)  # until the last packets are read
        observing.send_signal(signal.SIGINT)
        output = observing.communicate()[0]
    last = output.splitlines()[-2]
    count = int(re.search(r"([\d,]+) captured requests", last)[1].replace(",", ""))
    assert COUNT - 3 <= count <= COUNT and says in last, output
    if not loss:
        return
    forecast_ms, now_ms = (float(re.search(rf"{word} ([\d.]+)", last)[1]) for word in ("at most", "now"))
    asked_ms = tail(json.loads(done.stdout)["ms"])[0]
    assert forecast_ms < 0.7 * now_ms and abs(now_ms - asked_ms) < 0.2 * asked_ms


def test_first_rtos_and_floors_at_once(tmp_path: Path) -> None:
    with LossyPath(Spec(rtt_ms=4), tmp_path) as path, server(path), room() as at:
        words = ("start", *AT_ONCE, "--first-rto", "emulated", "--cgroup", at.cgroup)
        assert at.live(*words).returncode == 0
        assert sorted(sock_ops_programs(at.cgroup)) == ["first_rto", "live"]
        at.run(ask(path, 60, 1))
        route = "route add 10.78.0.0/24 via 10.77.0.2"  # where nothing answers
        subprocess.run(["ip", "-n", path.near, *route.split()], check=True)
        silent = at.popen(_connecting(path, "10.78.0.1"))
        rto_ms = _syn_rto_ms(path)
        silent.kill()
        silent.wait()
        (session,) = sessions(at)
        assert session["counts"]["rounds_lowered"] > 20
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
        assert sock_ops_programs(at.cgroup) == []
    assert rto_ms < 1000


def _connecting(path: LossyPath, address: str) -> list[str]:
    code = f"import socket; socket.create_connection(('{address}', 7000))"
    return path.within(path.near, os.environ.get("PYTHON", "python3"), "-c", code)


def _syn_rto_ms(path: LossyPath) -> float:
    """Return the RTO in ms that ss shows for a connection whose SYN is not answered."""
    words = path.within(path.near, "ss", "-tinH", "state", "syn-sent")
    for _ in range(200):
        shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        found = [word for word in shown.split() if word.startswith("rto:")]
        if found:
            return float(found[0].removeprefix("rto:"))
    raise AssertionError("no SYN was sent")


def test_a_process_that_is_not_there() -> None:
    with pytest.raises(UserError, match="--pid 4194304: no such process"):
        kernel.cgroup_of_process(2**22)
