# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Say in sentences which timer suits the traffic best, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Sequence

from tcplearn.errors import printable
from tcplearn.output.numbers import counted, listed, milliseconds, percent
from tcplearn.replay.row import Row
from tcplearn.replay.verdict import FEW, LINUX, SAME, STANDARD, Beside, Verdict, probes, spurious

#: If N samples have no event, the rate may still be 3/N (95 % bound), which is stated if N is below 3,000.
_NONE_ALLOWS, _STATED_BELOW = 3, 3000

_LONG_MS = 1000.0  # minimum RTO of RFC 6298, section 2.4; timers with a longer mean RTO are of no use

_NAMES = {LINUX: "Linux", STANDARD: "RFC 6298"}


def of(verdict: Verdict | None, *, prediction: bool = True) -> list[str]:
    """Return sentences on which timer suits the traffic best, the answer first. With `prediction`, the
    last sentence names the best predictor of RTTs."""
    if verdict is None:
        return ["Which timer is best cannot be told: no flow has enough samples."]
    lead = verdict.lead
    part = ["This answer covers only the part that could be read: see the warnings."] if verdict.part else []
    last = [_prediction(verdict)] if prediction else []
    if not verdict.rows[0].judged:
        return [_unknown(verdict), *part]
    if not verdict.known:
        waits = [] if lead is None else [_rto(lead, verdict.beside)]
        return [_unknown(verdict), *part, *waits, *last]
    if lead is None:
        least = min(verdict.rows, key=spurious)
        return [
            "No RTO compared suits this traffic: each has more than one spurious timeout in 1,000 "
            f"samples, or too many spurious probes. {_named(least)} has the fewest timeouts: "
            f"{spurious(least):,}.",
            *part,
            *_requested(verdict),
            *last,
        ]
    return [
        _best(verdict, lead),
        *part,
        _fired(verdict, lead),
        _rto(lead, verdict.beside),
        *_losses(lead, verdict.beside),
        *_refused(verdict),
        *_differing(verdict, lead),
        *_requested(verdict),
        *last,
    ]


def _named(row: Row) -> str:
    return _NAMES.get(row.estimator, row.estimator)


def _timeouts(count: int) -> str:
    return counted(count, "spurious timeout") if count else "no spurious timeout"


def _ms(value: float | None) -> str:
    return f"{milliseconds(value or 0.0)} ms"


def _unknown(verdict: Verdict) -> str:
    samples = counted(verdict.samples, "sample")
    return f"Which timer is best cannot be told on {samples}: at least {FEW} are needed."


def _best(verdict: Verdict, lead: Row) -> str:
    """Return the sentence that names the best timers. `lead` is the first choice among them."""
    best, others = ([_named(r) for r in verdict.equal if r is not skip] for skip in (None, lead))
    if len(verdict.rows) == 1:
        return f"Only one estimator was compared: {_named(lead)}."
    if lead.estimator == LINUX:
        also = f" {listed(others)} would have done as well." if others else ""
        return (
            f"No RTO compared suits this traffic better than Linux's.{also} Whether a setting would help, "
            "tcplearn explain says."
        )
    if verdict.refused and (lead["mean_rto_ms"] or 0.0) > _LONG_MS and lead.estimator != STANDARD:
        return (
            f"No RTO compared suits this traffic: {listed(best)} waits longer than RFC 6298's "
            "least RTO of 1 s, and the others have too many spurious timeouts."
        )
    if others:
        return (
            f"Best RTOs for this traffic: {listed(best)}. Which of them is best cannot be told: their "
            f"RTOs differ by no more than chance or {SAME * 100:.0f} %."
        )
    return f"Best RTO for this traffic: {_named(lead)}."


def _fired(verdict: Verdict, lead: Row) -> str:
    by_count: dict[int, list[str]] = {}
    for row in (lead, *(b.row for b in verdict.beside)):
        by_count.setdefault(spurious(row), []).append(_named(row))
    (count, names), *others = by_count.items()
    beside = "".join(f", {listed(names)} {f'{count:,}' if count else 'none'}" for count, names in others)
    samples = counted(verdict.samples, "sample")
    has = "has" if len(names) == 1 else "have"
    text = f"In {samples} {listed(names)} {has} {_timeouts(count)}{beside}"
    if spurious(lead) == 0 and verdict.samples < _STATED_BELOW:
        text += f"; so few samples still allow one in {verdict.samples // _NONE_ALLOWS:,}"
    return f"{text}."


