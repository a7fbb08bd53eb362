# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes the engine's sums over one flow in a simple, slow way: row by row, as docs/metrics.md defines
them."""

from __future__ import annotations

import numpy as np

from tcplearn import _native, estimators
from tcplearn.replay.engine import Figures, Timer
from tcplearn.traces import Columns


def answers(
    rows: Columns, spec: estimators.Spec, arithmetic: str = "double"
) -> tuple[list[float], list[float]]:
    """Return the predictions and RTOs that are in force just before each row."""
    if spec.core:
        known = {key: rows[key] for key in ("ack_delay_us", "flight_segments", "ttl") if key in rows}
        run = _native.Estimator(spec.name, arithmetic, spec.params).run
        rtt, rto = run(rows["rtt_us"], rows["time_us"], rows["sent_us"], **known)
        return rtt.tolist(), rto.tolist()
    own = estimators.create(spec)
    out: tuple[list[float], list[float]] = [], []
    for k, y in enumerate(rows["rtt_us"].tolist()):
        x = {key: int(column[k]) for key, column in rows.items()}
        out[0].append(own.predict_one(x))
        out[1].append(own.rto_one(x))
        if y >= 0:
            own.learn_one(x, y)
    return out


def figures(
    rows: Columns, spec: estimators.Spec, arithmetic: str = "double", min_rto_us: float = 0
) -> Figures:
    rtt, rto = answers(rows, spec, arithmetic)
    rto = [max(value, min_rto_us) for value in rto]
    samples = rows["rtt_us"].tolist()
    errors, at_send, send, before = [], [], [], []
    longest, oldest = 0, -(2**62)
    for k, y in enumerate(samples):
        # no segment that is out is older; lists of RTTs do not say, so eight of the longest RTTs are kept
        longest = max(longest, y)
        oldest = max(oldest, min(int(rows["head_sent_us"][k]), int(rows["time_us"][k]) - 8 * longest))
        if y < 0:
            continue
        # in force until the first row after the sending: what was so just before that row
        since = max(int(rows["sent_us"][k]), oldest)
        sent = min(k, int(np.searchsorted(rows["time_us"], since, side="right")))
        if any(earlier >= 0 for earlier in samples[:k]):
            errors.append(abs(rtt[k] - y))
            before.append((y, rto[k]))
        if any(earlier >= 0 for earlier in samples[:sent]):
            at_send.append(abs(rtt[sent] - y))
            send.append((y, rto[sent]))
    return Figures(
        scored=len(errors),
        error_us=sum(errors),
        sent=len(at_send),
        at_send_us=sum(at_send),
        send=timer(send),
        before=timer(before),
    )


def timer(held: list[tuple[int, float]]) -> Timer:
    """Return a timer's sums over pairs of an RTT and the RTO that was in force for it."""
    return Timer(
        timed=len(held),
        misses=sum(y > rto for y, rto in held),
        rto_us=sum(rto for _, rto in held),
        excess_us=sum(max(rto - y, 0) for y, rto in held),
    )
