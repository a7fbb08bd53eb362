# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/series and vectors/expected; with --check compares them with what is there.

    python3 vectors/gen/generate.py [--check]

Needs Python 3.11 or later and nothing else."""

import math
import sys
from pathlib import Path

from cases import ESTIMATORS, all_cases, models
from series import ALL, Sample

HERE = Path(__file__).resolve().parent.parent


def series_text(series):
    lines = [
        f"repeat,{series.repeat},period_us,{series.period_us},every,{series.every}",
        ",".join(Sample._fields),
    ]
    return "\n".join(lines + [",".join(map(str, row)) for row in series.rows]) + "\n"


def answers(name, series, changed):
    """What stands before any sample, then after every so many."""
    double, fixed = models(name, changed)

    def line():
        f64 = tuple(map(float, double.query()))
        fix = fixed.query() if fixed else tuple(256 * v for v in double.query())
        return f"{fix[0]},{fix[1]},{f64[0]!r},{f64[1]!r}"

    yield line()
    for k, sample in enumerate(series.samples(), 1):
        double.update(sample)
        if fixed:
            fixed.update(sample)
        if k % series.every == 0:
            yield line()


def expected_texts():
    texts = {name: [] for name in ESTIMATORS}
    for name, series, changed in all_cases():
        head = ["case", series, *(f"{key}={value}" for key, value in changed.items())]
        texts[name] += [",".join(head), *answers(name, ALL[series], changed)]
    return {name: "\n".join(lines) + "\n" for name, lines in texts.items()}


def file_name(estimator):
    return estimator.replace("/", "--") + ".csv"


def close(a, b):
    """Fixed columns alike; another libm may round the last digit of a double otherwise."""
    lines = a.splitlines(), b.splitlines()
    return len(lines[0]) == len(lines[1]) and all(map(close_line, *lines))


def close_line(a, b):
    if a == b:
        return True
    x, y = a.split(","), b.split(",")
    if x[0] == "case" or x[:2] != y[:2] or len(x) != len(y):
        return False
    return all(math.isclose(float(u), float(v), rel_tol=1e-13) for u, v in zip(x[2:], y[2:], strict=True))


def main(arguments):
    files = {HERE / "series" / f"{name}.csv": series_text(s) for name, s in ALL.items()}
    files |= {
        HERE / "expected" / "estimators" / file_name(name): text for name, text in expected_texts().items()
    }
    if arguments == ["--check"]:
        there = {p for folder in ("series", "expected/estimators") for p in (HERE / folder).glob("*")}
        differ = {path for path in there & set(files) if not close(path.read_text(), files[path])}
        bad = sorted(there ^ set(files) | differ)
        for path in bad:
            print(f"{path.relative_to(HERE)}: not what the reference gives")
        return 1 if bad else 0
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
