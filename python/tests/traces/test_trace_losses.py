# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test losses in captures made by hand: which packets were lost, and when RACK (RFC 8985) would detect
this."""

from __future__ import annotations

import wire
from wire import SYN, Wire

MS = 1000
RTT = 40 * MS


def begin(segments: int = 5, size: int = 100, options: bytes = b"") -> tuple[Wire, int]:
    """Return a capture with a handshake and segments a millisecond apart, of which only the first is
    acknowledged, and the time of the first segment."""
    w = Wire()
    t = w.handshake(rtt_us=RTT, options=wire.SACK_PERMITTED + options)
    for i in range(segments):
        w.send(t + i * MS, w.client, 1 + i * size, size, ack=1, options=options)
    w.send(t + RTT, w.server, 1, ack=1 + size, options=options)
    return w, t


def sacked(w: Wire, at_us: int, ack: int, *blocks: tuple[int, int]) -> None:
    isn = w.client.isn
    w.send(at_us, w.server, 1, ack=ack, options=wire.sack(*((isn + a, isn + b) for a, b in blocks)))


def only(rows):
    (loss,) = rows.lost_by("10.0.0.1:")
    return loss


def test_three_later_segments_arrive(read):
    w, t = begin()
    sacked(w, t + 42 * MS, 101, (201, 301))
    sacked(w, t + 43 * MS, 101, (201, 401))
    sacked(w, t + 44 * MS, 101, (201, 501))
    w.send(t + 45 * MS, w.client, 101, 100, ack=1)
    w.send(t + 85 * MS, w.server, 1, ack=501)
    loss = only(read(w.pcap()))
    assert loss == {
        "flow": 0,
        "id": 0,
        "sent_us": t + 1 * MS,
        "resent_us": t + 45 * MS,
        "acked_us": t + 85 * MS,
        "armed_us": t + 40 * MS,
        "head_sent_us": t + 1 * MS,
        "probe_from_us": t + 40 * MS,
        "delivered_us": t + 42 * MS,
        # the window of 10 ms would end at 51, but DupThresh segments SACKed close it
        "rack_us": t + 44 * MS,
        "rtt_us": RTT,
        "tail": 0,
        "alone": 0,
    }


def test_two_later_segments_arrive_and_the_window_runs_out(read):
    w, t = begin(4)
    sacked(w, t + 42 * MS, 101, (201, 301))
    sacked(w, t + 43 * MS, 101, (201, 401))
    w.send(t + 60 * MS, w.client, 101, 100, ack=1)
    w.send(t + 100 * MS, w.server, 1, ack=401)
    loss = only(read(w.pcap()))
    # min RTT / 4 = 10 ms after it should have arrived, at 41
    assert (loss["delivered_us"], loss["rack_us"]) == (t + 42 * MS, t + 51 * MS)


def test_a_reordering_before_keeps_the_window(read):
    w, t = begin(7)
    sacked(w, t + 42 * MS, 101, (201, 301))
    w.send(t + 43 * MS, w.server, 1, ack=301)  # 101 arrives late: it was only reordered
    sacked(w, t + 44 * MS, 301, (401, 501))
    sacked(w, t + 45 * MS, 301, (401, 601))
    sacked(w, t + 46 * MS, 301, (401, 701))
    w.send(t + 60 * MS, w.client, 301, 100, ack=1)
    w.send(t + 100 * MS, w.server, 1, ack=701)
    loss = only(read(w.pcap()))
    assert loss["sent_us"] == t + 3 * MS
    assert loss["rack_us"] == t + 53 * MS


def test_a_tail(read):
    w, t = begin(2)
    w.send(t + 340 * MS, w.client, 101, 100, ack=1)
    w.send(t + 380 * MS, w.server, 1, ack=201)
    loss = only(read(w.pcap()))
    assert (loss["tail"], loss["alone"], loss["delivered_us"], loss["rack_us"]) == (1, 1, -1, -1)
    assert (loss["armed_us"], loss["probe_from_us"]) == (t + 40 * MS, t + 40 * MS)


def test_a_probe_counts_from_the_last_new_data(read):
    w, t = begin(3)
    w.send(t + 70 * MS, w.client, 301, 1460, ack=1)
    w.send(t + 400 * MS, w.client, 101, 100, ack=1)
    w.send(t + 440 * MS, w.server, 1, ack=1761)
    loss = only(read(w.pcap()))
    assert (loss["armed_us"], loss["probe_from_us"]) == (t + 40 * MS, t + 70 * MS)
    assert (loss["tail"], loss["alone"]) == (0, 0)


def test_losses_of_one_recovery_share_the_timer_that_no_repair_restarts(read):
    w, t = begin(6)
    for i in range(3):  # 101 and 201 are lost
        sacked(w, t + (43 + i) * MS, 101, (301, 401 + 100 * i))
    w.send(t + 46 * MS, w.client, 101, 100, ack=1)
    w.send(t + 86 * MS, w.server, 1, ack=201)  # a partial ACK restarts the sender's timer, not this one
    w.send(t + 87 * MS, w.client, 201, 100, ack=1)
    w.send(t + 127 * MS, w.server, 1, ack=601)
    one, two = read(w.pcap()).lost_by("10.0.0.1:")
    assert (one["sent_us"], two["sent_us"]) == (t + 1 * MS, t + 2 * MS)
    assert one["armed_us"] == two["armed_us"] == t + 40 * MS
    assert one["head_sent_us"] == two["head_sent_us"] == t + 1 * MS
    assert one["rack_us"] == two["rack_us"] == t + 45 * MS
    assert (two["resent_us"], two["acked_us"]) == (t + 87 * MS, t + 127 * MS)


def test_first_copies_that_arrive_during_a_recovery_restart_the_timer(read):
    w, t = begin(4)
    w.send(t + 45 * MS, w.client, 201, 100, ack=1)
    w.send(t + 50 * MS, w.server, 1, ack=201)  # 101 was slow
    w.send(t + 60 * MS, w.client, 301, 100, ack=1)
    w.send(t + 100 * MS, w.server, 1, ack=401)
    one, two = read(w.pcap()).lost_by("10.0.0.1:")
    assert (one["armed_us"], one["probe_from_us"], one["head_sent_us"]) == (
        t + 40 * MS,
        t + 40 * MS,
        t + 1 * MS,
    )
    assert (two["armed_us"], two["probe_from_us"], two["head_sent_us"]) == (
        t + 50 * MS,
        t + 50 * MS,
        t + 2 * MS,
    )


def test_a_later_recovery_has_its_own_timer(read):
    w, t = begin(2)
    for at, seq in ((300, 101), (1000, 201)):
        if seq > 101:
            w.send(t + 700 * MS, w.client, seq, 100, ack=1)
        w.send(t + at * MS, w.client, seq, 100, ack=1)
        w.send(t + (at + 40) * MS, w.server, 1, ack=seq + 100)
    one, two = read(w.pcap()).lost_by("10.0.0.1:")
    assert (one["armed_us"], two["armed_us"]) == (t + 40 * MS, t + 700 * MS)
    assert (one["id"], two["id"]) == (0, 1)


def stamped(echo: int) -> Wire:
    w = Wire()
    t = w.handshake(options=wire.timestamps(1, 0))
    w.send(t, w.client, 1, 100, ack=1, options=wire.timestamps(10, 1))
    w.send(t + 300 * MS, w.client, 1, 100, ack=1, options=wire.timestamps(20, 1))
    w.send(t + 340 * MS, w.server, 1, ack=101, options=wire.timestamps(2, echo))
    return w


def test_timestamps_tell_a_spurious_repair(read):
    assert read(stamped(10).pcap()).losses == []
    assert only(read(stamped(20).pcap()))["tail"] == 1


def repaired(*after: tuple[int, int, tuple[tuple[int, int], ...]]) -> Wire:
    """Return a capture of two segments, the second of which is resent after 300 ms, with the server's answers
    `after`."""
    w, t = begin(2)
    w.send(t + 340 * MS, w.client, 101, 100, ack=1)
    for at_ms, ack, blocks in after:
        sacked(w, t + at_ms * MS, ack, *blocks) if blocks else w.send(t + at_ms * MS, w.server, 1, ack=ack)
    return w


def test_duplicate_sacks_tell_a_spurious_repair(read):
    assert len(read(repaired((350, 201, ())).pcap()).losses) == 1
    assert read(repaired((350, 201, ()), (380, 201, ((101, 201),))).pcap()).losses == []
    assert read(repaired((350, 201, ((101, 201),))).pcap()).losses == []
    # of another segment, and below the ACK
    assert len(read(repaired((350, 201, ()), (380, 201, ((1, 101),))).pcap()).losses) == 1


def test_every_copy_must_have_arrived_to_clear_the_first(read):
    w, t = begin(2)
    w.send(t + 340 * MS, w.client, 101, 100, ack=1)
    w.send(t + 940 * MS, w.client, 101, 100, ack=1)
    w.send(t + 950 * MS, w.server, 1, ack=201)
    sacked(w, t + 980 * MS, 201, (101, 201))
    assert len(read(w.pcap()).losses) == 1
    sacked(w, t + 990 * MS, 201, (101, 201))
    assert read(w.pcap()).losses == []


def test_what_was_sacked_before_its_repair_was_not_lost(read):
    w, t = begin(3)
    sacked(w, t + 42 * MS, 101, (201, 301))
    w.send(t + 300 * MS, w.client, 101, 200, ack=1)  # both again, after a timeout
    w.send(t + 340 * MS, w.server, 1, ack=301)
    assert only(read(w.pcap()))["sent_us"] == t + 1 * MS


def test_handshakes_and_closed_windows_lose_nothing(read):
    w = Wire()
    w.send(0, w.client, 0, flags=SYN)
    w.send(1000 * MS, w.client, 0, flags=SYN)
    w.send(1040 * MS, w.server, 0, ack=1, flags=SYN)
    w.send(1041 * MS, w.client, 1, ack=1)
    w.send(1050 * MS, w.client, 1, 100, ack=1)
    w.send(1090 * MS, w.server, 1, ack=51, window=0)
    w.send(1400 * MS, w.client, 51, 50, ack=1)
    w.send(1440 * MS, w.server, 1, ack=101)
    assert read(w.pcap()).losses == []


def test_a_piece_of_a_record_of_several_segments(read):
    w = Wire()
    t = w.handshake(options=wire.SACK_PERMITTED)
    w.send(t, w.client, 1, 3000, ack=1)
    w.send(t + 40 * MS, w.server, 1, ack=1001)
    sacked(w, t + 41 * MS, 1001, (2001, 3001))
    w.send(t + 300 * MS, w.client, 1001, 1000, ack=1)
    w.send(t + 340 * MS, w.server, 1, ack=3001)
    loss = only(read(w.pcap()))
    assert (loss["sent_us"], loss["armed_us"], loss["tail"]) == (t, t + 40 * MS, 0)


def test_small_batches_tell_the_same(read):
    w, t = begin(6)
    for i in range(3):
        sacked(w, t + (43 + i) * MS, 101, (301, 401 + 100 * i))
    w.send(t + 46 * MS, w.client, 101, 200, ack=1)
    w.send(t + 86 * MS, w.server, 1, ack=601)
    sacked(w, t + 87 * MS, 601, (201, 301))
    whole = read(w.pcap())
    assert [loss["sent_us"] for loss in whole.losses] == [t + 1 * MS]
    assert read(w.pcap(), max_rows=1).losses == whole.losses


def test_a_recovery_has_no_window(read):
    w, t = begin(4)
    w.send(t + 41 * MS, w.client, 101, 100, ack=1)
    sacked(w, t + 43 * MS, 101, (301, 401))
    w.send(t + 60 * MS, w.client, 201, 100, ack=1)
    w.send(t + 100 * MS, w.server, 1, ack=401)
    assert [loss["rack_us"] for loss in read(w.pcap()).lost_by("10.0.0.1:")] == [t + 43 * MS, t + 43 * MS]
