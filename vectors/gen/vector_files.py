# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Write or check test vectors: inputs KIND/series/NAME.csv, expected answers KIND/expected/NAME.csv."""

import argparse
import math
import sys
from pathlib import Path

VECTORS = Path(__file__).resolve().parent.parent


def parser(text):
    made = argparse.ArgumentParser(description=text.partition(";")[0])
    made.add_argument("--check", action="store_true", help="compare the existing files, write nothing")
    return made


def series_text(events, head=()):
    """Return a line for each event: its word and its numbers."""
    return "".join(",".join(map(str, event)) + "\n" for event in (*head, *events))


def case_text(series, changed, answers):
    """Return the lines of a test case: the series and the parameters that are not defaults, then the answers.
    An answer has the numbers in fixed point, then those in double precision if they differ."""
    lines = [",".join(["case", series, *(f"{key}={value}" for key, value in changed.items())])]
    for whole, real in answers:
        numbers = [*map(str, whole), *([] if tuple(whole) == tuple(real) else map(repr, real))]
        lines.append(",".join(numbers))
    return "\n".join(lines) + "\n"


def texts_of(algorithms, series, answers):
    """Return the text of each algorithm's file of expected answers, by the algorithm's name. `algorithms`
    maps names to (class, default parameters, variants); a variant is a dict of changed parameters.
    `answers(class, parameters, events)` computes the answers to the events of a series."""
    return {
        name: "".join(
            case_text(named, changed, answers(kind, {**defaults, **changed}, events))
            for changed in ({}, *variants)
            for named, events in series.items()
        )
        for name, (kind, defaults, variants) in algorithms.items()
    }


def expected_file(kind, algorithm, folder="expected"):
    return VECTORS / kind / folder / (algorithm.replace("/", "--") + ".csv")


def write_kind(kind, series, expected, check, more=(), whole=True):
    """Write the files in the folder `kind` of vectors/ (such as "loss"), or with `check` compare the existing
    ones. `series` and `expected` map names to texts, `more` maps paths to texts. `whole` says that the folder
    has no other files. Return an exit code."""
    texts = {VECTORS / kind / "series" / f"{name}.csv": text for name, text in series.items()}
    texts |= {expected_file(kind, name): text for name, text in expected.items()} | dict(more)
    return write_or_check(check, texts, {path.parent for path in texts} if whole else ())


def main(doc, kind, algorithms, series, answers, line=tuple, more=()):
    """Run the generator of the folder `kind`, whose docstring is `doc`, and exit. `line` returns the columns
    of an event in `series`. The other arguments are those of texts_of() and write_kind()."""
    check = parser(doc).parse_args().check
    texts = {name: series_text(map(line, events)) for name, events in series.items()}
    sys.exit(write_kind(kind, texts, texts_of(algorithms, series, answers), check, more))


def main_of_file(doc, name, rows):
    """Run the generator of the single file `name`, which has a line for each of `rows`."""
    sys.exit(write_or_check(parser(doc).parse_args().check, {VECTORS / name: series_text(rows)}))


def write_or_check(check, texts, folders=()):
    """Write each text in `texts` to the path that is its key; or with `check`, check that the files have
    these texts and that `folders` have no other files. Return an exit code."""
    if not check:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return 0
    there = {path for path in texts if path.exists()} | {p for folder in folders for p in folder.glob("*")}
    differ = {path for path in there & set(texts) if not _same(path.read_text(), texts[path])}
    bad = there ^ set(texts) | differ
    for path in sorted(bad):
        print(f"{path.relative_to(VECTORS)}: differs from the reference")
    return 1 if bad else 0


def _same(a, b):
    lines = a.splitlines(), b.splitlines()
    return a == b or (len(lines[0]) == len(lines[1]) and all(map(_same_line, *lines)))


def _same_line(a, b):
    columns = a.split(","), b.split(",")
    return a == b or (len(columns[0]) == len(columns[1]) and all(map(_same_number, *columns)))


def _same_number(a, b):
    """Return whether the texts `a` and `b` are the same number. Doubles may differ in the last digit, because
    math libraries differ."""
    if a == b:
        return True
    try:
        int(a), int(b)
    except ValueError:
        try:
            return math.isclose(float(a), float(b), rel_tol=1e-13, abs_tol=1e-13)
        except ValueError:
            return False
    return False
