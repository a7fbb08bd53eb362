# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The end of every generator: its files written, or with --check compared with what is there. Each kind of
algorithm has KIND/series/NAME.csv, the input, and KIND/expected/NAME.csv, the answers (README.md)."""

import argparse
import math
from pathlib import Path

VECTORS = Path(__file__).resolve().parent.parent


def parser(text):
    made = argparse.ArgumentParser(description=text.partition(";")[0])
    made.add_argument("--check", action="store_true", help="compare with what is there, write nothing")
    return made


def series_text(events, head=()):
    """A line an event: its word and its numbers."""
    return "".join(",".join(map(str, event)) + "\n" for event in (*head, *events))


def case_text(series, changed, answers):
    """The series, the parameters that differ from the defaults, and a line an answer: the numbers of fixed
    point, then those of double precision where one of them is another."""
    lines = [",".join(["case", series, *(f"{key}={value}" for key, value in changed.items())])]
    for whole, real in answers:
        numbers = [*map(str, whole), *([] if tuple(whole) == tuple(real) else map(repr, real))]
        lines.append(",".join(numbers))
    return "\n".join(lines) + "\n"


def expected_file(kind, algorithm, folder="expected"):
    return VECTORS / kind / folder / (algorithm.replace("/", "--") + ".csv")


def write_kind(kind, series, expected, check, more=()):
    """`series`: texts by name, `expected`: by algorithm; `more`: texts by path. Returns an exit code."""
    texts = {VECTORS / kind / "series" / f"{name}.csv": text for name, text in series.items()}
    texts |= {expected_file(kind, name): text for name, text in expected.items()} | dict(more)
    return write_or_check(check, texts, {path.parent for path in texts})


def write_or_check(check, texts, folders=()):
    """`texts` by path; `folders` have no other files. Returns what the process ends with: 1 where a file
    differs, is missing or is one too many."""
    if not check:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return 0
    there = {path for path in texts if path.exists()} | {p for folder in folders for p in folder.glob("*")}
    differ = {path for path in there & set(texts) if not _same(path.read_text(), texts[path])}
    bad = there ^ set(texts) | differ
    for path in sorted(bad):
        print(f"{path.relative_to(VECTORS)}: not what the reference gives")
    return 1 if bad else 0


def _same(a, b):
    lines = a.splitlines(), b.splitlines()
    return a == b or (len(lines[0]) == len(lines[1]) and all(map(_same_line, *lines)))


def _same_line(a, b):
    columns = a.split(","), b.split(",")
    return a == b or (len(columns[0]) == len(columns[1]) and all(map(_same_number, *columns)))


def _same_number(a, b):
    """A double has a point or an exponent; another libm may round its last digit otherwise."""
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
