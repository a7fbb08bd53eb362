# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write the test vectors of RTT estimators to vectors/estimator, or with --check compare the existing
files."""

import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from conformal_numbers import Double, Fixed
from series import ALL
from vector_files import case_text, parser, series_text, write_kind

EVERY = "wan tiny large equal falling rising extremes sawtooth hour flights"
#: Name: (class for floats, class for integers, default parameters, variants). The class for integers is None
#: if both would give the same whole microseconds. A variant is (names of series, parameters that differ).
ESTIMATORS = {}
for path in sorted(Path(__file__).parent.glob("*_reference.py")):
    ESTIMATORS |= getattr(import_module(path.stem), "CASES", {})


def cases_of(name):
    """Yield, for each test case of estimator `name`, the name of the series and the parameters that are not
    defaults."""
    for several, changed in [(EVERY, {}), *ESTIMATORS[name][3]]:
        for series in several.split():
            yield series, changed


def text_of_series(series):
    repeated = (series.repeat, series.period_us, series.every) != (1, 0, 1)
    head = [("repeat", series.repeat, series.period_us, series.every)] if repeated else []
    return series_text((("sample", *row) for row in series.rows), head)


def answers(name, series, changed):
    """Yield the predicted RTT and the RTO of estimator `name`, in fixed point and in double precision, before
    the first and after every `series.every` samples."""
    double, fixed, defaults, _ = ESTIMATORS[name]
    p = {**defaults, **changed}
    double, fixed = double(Double(), p), fixed(Fixed(), p) if fixed else None

    def answer():
        whole = fixed.query() if fixed else tuple(256 * v for v in double.query())
        return whole, tuple(map(float, double.query()))

    yield answer()
    for k, sample in enumerate(series.samples(), 1):
        double.update(sample)
        if fixed:
            fixed.update(sample)
        if k % series.every == 0:
            yield answer()


def text_of_case(case):
    name, series, changed = case
    return case_text(series, changed, answers(name, ALL[series], changed))


def expected_texts(names):
    """Return, by the name of each estimator in `names`, the text of its file of expected answers. A pool of
    processes computes the test cases."""
    cases = [(name, *case) for name in names for case in cases_of(name)]
    texts = dict.fromkeys(names, "")
    with ProcessPoolExecutor() as pool:
        for (name, *_), text in zip(cases, pool.map(text_of_case, cases), strict=True):
            texts[name] += text
    return texts


def main():
    options = parser(__doc__)
    options.add_argument("estimators", nargs="*", metavar="ESTIMATOR", help="only these, presets included")
    arguments = options.parse_args()
    names = [n for n in ESTIMATORS if not arguments.estimators or n.split("/")[0] in arguments.estimators]
    unknown = set(arguments.estimators) - {n.split("/")[0] for n in names}
    if unknown:
        options.error(f"no reference for {', '.join(sorted(unknown))}; there is {', '.join(ESTIMATORS)}")
    series, expected = {name: text_of_series(s) for name, s in ALL.items()}, expected_texts(names)
    return write_kind("estimator", series, expected, arguments.check, whole=not arguments.estimators)


if __name__ == "__main__":
    sys.exit(main())
