# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The verdict in words, for the terminal and the report alike."""

from __future__ import annotations

from collections.abc import Sequence

from tcplearn.output.numbers import counted, milliseconds
from tcplearn.replay.results import Row
from tcplearn.replay.verdict import FEW, LINUX, SAME, STANDARD, Beside, Verdict, needless

#: None in N samples still allows one in N/3, at 95 %; said where that is more than one in a thousand.
_NONE_ALLOWS, _SAID_BELOW = 3, 3000

_NAMES = {LINUX: "Linux", STANDARD: "RFC 6298"}


def of(verdict: Verdict | None) -> list[str]:
    """The answer first."""
    if verdict is None:
        return ["Which timer is best cannot be told: no flow has enough samples."]
    lead = verdict.lead
    if not verdict.rows[0].judged:
        return [_unknown(verdict)]
    if not verdict.known:
        return [
            _unknown(verdict),
            *([] if lead is None else _wait(lead, verdict.beside)),
            _prediction(verdict),
        ]
    if lead is None:
        least = min(verdict.rows, key=needless)
        return [
            "No timer compared suits this traffic: each fires needlessly more than once in 1,000 "
            f"samples. {_named(least)} does so least: {_times(needless(least))}.",
            _prediction(verdict),
        ]
    return [
        _best(verdict, lead),
        _fired(verdict, lead),
        *_wait(lead, verdict.beside),
        *_losses(lead, verdict.beside),
        *_refused(verdict),
        _prediction(verdict),
    ]


def _named(row: Row) -> str:
    return _NAMES.get(row.estimator, row.estimator)


def _listed(rows: Sequence[Row]) -> str:
    names = [_named(row) for row in rows]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _ms(value: float | None) -> str:
    return f"{milliseconds(value or 0.0)} ms"


def _unknown(verdict: Verdict) -> str:
    samples = counted(verdict.samples, "sample")
    return f"Which timer is best cannot be told on {samples}: at least {FEW} are needed."


def _best(verdict: Verdict, lead: Row) -> str:
    others = [row for row in verdict.equal if row is not lead]
    if len(verdict.rows) == 1:
        return f"Only one timer was compared: {_named(lead)}."
    if lead.estimator == LINUX:
        also = f" {_listed(others)} would have done as well." if others else ""
        return f"No timer compared would have served this traffic better than Linux's.{also}"
    if others:
        return (
            f"Best for this traffic: {_listed([lead, *others])}. Which of them is best cannot be told: their "
            f"waits differ by no more than chance or {SAME * 100:.0f} %."
        )
    return f"Best timer for this traffic: {_named(lead)}."


def _fired(verdict: Verdict, lead: Row) -> str:
    beside = "".join(f", {_named(b.row)} {needless(b.row):,}" for b in verdict.beside)
    samples, times = counted(verdict.samples, "sample"), _times(needless(lead))
    text = f"In {samples} {_named(lead)} fires needlessly {times}{beside}"
    if needless(lead) == 0 and verdict.samples < _SAID_BELOW:
        text += f"; so few samples still allow once in {verdict.samples // _NONE_ALLOWS:,}"
    return f"{text}."


def _wait(lead: Row, beside: Sequence[Beside]) -> list[str]:
    """How long a loss waits for the timer: its mean RTO."""
    others = "".join(f", {_ms(b.row['mean_rto_ms'])} for {_named(b.row)}" for b in beside)
    out = [f"A loss waits {_ms(lead['mean_rto_ms'])} for {_named(lead)}{others}."]
    if not beside:
        return out
    first = beside[0]
    which = "less" if first.ratio < 1 else "more"
    change = f"That is {abs(first.ratio - 1) * 100:.0f} % {which} than {_named(first.row)}"
    if first.interval is None:
        return [*out, f"{change}."]
    if first.chance:
        return [*out, f"{change}, which may be chance."]
    low, high = sorted(abs(end - 1) * 100 for end in first.interval)
    return [*out, f"{change}: more than chance (95 % interval: {low:.0f} to {high:.0f} %)."]


def _losses(lead: Row, beside: Sequence[Beside]) -> list[str]:
    count, after = int(lead["losses"] or 0), lead["loss_detect_rto_ms"]
    if not count or after is None or not beside:
        return []
    first = beside[0].row
    sooner = (first["loss_detect_rto_ms"] or 0.0) - after
    which = "sooner" if sooner >= 0 else "later"
    losses = "loss" if count == 1 else f"{count:,} losses"
    return [
        f"The {losses} here it notices after {_ms(after)}, {_ms(abs(sooner))} {which} than {_named(first)}."
    ]


def _refused(verdict: Verdict) -> list[str]:
    row = verdict.refused
    if row is None:
        return []
    return [
        f"{_named(row)} waits less ({_ms(row['mean_rto_ms'])}), but fires needlessly too often: "
        f"{_times(needless(row))}."
    ]


def _prediction(verdict: Verdict) -> str:
    measured = [(e, r) for r in verdict.rows if (e := r["mean_abs_error_ms"]) is not None]
    if not measured:
        return "No RTT was predicted."
    error, row = min(measured, key=lambda pair: pair[0])
    linux = next((f" (Linux {_ms(e)})" for e, r in measured if r.estimator == LINUX and e > error), "")
    low, high = (
        row["mean_abs_error_ratio_low"],
        row["mean_abs_error_ratio_high"],
    )  # Linux predicts as jacobson
    chance = ", which may be chance" if linux and low is not None and high is not None and high >= 1 else ""
    return f"{_named(row)} predicts the RTT best: {_ms(error)} off in the mean{linux}{chance}."


def todo(verdict: Verdict | None, *, everything: bool) -> str:
    """What to do next."""
    if verdict is None or not verdict.known:
        return "Next: capture for longer, or name several captures at once."
    names = {row.estimator for row in verdict.rows}
    if LINUX not in names:
        return f"Next: add -e {LINUX} to compare with what people run."
    more = (
        "--miss 0.001 to choose how often conformal may miss"
        if everything
        else "--all for every timer, column and flow"
    )
    return f"Next: --report report.html for pictures; {more}."
