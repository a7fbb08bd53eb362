# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the advice for real captures in which the end that stalls most is not the only cause of slow
requests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.cli import main

CAPTURES = ROOT / "experiments" / "stalls" / "captures"


def first_screen(capture: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["explain", str(CAPTURES / capture), "-q"]) == 0
    return capsys.readouterr().out


def test_where_both_ends_lose_segments_the_setting_is_for_both(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = first_screen("thin-30-client.pcap.gz", capsys)
    assert "Set on the client (10.0.0.1) and the server (10.0.4.2):" in said
    client, server = (line for line in said.splitlines() if line.startswith("  sudo ip route add "))
    assert client.split()[4] == "10.0.4.2" and client.endswith("  # on the client")
    assert server.split()[4] == "10.0.0.1" and server.endswith("  # on the server")
    undo = said[said.index("To undo: ") :].splitlines()[:2]
    assert undo == [
        "To undo: sudo ip route del 10.0.4.2  # on the client",
        "  sudo ip route del 10.0.0.1  # on the server",
    ]
    report = tmp_path / "report.html"
    words = [
        "explain",
        str(CAPTURES / "thin-30-client.pcap.gz"),
        "-q",
        "--format",
        "json",
        "--report",
        str(report),
    ]
    assert main(words) == 0
    rows = json.loads(capsys.readouterr().out)
    (advised,) = (row for row in rows if row.get("advised"))
    as_it_was = rows[0]
    assert advised["p99_response_ms"] < 0.8 * as_it_was["p99_response_ms"]
    assert advised["end"] == "both"
    page = report.read_text()
    assert "on the client and the server" in page
    assert len(re.findall(r"sudo ip route (?:add|del) [^<]*# on the (?:client|server)</", page)) == 4


def test_a_slow_server_is_named_though_losses_made_the_slowest_requests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = first_screen("slow-server-client.pcap.gz", capsys)
    assert "Of the time of all requests, 74 % went to the server itself." in said
    assert (
        "too few to judge by. For most of the time of all requests, the server itself takes that long; look "
        "at its program." in said
    )
