# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/losses and vectors/expected/loss; with --check compares them with what is there.

    python3 vectors/gen/generate_loss.py [--check]

Needs Python 3.11 or later and nothing else."""

import argparse
import math
import sys
from pathlib import Path

from loss_numbers import Float, Whole
from loss_reference import CLASSIFIERS, Connection
from loss_series import ALL, Ack

HERE = Path(__file__).resolve().parent.parent


def series_text(events):
    """A line an event: ack, decide or change, and its columns."""

    def line(e):
        if isinstance(e, Ack):
            return ("ack", *e)
        if e.change is None:
            return ("decide", *e[:5])
        return ("change", *e[:4], e.change, e.cause)

    return "".join(",".join(map(str, line(e))) + "\n" for e in events)


def played(series, subject):
    """The subject's answers, one a decision."""
    for event in ALL[series]:
        if isinstance(event, Ack):
            getattr(subject, "path", subject).ack(event)
        elif event.change is None:
            yield (subject.decide if hasattr(subject, "decide") else subject.features)(event)
        else:
            subject.change(event)


def features_text():
    """A line a feature of a decision: its name, in fixed point, in double."""
    lines = []
    for series in ALL:
        lines.append(f"case,{series}")
        for whole, real in zip(
            played(series, Connection(Whole())), played(series, Connection(Float())), strict=True
        ):
            lines += [f"{name},{whole[name]},{real[name]!r}" for name in whole]
    return "\n".join(lines) + "\n"


def decisions_text(name):
    """A line a decision: cause in fixed point, probability in it, cause in double, probability."""
    kind, defaults, variants = CLASSIFIERS[name]
    lines = []
    for changed in ({}, *variants):
        for series in ALL:
            lines.append(",".join(["case", series, *(f"{k}={v}" for k, v in changed.items())]))
            p = {**defaults, **changed}
            both = zip(played(series, kind(Whole(), p)), played(series, kind(Float(), p)), strict=True)
            lines += [f"{a[1]},{a[0]},{b[1]},{b[0]!r}" for a, b in both]
    return "\n".join(lines) + "\n"


def close_line(a, b):
    """Alike; another libm may round the last digit of a double otherwise."""
    x, y = a.split(","), b.split(",")
    return x[:-1] == y[:-1] and (
        x[-1] == y[-1]
        or (x[0] != "case" and math.isclose(float(x[-1]), float(y[-1]), rel_tol=1e-13, abs_tol=1e-13))
    )


def close(a, b):
    lines = a.splitlines(), b.splitlines()
    return len(lines[0]) == len(lines[1]) and all(map(close_line, *lines))


def main():
    parser = argparse.ArgumentParser(description="The golden vectors of the classifiers of losses.")
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    files = {HERE / "losses" / f"{name}.csv": series_text(events) for name, events in ALL.items()}
    expected = HERE / "expected" / "loss"
    files[expected / "features.csv"] = features_text()
    files |= {expected / (name.replace("/", "--") + ".csv"): decisions_text(name) for name in CLASSIFIERS}
    if parser.parse_args().check:
        there = {path for folder in (HERE / "losses", expected) for path in folder.glob("*")}
        bad = there ^ set(files) | {p for p in there & set(files) if not close(p.read_text(), files[p])}
        for path in sorted(bad):
            print(f"{path.relative_to(HERE)}: not what the reference gives")
        return 1 if bad else 0
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
