# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check a loss classifier's decisions (congestion or random loss) in a kernel log: the C library, which is
also a part of the kernel module, computes them again from the log."""

from collections.abc import Iterable, Mapping
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
    """Compare the logged decisions of connection `c` with those of the C library's classifier `spec` in fixed
    point, computed from the logged ACKs and changes of state, and again from the logged features."""
    core = losses.classifier(spec)
    decisions = features = answers = 0
    decided: Mapping[str, Any] = {}
    for record in _in_order(c):
        if "features_q30" in record:
            at = [record[name] for name in ("time_us", "flight_segments", "cwnd", "ssthresh")]
            given = list(map(int, record["features_q30"]))
            decisions += 1
            decided = record
            features += _q30(core.features(*at)) != given
            congestion, cause = core.decide(*at)
            answers += (_q30([congestion]), cause) != ([record["congestion_q30"]], record["cause"])
            if not spec.startswith("oracle"):
                answers += _q30(core.judge(np.array([given]) / _ONE_Q30)) != [record["congestion_q30"]]
        elif "change" in record:
            _change(core, record, decided)
        else:
            _observe(core, record)
    return Compared(decisions, features, answers)


def _q30(values: Iterable[float]) -> list[int]:
    return [int(x * _ONE_Q30) for x in values]


def _in_order(c: Connection) -> list[Mapping[str, Any]]:
    acks = c.acks[c.acks["flags"] & OBSERVED != 0]
    rows = (
        dict(zip(table.dtype.names or (), row, strict=True))
        for table in (acks, c.losses, c.loss_changes)
        for row in table.tolist()
    )
    return sorted(rows, key=lambda row: row["record"])


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
