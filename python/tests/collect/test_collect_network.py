# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn collect` on emulated paths, in namespaces that the test makes: 20 hosts behind one to eight
routers, RTTs of 2 to 300 ms, up to 5 % of loss; hosts that are filtered, unreachable or vanish; the rate of
sending; stopping and continuing."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from emulated_network import Network, Place, network

RTTS_MS = (2, 3, 5, 8, 12, 17, 25, 33, 41, 50, 62, 75, 90, 110, 130, 155, 180, 220, 260, 300)
PLACES = [
    Place(hops=k % 8 + 1, rtt_ms=rtt_ms, loss=(0, 0.01, 0.02, 0.05)[k % 4], open=k % 5 != 3, ipv6=k % 3 == 1)
    for k, rtt_ms in enumerate(RTTS_MS)
]
FILTERED = Place(hops=4, rtt_ms=10, filtered=True)
VANISHING = Place(hops=5, rtt_ms=10, vanishes_after=6)
COUNT = 20


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with network([*PLACES, FILTERED, VANISHING], tmp_path_factory.mktemp("network")) as made:
        yield made


def collected(made: Network, out: Path, *words: object, prefix: Sequence[str] = ()) -> list[dict[str, Any]]:
    command = made.command("collect", "-o", out, *words)
    done = subprocess.run([*command[:4], *prefix, *command[4:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(out) if out.suffix == ".parquet" else pl.read_csv(out)
    return frame.to_dicts()


def within(measured_us: int, emulated_ms: float) -> bool:
    """Return whether the measured RTT is within 1 ms or 2 %, whichever is more, of the emulated one."""
    return abs(measured_us / 1000 - emulated_ms) <= max(1.0, 0.02 * emulated_ms)


def test_hops_ttl_and_times_of_twenty_hosts(tmp_path: Path) -> None:
    """Test hops, TTL, state and RTTs. The least RTT is compared with the emulated one, the median with that
    of the SYNs to the host in a capture at the first router, as a busy machine emulates longer RTTs."""
    with network(PLACES, tmp_path) as made:
        hosts = [made.address(place) for place in PLACES]
        rows = collected(made, tmp_path / "hosts.parquet", "--count", COUNT, "--interval", "0.2", *hosts)
        answered = made.handshakes()["answered"]
    assert [row["host"] for row in rows] == hosts
    for row, place in zip(rows, PLACES, strict=True):
        assert (row["hops"], row["ttl"]) == (place.hops, 64 - place.hops), row
        assert row["state"] == ("open" if place.open else "closed") and row["method"] == "raw"
        assert within(row["rtt_min_us"], place.rtt_ms), (row, place)
        rtts_us = sorted(map(int, row["rtts_us"].split()))
        captured_ms = sorted(rtt_ms for host, rtt_ms in answered if host == row["host"])
        assert len(captured_ms) >= len(rtts_us)
        assert within(rtts_us[len(rtts_us) // 2], captured_ms[len(captured_ms) // 2]), (row, captured_ms)
        assert (len(rtts_us), row["sent"]) == (row["samples"], COUNT) and row["loss"] <= 0.3
        assert row["started_us"] < row["ended_us"]


def test_hosts_that_do_not_answer(paths: Network, tmp_path: Path) -> None:
    hosts = [paths.address(FILTERED), paths.unreachable, paths.address(VANISHING), "192.0.2.1"]
    words = ("--count", 8, "--interval", "0.05", "--timeout", "0.2")
    filtered, unreachable, vanishing, nowhere = collected(paths, tmp_path / "hosts.csv", *words, *hosts)
    assert (filtered["state"], filtered["sent"], filtered["hops"]) == ("silent", 4, None)
    assert unreachable["state"] == "unreachable" and unreachable["samples"] == 0
    assert nowhere["state"] == "unreachable"
    assert vanishing["state"] == "open" and 0 < vanishing["samples"] < vanishing["sent"] == 8
    assert vanishing["hops"] in (VANISHING.hops, None) and 0 < vanishing["loss"] < 1


@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv is not installed")
def test_without_privilege(paths: Network, tmp_path: Path) -> None:
    """Test that without privileges `collect` uses connect() and reports hops and RTTs, but no TTL."""
    places = PLACES[:8:2]
    drop = ("setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw")
    rows = collected(
        paths, tmp_path / "hosts.csv", "--interval", "0.2", *map(paths.address, places), prefix=drop
    )
    for row, place in zip(rows, places, strict=True):
        assert (row["method"], row["ttl"], row["hops"]) == ("connect", None, place.hops), row
        assert within(row["rtt_min_us"], place.rtt_ms), (row, place)


def most_in_a_second(times_s: Sequence[float]) -> int:
    most, first = 0, 0
    for last, time_s in enumerate(times_s):
        while times_s[first] <= time_s - 1:
            first += 1
        most = max(most, last - first + 1)
    return most


def test_stopped_and_gone_on_with_at_the_rate_it_says(tmp_path: Path) -> None:
    """Test that Ctrl-C ends a run at once, that the next run measures no host again, and that never more SYNs
    per second are sent than requested."""
    rate = 25
    with network([Place(hops=2, rtt_ms=20) for _ in range(8)], tmp_path) as made:
        hosts = [f"10.99.{k}.1" for k in range(1, 9)]
        out = tmp_path / "hosts.csv"
        words = ["collect", "-o", out, "--rate", rate, "--interval", "0.01", "--concurrency", 2, *hosts]
        running = subprocess.Popen(made.command(*words), stderr=subprocess.PIPE, text=True)
        journal = tmp_path / "hosts.csv.part"
        while not journal.exists() or journal.read_text().count("\n") < 4:  # three hosts
            time.sleep(0.05)
            assert running.poll() is None
        requested_s = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=10)
        stopped_s = time.monotonic()
        assert running.returncode == 130 and "the same command goes on" in error and error.count("\n") == 1
        assert stopped_s - requested_s < 4 and not out.exists()  # the interpreter ends too; SYNs are below
        kept = {json.loads(line)["host"] for line in journal.read_text().splitlines()[1:]}
        time.sleep(1)  # what was on its way when it was stopped has arrived
        resumed_s = time.monotonic()
        assert subprocess.run(made.command(*words), capture_output=True, check=False).returncode == 0
        assert [row["host"] for row in pl.read_csv(out).to_dicts()] == hosts and not journal.exists()
        syns = made.syns()
    assert most_in_a_second([when for when, _ in syns]) <= rate + 1
    later = {to for when, to in syns if when > resumed_s}
    assert len(kept) >= 3 and later == set(hosts) - kept  # hosts end in any order
    assert [when for when, _ in syns if requested_s + 0.5 < when < stopped_s] == []
    assert [when for when, _ in syns if stopped_s + 0.5 < when < resumed_s] == []
