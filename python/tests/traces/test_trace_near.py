# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test which host of a connection is taken as nearer to the capture point, and the option that selects a
host."""

from __future__ import annotations

import pytest
from wire import Host, Wire

from tcplearn.traces import TraceError

MS = 1000


def transfer(
    near: str, *, handshake: bool = True, rtt_us: int = 40 * MS, ttls: tuple[int, int] = (64, 64)
) -> Wire:
    """Return a capture of data in both directions, seen at the host `near`."""
    w = Wire(
        client=Host("10.0.0.1", 40000, ttl=ttls[0]), server=Host("10.0.0.2", 80, isn=5_000_000, ttl=ttls[1])
    )
    if handshake:
        w.handshake(rtt_us=rtt_us, near=near)
    there, back = (rtt_us, 100) if near == "client" else (100, rtt_us)
    w.send(100 * MS, w.client, 1, 100, ack=1)
    w.send(100 * MS + there, w.server, 1, 3000, ack=101)
    w.send(100 * MS + there + back, w.client, 101, ack=3001)
    return w


def near(rows):
    (flow,) = [f for f in rows.flows.values() if f["near_sender"]]
    return flow["name"].split(":")[0], flow["near_reason"]


def test_each_kind_of_evidence(read):
    assert near(read(transfer("client").pcap())) == ("10.0.0.1", "handshake")
    assert near(read(transfer("server").pcap())) == ("10.0.0.2", "handshake")
    assert near(read(transfer("client", handshake=False).pcap())) == ("10.0.0.1", "round trips")
    assert near(read(transfer("server", handshake=False).pcap())) == ("10.0.0.2", "round trips")
    # Both gaps alike: a tap in the middle of the path.
    assert near(read(transfer("client", rtt_us=100, ttls=(64, 63)).pcap())) == ("10.0.0.1", "TTL")
    assert near(read(transfer("client", rtt_us=100, ttls=(60, 128)).pcap())) == ("10.0.0.2", "TTL")
    assert near(read(transfer("client", rtt_us=100).pcap())) == ("10.0.0.2", "more data")


@pytest.mark.parametrize(
    ("sender", "chosen"),
    [
        ("auto", "10.0.0.1"),
        ("near", "10.0.0.1"),
        ("far", "10.0.0.2"),
        ("client", "10.0.0.1"),
        ("server", "10.0.0.2"),
        ("10.0.0.2", "10.0.0.2"),
        ("10.0.0.1:40000", "10.0.0.1"),
    ],
)
def test_asking_for_a_side(read, sender, chosen):
    rows = read(transfer("client").pcap(), sender=sender)
    assert [f["name"].split(":")[0] for f in rows.flows.values() if f["chosen"]] == [chosen]
    requested = sender not in ("auto", "near", "far")
    assert all((f["near_reason"] == "requested") == requested for f in rows.flows.values())


def test_both_sides_and_none(read):
    rows = read(transfer("client").pcap(), sender="both")
    assert [f["chosen"] for f in rows.flows.values()] == [True, True]
    rows = read(transfer("client").pcap(), sender="10.0.0.1:81")
    assert not any(f["chosen"] for f in rows.flows.values())
    assert rows.warnings == ["no connection has the requested sender: 10.0.0.1:81"]
    w = transfer("client")
    w.client.address, w.server.address = "::1", "::2"
    w.frames.clear()
    w.handshake()
    assert read(w.pcap(), sender="[::2]:80").flows[1]["chosen"]


@pytest.mark.parametrize(
    "sender", ["", "nearby", "10.0.0", "10.0.0.1:0", "10.0.0.1:70000", "[::1", "::1:80:x"]
)
def test_a_side_that_is_none(read, sender):
    with pytest.raises(TraceError, match="is none of auto, near, far"):
        read(transfer("client").pcap(), sender=sender)
