# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check a loss classifier's decisions (congestion or random loss) in a kernel log: the C library, which is
also a part of the kernel module, computes them again from the log."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcplearn import _native, losses

from .tlog import Connection
from .tlog_records import DUPLICATE, OBSERVED

_ONE_Q30 = 2.0**30
_BEGUN = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """How many decisions on losses the log has for a connection, and how many differ from the C library's."""

    decisions: int
    features: int  # decisions with a feature that differs from the one computed from the logged ACKs
    answers: int  # decisions whose probability or cause differs


def compare(c: Connection, spec: str) -> Compared:
    """Compare the logged decisions of connection `c`'s loss classifier with those of the C library's
    classifier `spec` in fixed point. The library's decisions are computed twice: from the logged ACKs and
    changes of the sender's state, and from the logged features."""
    core = losses.classifier(spec)
    decisions = features = answers = 0
    decided: Mapping[str, Any] = {}
    for record in _in_order(c):
        if "features_q30" in record:
            decisions += 1
            decided = record
            features += _features(core, record) != list(map(int, record["features_q30"]))
            answers += _answer(core, record) != (record["congestion_q30"], record["cause"])
            answers += not spec.startswith("oracle") and _judged(core, record) != record["congestion_q30"]
        elif "change" in record:
            _change(core, record, decided)
        else:
            _observe(core, record)
    return Compared(decisions, features, answers)


def _in_order(c: Connection) -> Iterator[Mapping[str, Any]]:
    acks = c.acks[c.acks["flags"] & OBSERVED != 0]
    rows = [
        dict(zip(table.dtype.names or (), row, strict=True))
        for table in (acks, c.losses, c.loss_changes)
        for row in table.tolist()
    ]
    yield from sorted(rows, key=lambda row: row["record"])


def _observe(core: _native.LossClassifier, ack: Mapping[str, Any]) -> None:
    """Pass the logged ACK `ack` to the loss classifier `core`, as linux/module/loss.c does."""
    duplicate = bool(ack["flags"] & DUPLICATE)
    rtt_us = 0 if duplicate else max(ack["rtt_us"], 0)
    core.observe(ack["time_us"], rtt_us, 1 if duplicate else ack["acked_segments"], duplicate)


def _change(core: _native.LossClassifier, record: Mapping[str, Any], decided: Mapping[str, Any]) -> None:
    """Pass a logged change of the sender's state (such as the end of a recovery) to the loss classifier. Only
    `decided`, the decision that began the recovery, has the number of segments in flight. If a recovery began
    without a decision (ECN), the results of the classifier `history` may differ from the kernel's."""
    at = (record["time_us"], record["cwnd"], record["change"], record["cause"])
    if record["change"] == _BEGUN and decided.get("record") == record["record"] - 1:
        core.change(*at, decided["flight_segments"], decided["ssthresh"])
    else:
        core.change(*at)


def _features(core: _native.LossClassifier, at: Mapping[str, Any]) -> list[int]:
    found = core.features(at["time_us"], at["flight_segments"], at["cwnd"], at["ssthresh"])
    return [int(x * _ONE_Q30) for x in found]


def _answer(core: _native.LossClassifier, at: Mapping[str, Any]) -> tuple[int, int]:
    congestion, cause = core.decide(at["time_us"], at["flight_segments"], at["cwnd"], at["ssthresh"])
    return int(congestion * _ONE_Q30), cause


def _judged(core: _native.LossClassifier, at: Mapping[str, Any]) -> int:
    """Return the probability of congestion, in units of 2^-30, that `core` computes from the features that
    were logged with the decision `at`."""
    (congestion,) = core.judge(np.array([at["features_q30"]]) / _ONE_Q30)
    return int(congestion * _ONE_Q30)
