# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define the records of the kernel module's log, as linux/module/log_format.h does. Fields that end in _us
are in microseconds, _q8 in 2^-8 microseconds, and _q30 in units of 2^-30."""

from typing import Any

import numpy as np

MAGIC = b"TLG1"
OPEN, ACK, CLOSE, STARTUP = 1, 2, 3, 5
LOSS, LOSS_CHANGE, RESEND = 8, 9, 10
FROM_HEAD = 1  # open record: the timer counts from the sending of the oldest segment in flight
OBSERVED, DUPLICATE = 2, 4  # ACK record: a loss classifier has observed the ACK; the ACK was a duplicate
AF_INET6 = 10

HEADER = [("magic", "S4"), ("size", "<u2"), ("type", "u1"), ("flags", "u1"), ("time_us", "<i8")]
HEADER += [("connection", "<u4"), ("record", "<u4")]


def _record(fields: str) -> np.dtype[Any]:
    """Return the type of a record with `fields` after the header: names, each with a type of NumPy."""
    return np.dtype([*HEADER, *(tuple(field.split()) for field in fields.split(", "))])


OPEN_RECORD = _record(
    "estimator S32, congestion S16, family <u2, source_port <u2, destination_port <u2, hz <u2, source V16, "
    "destination V16, rtt_q8 <i8, rto_q8 <i8, netns <u4, reserved <u4, spec S256"
)
ACK_RECORD = _record(
    "rtt_us <i4, last_rtt_us <i4, rtt_q8 <i8, rto_q8 <i8, stock_rto_us <u4, rto_us <u4, cwnd <u4, "
    "ssthresh <u4, flight_segments <u4, acked_segments <u4, mss_bytes <u4, srtt_us <u4, head_age_us <u4, "
    "backoff u1, state u1, reserved <u2"
)
CLOSE_RECORD = _record(
    "bytes_acked <u8, bytes_sent <u8, bytes_retransmitted <u8, segments_out <u4, retransmitted <u4"
)
LOSS_RECORD = _record(
    "congestion_q30 <i8, cause <u4, flight_segments <u4, cwnd <u4, ssthresh <u4, first <u4, end <u4, "
    "features_q30 (32,)<i8"
)
LOSS_CHANGE_RECORD = _record("change <u4, cause <u4, cwnd <u4, reserved <u4")
STARTUP_RECORD = _record(
    "policy S32, took_us <u4, iw <u4, ssthresh <u4, whole_iw <u4, whole_ssthresh <u4, loss u1, passive u1, "
    "resends u1, retransmitted u1"
)
RESEND_RECORD = _record(
    "wait_us <i8, rtt_us <i4, out_segments <u4, event u1, answers u1, probe u1, reserved u1, rto_us <u4"
)
SENT, TIMER, ACKED = range(3)  # values of `event` in resend records
KINDS = {
    OPEN: OPEN_RECORD,
    ACK: ACK_RECORD,
    CLOSE: CLOSE_RECORD,
    STARTUP: STARTUP_RECORD,
    LOSS: LOSS_RECORD,
    LOSS_CHANGE: LOSS_CHANGE_RECORD,
    RESEND: RESEND_RECORD,
}
