# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that commands over an emulated link of this kernel see the rate, delay, queue and losses of the path
file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directions import MS, Ints, crossed, hops_of
from emulate_command import emulated, missing, on_a_busy_machine, path_file, sent
from emulated_twin import BURST, NONE, RANDOM

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

CONNECT = """
import os, socket, time
begun_s = time.monotonic()
socket.create_connection((os.environ["TCPLEARN_SERVER"], 7000)).close()
print(time.monotonic() - begun_s)
"""
LISTEN = f"{sys.executable} -m http.server 7000"
FETCH = """
import os, time, urllib.request
begun_s = time.monotonic()
got = len(urllib.request.urlopen(f"http://{os.environ['TCPLEARN_SERVER']}:7000/big").read())
print(got, time.monotonic() - begun_s)
"""


def dropped(result: dict[str, Any], side: str = "forward") -> dict[str, int]:
    """Return the number of dropped packets by cause, without the causes that dropped none."""
    return {cause: count for cause, count in result[side]["dropped"].items() if count}


def apart_by(seen: Ints, gap_ns: int) -> bool:
    """Return whether the packets were received `gap_ns` apart. Some may be late because the receiver was not
    running."""
    offsets = seen[:, 2] - gap_ns * np.arange(len(seen))
    low, high = np.quantile(offsets, [0.05, 0.75])
    return bool(high - low < MS // 2)


@on_a_busy_machine
def test_packets_arrive_after_the_delay_and_no_sooner(tmp_path: Path) -> None:
    path = path_file(tmp_path, "[hop.line]\ndelay_ms = 20\n")
    result, seen = sent(tmp_path, path, 100, 500, 2000)
    delays_ms = (seen[:, 2] - seen[:, 1]) / MS
    assert seen[:, 0].tolist() == list(range(100)) and delays_ms.min() >= 20
    assert np.median(delays_ms) < 21.5, delays_ms
    assert result["forward"]["delivered"] == 100 and not dropped(result)
    assert 0 <= result["late_us"]["p50"] <= result["late_us"]["p99"] <= result["late_us"]["max"]


@pytest.mark.parametrize("name", ["TCPLEARN_SERVER", "TCPLEARN_SERVER6"])
@on_a_busy_machine
def test_a_round_trip_has_both_delays(name: str, tmp_path: Path) -> None:
    path = path_file(tmp_path, "[hop.line]\nforward = { delay_ms = 30 }\nreverse = { delay_ms = 10 }\n")
    result = emulated(tmp_path, path, "sh", "-c", f"ping -q -c 5 -i 0.02 ${name}")
    least_ms, mean_ms = map(float, re.findall(r"= ([\d.]+)/([\d.]+)/", result["output"])[0])
    assert 40 <= least_ms <= mean_ms < 43
    assert [result[side]["delivered"] for side in ("forward", "reverse")] == [5, 5]


@on_a_busy_machine
def test_a_flood_is_let_through_at_the_rate_and_the_queue_drops_the_rest(tmp_path: Path) -> None:
    """Test a flood of packets over 12 Mbit/s, where a packet of 1,500 bytes takes 1 ms: they arrive 1 ms
    apart, and the queue drops the rest."""
    path = path_file(tmp_path, "[hop.line]\nrate_mbps = 12\nqueue_packets = 40\n")
    result, seen = sent(tmp_path, path, 400, 1500, 0)
    assert dropped(result) == {"queue": 400 - len(seen)}
    # a packet or more may leave while the flood comes
    assert 40 <= len(seen) < 300 and seen[:40, 0].tolist() == list(range(40))
    assert apart_by(seen, MS)
    assert (seen[39, 2] - seen[39, 1]) / MS == pytest.approx(40, abs=4)


@on_a_busy_machine
def test_a_trace_lets_a_packet_through_in_each_opportunity(tmp_path: Path) -> None:
    (tmp_path / "every-3-ms").write_text("".join(f"{ms}\n" for ms in range(3, 301, 3)))
    path = path_file(tmp_path, '[hop.line]\nforward = { trace = "every-3-ms", queue_packets = 100 }\n')
    result, seen = sent(tmp_path, path, 60, 1500, 0, wait_s=0.4)
    assert len(seen) == 60 == result["forward"]["delivered"]
    assert apart_by(seen, 3 * MS)


def test_the_lost_packets_are_those_of_the_seed(tmp_path: Path) -> None:
    """Test that random losses and bursts of losses by packet hit the same packets as in a simulation without
    devices with the same seed, because they do not depend on times."""
    text = "[hop.a]\nloss_percent = 10\n[hop.b.forward]\nbursts = { kind = 'packets', to_bad_percent = 5, "
    text += "to_good_percent = 40 }\n"
    path = path_file(tmp_path, text)
    _, cause = crossed(hops_of(text, tmp_path), np.arange(300, dtype=np.int64), seed=7)
    result, seen = sent(tmp_path, path, 300, 100, 300, "--seed", 7)
    assert seen[:, 0].tolist() == np.flatnonzero(cause == NONE).tolist()
    assert dropped(result) == {"random": int((cause == RANDOM).sum()), "burst": int((cause == BURST).sum())}


@on_a_busy_machine
def test_a_fade_takes_all_until_it_ends(tmp_path: Path) -> None:
    path = path_file(tmp_path, '[hop.line]\ndelay_ms = 1\n[[fade]]\nhop = "line"\nat_s = 0\nlasts_s = 0.4\n')
    result, seen = sent(tmp_path, path, 300, 100, 2000)
    first = int(seen[0, 0])
    assert seen[:, 0].tolist() == list(range(first, 300)) and 20 < first < 200  # after the start of Python
    assert dropped(result) == {"fade": first}


@pytest.mark.parametrize(("option", "side"), [("--drop-syn", "forward"), ("--drop-syn-ack", "reverse")])
@on_a_busy_machine
def test_a_handshake_loses_the_packets_that_it_is_told(option: str, side: str, tmp_path: Path) -> None:
    """Test that the chosen packet of the handshake is dropped, so that Linux resends it after 1 s (RFC 6298,
    section 2)."""
    path = path_file(tmp_path, "[hop.line]\ndelay_ms = 5\n")
    options = ("--server", LISTEN, "--wait-port", 7000, option, 1)
    result = emulated(tmp_path, path, sys.executable, "-c", CONNECT, options=options)
    assert dropped(result, side) == {"forced": 1}
    assert 1.0 < float(result["output"]) < 1.5


@on_a_busy_machine
def test_tcp_gets_the_rate(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(bytes(1_500_000))
    path = path_file(
        tmp_path, "[hop.line]\ndelay_ms = 5\nreverse = { rate_mbps = 25, queue_packets = 1000 }\n"
    )
    options = ("--server", f"{LISTEN} --directory {tmp_path}", "--wait-port", 7000)
    result = emulated(tmp_path, path, sys.executable, "-c", FETCH, options=options)
    got, took_s = map(float, result["output"].split())
    on_the_wire = result["reverse"]["delivered_bytes"]
    assert got == 1_500_000 and got * 1.03 < on_the_wire < got * 1.06  # 52 bytes of headers on 1,448
    # two round trips before the first byte, windows that have not yet filled the link, and a busy machine
    assert on_the_wire * 8 / 25e6 + 0.02 <= took_s < on_the_wire * 8 / 25e6 + 0.3
