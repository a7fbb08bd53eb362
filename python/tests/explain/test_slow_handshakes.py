# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Handshakes over paths that take longer than the first RTO lose nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import PLACES
from talk import Talk, explained

RTT_US = 1_500_000


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("place", PLACES)
def test_what_came_again_before_its_answer_could_be_there(tmp_path: Path, place: str, stamped: bool) -> None:
    """The SYN comes again after a second, and the SYN-ACK with it."""
    talk = Talk(place=PLACES[place], rtt_us=RTT_US, stamped=stamped)
    talk.syn(0)
    talk.syn(1_000_000)
    talk.syn_ack(RTT_US // 2)
    talk.client(RTT_US, 1, 0, 1)
    talk.syn_ack(1_000_000 + RTT_US // 2)
    talk.exchanges(RTT_US + 100, 4)
    found = explained(tmp_path, talk)
    assert found.stalls["cause"].to_list() == []
    assert found.connections["handshake_ms"].to_list() == pytest.approx([RTT_US / 1e3], abs=1)