def _rto(lead: Row, beside: Sequence[Beside]) -> str:
    """Return a sentence that compares the mean RTO of `lead`, the best timer, with the timers `beside`."""
    others = "".join(f", {_named(b.row)}'s {_ms(b.row['mean_rto_ms'])}" for b in beside)
    out = f"{_named(lead)}'s mean RTO is {_ms(lead['mean_rto_ms'])}{others}"
    if not beside:
        return f"{out}."
    first = beside[0]
    which = "less" if first.ratio < 1 else "more"
    out += f": {abs(first.ratio - 1) * 100:.0f} % {which} than {_named(first.row)}'s"
    if first.interval is None:
        return f"{out}."
    if first.chance:
        return f"{out}, which may be chance."
    low, high = sorted(abs(end - 1) * 100 for end in first.interval)
    return f"{out}, more than chance (95 % interval: {low:.0f} to {high:.0f} %)."


def _losses(lead: Row, beside: Sequence[Beside]) -> list[str]:
    """Return a sentence on how soon a sender with RACK-TLP would notice the losses, or []."""
    count, after = int(lead["losses"] or 0), lead["loss_detect_rack_ms"]
    if not count or after is None or not beside:
        return []
    first = beside[0].row
    sooner = (first["loss_detect_rack_ms"] or 0.0) - after
    which = f"{_ms(abs(sooner))} {'sooner' if sooner > 0 else 'later'} than"
    if abs(sooner) < SAME * after:
        which = "as soon as"
    losses = "loss" if count == 1 else f"{count:,} losses"
    actual = lead["loss_detect_actual_ms"]
    own = "" if actual is None else f"; the sender took {_ms(actual)}"
    return [f"It notices the {losses} after {_ms(after)}, {which} {_named(first)}{own}."]


def _refused(verdict: Verdict) -> list[str]:
    row = verdict.refused
    if row is None:
        return []
    what, count, most = "timeouts", spurious(row), verdict.allowed
    if count <= most:
        what, count, most = "probes", probes(row), verdict.allowed_probes
    return [
        f"{_named(row)} has a shorter RTO ({_ms(row['mean_rto_ms'])}), but too many spurious {what}: "
        f"{count:,}, where {most:,} would be allowed."
    ]


def _differing(verdict: Verdict, lead: Row) -> list[str]:
    """Return a sentence on the flows in which `lead`, the best timer overall, is not the best, or []."""
    differing = verdict.differing
    if not differing:
        return []
    first, name = differing[0], lead.estimator
    best = listed([_NAMES.get(n, n) for n in first.best])
    best += " are best" if len(first.best) > 1 else " is best"
    text = f"{best} in {printable(first.flow)}"
    if len(differing) > 1:
        many = f"in {len(differing):,} of {len(verdict.alone):,} flows judged alone"
        text = f"Other timers are best {many}; {text}"
    if first.refuses(name):
        text += f", where {_named(lead)} has {_timeouts(first.spurious[name])}"
    return [f"{text}."]


def _requested(verdict: Verdict) -> list[str]:
    """Return sentences that compare the timers' achieved miss rates with those that the user requested."""
    out = []
    for row in verdict.rows:
        requested, before = row["rto_miss_rate_requested"], row["rto_miss_rate_before"]
        if row.estimator not in verdict.requested or not requested or before is None:
            continue
        out.append(
            f"{row.estimator}: {percent(before)} of samples exceed the RTO just before them, "
            f"{percent(requested)} requested; it has {_timeouts(spurious(row))} and a mean RTO of "
            f"{_ms(row['mean_rto_ms'])}."
        )
    return out


def _prediction(verdict: Verdict) -> str:
    measured = [(e, r) for r in verdict.rows if (e := r["mean_abs_error_ms"]) is not None]
    if not measured:
        return "No RTT was predicted."
    error, row = min(measured, key=lambda pair: pair[0])
    linux = next((f" (Linux {_ms(e)})" for e, r in measured if r.estimator == LINUX and e > error), "")
    # Linux predicts as jacobson does
    low, high = (row[f"mean_abs_error_ratio_{end}"] for end in ("low", "high"))
    chance = ", which may be chance" if linux and low is not None and high is not None and high >= 1 else ""
    return f"{_named(row)} predicts the RTT best: its mean error is {_ms(error)}{linux}{chance}."


def todo(verdict: Verdict | None, *, everything: bool, reported: bool = False) -> str:
    """Return a sentence with the user's next step. `everything` says that all columns are already shown,
    `reported` that a report was written."""
    if verdict is None or not verdict.known:
        return "Next: capture for longer, or name several captures at once."
    names = {row.estimator for row in verdict.rows}
    if LINUX not in names:
        return f"Next: add -e {LINUX} to compare with Linux's timer."
    more = "--miss 0.001 to choose how often conformal may miss" if everything else "--all"
    more += "; what to set: tcplearn explain"
    return f"Next: {more}." if reported else f"Next: --report report.html for pictures; {more}."
