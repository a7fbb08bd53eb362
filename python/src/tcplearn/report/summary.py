# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Say in sentences which estimator predicts the RTT best over all flows, with intervals if known."""

from collections.abc import Sequence

from tcplearn.estimators import learned
from tcplearn.output.numbers import counted, milliseconds, percent
from tcplearn.replay.results import Replay
from tcplearn.replay.row import Row
from tcplearn.replay.tables import by_error, flows
from tcplearn.replay.verdict import LINUX

BASELINE = "jacobson"

#: Smaller relative differences count as no difference.
SAME = 0.02


def deciding(replay: Replay) -> tuple[list[Row], list[list[Row]]]:
    """Return the rows on which the summary is based, and the rows of every flow with enough samples. The
    former are all flows together or, if they have too few samples, the largest flow."""
    judged = [rows for rows in flows(replay.rows).values() if any(r.judged for r in rows)]
    if any(row.judged for row in replay.totals):
        return replay.totals, judged
    return max(judged, key=lambda rows: rows[0].samples, default=[]), judged


def chosen(rows: Sequence[Row]) -> list[str]:
    """Return the estimators that pictures show at first: `linux`, `jacobson`, and the learned one with the
    smallest mean error."""
    names = [row.estimator for row in rows]
    first = [name for name in (LINUX, BASELINE) if name in names]
    best = next((row.estimator for row in by_error(rows) if learned(row.estimator)), None)
    if best:
        first.append(best)
    return first or names[:3]


def sentences(replay: Replay) -> list[str]:
    rows, judged = deciding(replay)
    measured = [row for row in by_error(rows) if row["mean_abs_error_ms"] is not None]
    if not measured:
        return ["No flow has enough samples to judge an estimator by."]
    samples = max(row.samples for row in measured)
    over = f"Over {counted(samples, 'RTT sample')}"
    base = next((row for row in measured if row.estimator == BASELINE), None)
    best = measured[0]
    if base is None:
        return [
            f"{over}, {_named(best)} predicted the RTT best: its mean error is {_error(best)}.",
            *_at_send(rows),
        ]
    gain = _gain(best, base)
    if best is base or gain < SAME:
        out = [
            f"{over}, no estimator predicted the RTT better than RFC 6298's formulas (jacobson) "
            f"by {SAME * 100:.0f} % or more: their mean error is {_error(base)}."
        ]
    else:
        out = [
            f"{over}, {_named(best)} predicted the RTT best: its mean error of {_error(best)} is "
            f"{gain * 100:.0f} % below that of RFC 6298's formulas (jacobson, {_error(base)}){_chance(best)}."
        ]
        out += _timer_of(best, base)
    teacher = next((row for row in measured if learned(row.estimator)), None)
    if teacher and teacher is not best and best is not base and not learned(best.estimator):
        out.append(_learner(teacher, base))
    return [*out, *_wins(best, judged), *_at_send(rows)]


def _chance(best: Row) -> str:
    low, high = best["mean_abs_error_ratio_low"], best["mean_abs_error_ratio_high"]
    if low is None or high is None:
        return ""
    if low <= 1 <= high:
        return ", which may be chance"
    return f", 95 % interval {(1 - high) * 100:.0f} to {(1 - low) * 100:.0f} %"


def _wins(best: Row, judged: Sequence[Sequence[Row]]) -> list[str]:
    if len(judged) < 2:
        return []
    won = sum(by_error(rows)[0].estimator == best.estimator for rows in judged)
    return [f"It came first on {won} of {counted(len(judged), 'flow')}."]


def _named(row: Row) -> str:
    trivial = " (the trivial baseline, which repeats the last sample)" if row.estimator == "last" else ""
    return f"{row.estimator}{trivial}"


def _error(row: Row) -> str:
    return f"{milliseconds(row['mean_abs_error_ms'] or 0.0)} ms"


def _gain(row: Row, base: Row) -> float:
    error, reference = row["mean_abs_error_ms"], base["mean_abs_error_ms"]
    return 1 - error / reference if error is not None and reference else 0.0


def _learner(row: Row, base: Row) -> str:
    gain = _gain(row, base)
    how = f"{gain * 100:.0f} % below" if gain > 0 else f"{-gain * 100:.0f} % above"
    return f"Of the estimators that learn, {row.estimator} came first, with {_error(row)}: {how} jacobson."


def _timer_of(best: Row, base: Row) -> list[str]:
    """Return a sentence that compares the RTOs of the best predictor and of `jacobson`, or [] if one is
    unknown."""
    values = [r[key] for key in ("rto_miss_rate", "mean_rto_ms") for r in (best, base)]
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return []
    miss, base_miss, wait, base_wait = known
    text = (
        f"Its RTO at the time of sending was too short for {percent(miss)} of the samples (jacobson: "
        f"{percent(base_miss)}) "
        f"at a mean RTO of {milliseconds(wait)} ms (jacobson: {milliseconds(base_wait)} ms)"
    )
    more_misses, longer = miss > base_miss * (1 + SAME), wait > base_wait * (1 + SAME)
    if more_misses and longer:
        verdict = "more samples outlast it, and it notices a loss later"
    elif more_misses:
        verdict = "more samples outlast it"
    elif longer:
        verdict = "it notices a loss later"
    else:
        verdict = "as a timer it is no worse"
    return [f"{text}: {verdict}."]


def _at_send(rows: Sequence[Row]) -> list[str]:
    """Return a sentence on which estimator predicts best at the time when a segment is sent."""
    known = [(v, row) for row in rows if (v := row["at_send_error_ms"]) is not None]
    if not known:
        return []
    error, row = min(known, key=lambda pair: pair[0])
    base = next((e for e, r in known if r.estimator == BASELINE and r is not row), None)
    beside = "" if base is None else f" (jacobson: {milliseconds(base)} ms)"
    return [
        f"Judged by the prediction in force when each segment was sent, a flight earlier, "
        f"{row.estimator} is the closest, with {milliseconds(error)} ms{beside}."
    ]
