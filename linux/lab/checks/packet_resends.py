# SPDX-License-Identifier: GPL-2.0-only
"""Defines packet scripts (single packets exchanged with the kernel) for what follows a first retransmission.
The connections have learned the path, so that a resend policy has first waits shorter than the kernel's
RTO."""

import socket

from guest import nstat, sh
from packet_host import script
from wire import ACK, FIN, KERNEL4, LATE, MSS, Unexpected

SIZE = 100
RTT_MS = 20
HOST_UNREACHABLE = 1


def _requests(c, count, seq=1, rtt_ms=RTT_MS):
    """Let the kernel send `count` requests of one segment on the connection `c`, and acknowledge each after
    `rtt_ms`. The first has the sequence number `seq`. Return the kernel's next sequence number."""
    for _ in range(count):
        c.write(SIZE)
        c.expect(ACK, seq=seq, size=SIZE)
        c.wait(rtt_ms)
        seq += SIZE
        c.send(ack=seq)
        c.wait(5)
    return seq


def _learned(h, fades=0):
    """Return a connection and the kernel's next sequence number, after acknowledged requests and `fades`
    fades (periods of 1.2 s without an ACK)."""
    c = h.client(rtt_ms=RTT_MS, timestamps=True)
    seq = _requests(c, 40)
    for _ in range(fades):
        c.write(SIZE)
        c.last_within(1200)
        c.expect(ACK, seq=seq)
        c.wait(RTT_MS)
        seq += SIZE
        c.send(ack=seq)
        seq = _requests(c, 10, seq)
    return c, seq


def _outage(c, ms):
    c.write(SIZE)
    last = c.last_within(ms)
    if last is None:
        raise Unexpected(f"nothing was sent in {ms} ms")
    return last


@script(rto=True)
def probe_and_timeouts(h):
    c = h.client(rtt_ms=RTT_MS)
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    for after_ms in (220, 220, 440, 880, 1760):
        c.expect(ACK, seq=1, size=500, after_ms=after_ms)


@script(rto=True)
def probe_and_timeouts_of_several(h):
    c = h.client(rtt_ms=60)
    c.write(3 * MSS)
    c.expect_full(3)
    c.expect(ACK, seq=1 + 2 * MSS, size=MSS, after_ms=120)
    for after_ms in (260, 520, 1040):  # 60 + max(4 · 30, 200): the RTO after the probe, then doubled
        c.expect(ACK, seq=1, size=MSS, after_ms=after_ms)


@script(rto=True)
def the_first_resend_comes_early(h):
    c, seq = _learned(h)
    c.write(SIZE)
    c.expect(ACK, seq=seq, size=SIZE)
    # 220 ms is the kernel's own RTO; a policy that learns waits three round trips here, as nothing was lost
    c.expect(ACK, seq=seq, size=SIZE, after_ms=60 if h.resend.startswith("priced") else 220)


@script(rto=True)
def close_under_a_user_timeout(h):
    c = h.client(rtt_ms=100, set_=((socket.IPPROTO_TCP, 18, 3000),))
    c.socket.close()
    c.expect(FIN | ACK, seq=1)
    for after_ms in (300, 300, 600, 1200):
        c.expect(FIN | ACK, seq=1, after_ms=after_ms)


@script()
def unreachable_shortens_the_wait(h):
    c, _ = _learned(h, fades=3)
    h.wire.unreachable(_outage(c, 5000), code=HOST_UNREACHABLE)
    c.expect(ACK, size=SIZE, within_s=2)  # the kernel's RTO, doubled to 3.5 s, was halved


@script()
def unreachable_after_each_timeout_keeps_the_wait(h):
    c, _ = _learned(h)
    last = _outage(c, 3000)
    for _ in range(6):
        h.wire.unreachable(last, code=HOST_UNREACHABLE)
        last = c.expect(ACK, size=SIZE, within_s=2)


@script()
def the_algorithm_changes_in_an_outage(h):
    c, _ = _learned(h, fades=3)
    _outage(c, 5000)
    c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    assert c.rto_ms <= 3600, f"RTO of {c.rto_ms} ms after an outage of 5 s"
    for _ in range(2):
        c.expect(ACK, size=SIZE, within_s=7.5)


@script()
def rto_min_of_the_route_at_each_wait(h):
    sh(f"/bin/ip route change 192.0.2.0/24 dev tun0 src {KERNEL4} rto_min 200ms")
    c, seq = _learned(h)
    c.write(SIZE)
    c.expect(ACK, seq=seq)
    if h.resend == "priced/spaced":  # its waits need not double, but none is shorter than the first
        for _ in range(5):
            waited_ms = -1000 * (c.last - c.expect(ACK, seq=seq, size=SIZE).at)
            assert waited_ms >= 215, f"a wait of {waited_ms} ms"
        return
    growth = 1.5 if h.resend == "priced/backoff-1.5" else 2
    for after_ms in (220, *(220 * growth**k for k in range(4))):
        c.expect(ACK, seq=seq, size=SIZE, after_ms=after_ms)


@script(rto=True)
def later_waits_grow_no_faster_than_the_policy_says(h):
    if h.resend == "priced/spaced":  # its waits do not grow by a factor
        return
    c = h.client(rtt_ms=4, timestamps=True)
    seq = _requests(c, 60, rtt_ms=4)
    c.write(SIZE)
    c.expect(ACK, seq=seq, size=SIZE)
    growth, count = (1.5, 10) if h.resend == "priced/backoff-1.5" else (2, 6)
    first_ms = 0
    for k in range(count):  # a probe, and timeouts
        waited_ms = -1000 * (c.last - c.expect(ACK, seq=seq, size=SIZE).at)
        first_ms = first_ms or waited_ms
        most_ms = first_ms * growth ** max(0, k - 1) * LATE + 13
        assert waited_ms <= most_ms, f"wait {k + 1}: {waited_ms:.0f} ms, more than {most_ms:.0f}"


@script(rto=True)
def a_queue_of_this_host_is_no_loss(h):
    c = h.client(rtt_ms=4, set_=((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),))
    seq = _requests(c, 60, rtt_ms=4)
    other = h.client(window=60_000)
    sh("/bin/tc qdisc replace dev tun0 root tbf rate 500kbit burst 1600 latency 4s")
    before = nstat("TcpExtTCPTimeouts")
    for k in range(1, 4):
        c.write(SIZE)
        other.write(5 * MSS)  # for 80 ms the second segment stays in the queue behind these
        c.write(SIZE)
        c.expect(ACK, seq=seq, size=SIZE)
        c.send(ack=seq + SIZE)
        seq += 2 * SIZE
        c.expect(ACK, seq=seq - SIZE, size=SIZE)
        c.send(ack=seq)
        other.send(ack=1 + 5 * k * MSS, window=60_000)
        c.wait(300)
    timeouts = nstat("TcpExtTCPTimeouts") - before
    assert timeouts == 0 and c.cwnd >= 10, f"{timeouts} timeouts, cwnd {c.cwnd}"
