# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the loss classifiers' decisions in a kernel log, which are repeated from its ACKs. A difference of one
bit is reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcplearn import _native, losses
from tcplearn.traces import tlog, tlog_losses, tlog_records

ONE_Q30 = 2.0**30
SPEC = "adaptive:threshold=0.3,highest=0.5"
#: Its answers hang on the features of earlier losses.
HISTORY = "history"


def record(kind: int, dtype: np.dtype[Any], number: int, time_us: int, **fields: Any) -> Any:
    row = np.zeros(1, dtype)
    header = {"magic": b"TLG1", "size": dtype.itemsize, "type": kind, "connection": 1}
    for name, value in (header | {"record": number, "time_us": time_us} | fields).items():
        row[name] = value
    return row


def logged(spec: str = SPEC) -> bytes:
    """Return a log of three losses of a connection, as the kernel would write it."""
    core = losses.classifier(spec)
    rows = [record(tlog_records.OPEN, tlog_records.OPEN_RECORD, 0, 0, estimator=b"stock")]
    now = 1_000_000
    rows.append(
        record(tlog_records.ACK, tlog_records.ACK_RECORD, 1, now, rtt_us=60_000, acked_segments=1)
    )  # the handshake's
    for n in range(90):
        now += 2_000 + 37 * (n % 7)
        duplicate = n % 30 > 26
        rtt_us = 60_000 + 500 * (n % 30)
        flags = tlog_records.OBSERVED | (tlog_records.DUPLICATE if duplicate else 0)
        ack = {"flags": flags, "rtt_us": rtt_us, "acked_segments": 0 if duplicate else 2}
        rows.append(record(tlog_records.ACK, tlog_records.ACK_RECORD, len(rows), now, **ack))
        core.observe(now, 0 if duplicate else rtt_us, 1 if duplicate else 2, duplicate)
        if n % 30 == 29:
            rows += decision(core, len(rows), now)
    return b"".join(row.tobytes() for row in rows)


def decision(core: _native.LossClassifier, number: int, now: int) -> list[Any]:
    congestion, cause = core.decide(now, 30, 28, 20)
    features = [int(x * ONE_Q30) for x in core.features(now, 30, 28, 20)]
    said = {"congestion_q30": int(congestion * ONE_Q30), "cause": cause, "features_q30": features}
    at = {"flight_segments": 30, "cwnd": 28, "ssthresh": 20}
    core.change(now, 28, 0, cause, 30, 20)
    return [
        record(tlog_records.LOSS, tlog_records.LOSS_RECORD, number, now, **said, **at),
        record(
            tlog_records.LOSS_CHANGE,
            tlog_records.LOSS_CHANGE_RECORD,
            number + 1,
            now,
            change=0,
            cause=cause,
            cwnd=28,
        ),
    ]


@pytest.mark.parametrize("spec", [SPEC, HISTORY])
def test_each_decision_is_made_again_from_the_log(spec: str) -> None:
    c = tlog.parse(logged(spec)).connections[1]
    assert c.lost == 0 and len(c.losses) == len(c.loss_changes) == 3 and len(c.acks) == 91
    assert len(set(c.losses["congestion_q30"])) > 1
    assert tlog_losses.compare(c, spec) == tlog_losses.Compared(3, 0, 0)


@pytest.mark.parametrize("spec", [SPEC, HISTORY])
@pytest.mark.parametrize(
    ("field", "features", "answers"), [("features_q30", 1, 1), ("congestion_q30", 0, 2), ("cause", 0, 1)]
)
def test_a_difference_is_counted(spec: str, field: str, features: int, answers: int) -> None:
    c = tlog.parse(logged(spec)).connections[1]
    if field == "features_q30":
        c.losses[field][1, list(tlog_losses.losses.features()).index("rtt_min_to_srtt")] -= 1 << 20
    else:
        c.losses[field][1] ^= 1
    found = tlog_losses.compare(c, spec)
    assert (found.features, found.answers) == (features, answers)


def test_the_handshakes_sample_is_not_the_classifiers() -> None:
    c = tlog.parse(logged()).connections[1]
    c.acks["flags"][0] |= tlog_records.OBSERVED
    assert tlog_losses.compare(c, SPEC).features > 0
