# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes vectors/series and vectors/expected/estimators; with --check compares them with what is there.

    python3 vectors/gen/generate.py [--check] [ESTIMATOR ...]

Estimators named: only theirs, their presets' with them. Needs Python 3.11 or later and nothing else."""

import sys
from concurrent.futures import ProcessPoolExecutor

from cases import ESTIMATORS, cases_of, references
from series import ALL, Sample
from vector_files import VECTORS, parser, write_or_check

SERIES, EXPECTED = VECTORS / "series", VECTORS / "expected" / "estimators"


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


def main():
    options = parser(__doc__)
    options.add_argument("estimators", nargs="*", metavar="ESTIMATOR", help="only these, presets included")
    arguments = options.parse_args()
    names = [n for n in ESTIMATORS if not arguments.estimators or n.split("/")[0] in arguments.estimators]
    unknown = set(arguments.estimators) - {n.split("/")[0] for n in names}
    if unknown:
        options.error(f"no reference for {', '.join(sorted(unknown))}; there is {', '.join(ESTIMATORS)}")
    files = {SERIES / f"{name}.csv": series_text(s) for name, s in ALL.items()}
    files |= {file_of(name): text for name, text in expected_texts(names).items()}
    return write_or_check(arguments.check, files, () if arguments.estimators else (SERIES, EXPECTED))


if __name__ == "__main__":
    sys.exit(main())
