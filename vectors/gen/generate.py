# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/series and vectors/expected/estimators; with --check compares them with what is there.

    python3 vectors/gen/generate.py [--check] [ESTIMATOR ...]

Estimators named: only theirs, their presets' with them. Needs Python 3.11 or later and nothing else."""

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from cases import ESTIMATORS, cases_of, references
from series import ALL, Sample

HERE = Path(__file__).resolve().parent.parent
EXPECTED = HERE / "expected" / "estimators"


def series_text(series):
    lines = [
        f"repeat,{series.repeat},period_us,{series.period_us},every,{series.every}",
        ",".join(Sample._fields),
    ]
    return "\n".join(lines + [",".join(map(str, row)) for row in series.rows]) + "\n"


def answers(name, series, changed):
    """Before any sample, then after every so many."""
    double, fixed = references(name, changed)

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


def case_text(case):
    name, series, changed = case
    head = ["case", series, *(f"{key}={value}" for key, value in changed.items())]
    return "\n".join([",".join(head), *answers(name, ALL[series], changed)]) + "\n"


def expected_texts(names):
    """The text of each one's file; every case in a process of its own."""
    cases = [(name, *case) for name in names for case in cases_of(name)]
    texts = dict.fromkeys(names, "")
    with ProcessPoolExecutor() as pool:
        for (name, *_), text in zip(cases, pool.map(case_text, cases), strict=True):
            texts[name] += text
    return texts


def file_of(estimator):
    return EXPECTED / (estimator.replace("/", "--") + ".csv")


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


def check(files, there):
    differ = {path for path in there & set(files) if not close(path.read_text(), files[path])}
    bad = sorted(there ^ set(files) | differ)
    for path in bad:
        print(f"{path.relative_to(HERE)}: not what the reference gives")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description="The golden vectors, from the reference.")
    parser.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    parser.add_argument("estimators", nargs="*", metavar="ESTIMATOR", help="only these, presets included")
    arguments = parser.parse_args()
    names = [n for n in ESTIMATORS if not arguments.estimators or n.split("/")[0] in arguments.estimators]
    unknown = set(arguments.estimators) - {n.split("/")[0] for n in names}
    if unknown:
        parser.error(f"no reference for {', '.join(sorted(unknown))}; there is {', '.join(ESTIMATORS)}")
    files = {HERE / "series" / f"{name}.csv": series_text(s) for name, s in ALL.items()}
    files |= {file_of(name): text for name, text in expected_texts(names).items()}
    if arguments.check:
        there = {path for folder in (HERE / "series", EXPECTED) for path in folder.glob("*")}
        if arguments.estimators:
            there &= set(files)
        return check(files, there)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
