# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks that the test files of a pytest command, and the words of its -k, exist. pytest itself takes
seconds."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("paths", nargs="*", default=["python/tests"])
    for option in ("-k", "-m"):
        parser.add_argument(option, default="")
    asked = parser.parse_args(words)
    texts = []
    for name in asked.paths:
        path = ROOT / name.partition("::")[0]
        files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
        texts += [f"{file}\n{file.read_text()}" for file in files]
        test = name.partition("::")[2].partition("[")[0]
        if not files or (test and not re.search(rf"def {test}\b", texts[-1])):
            sys.exit(f"{name}: no such test")
    names = " ".join(name for text in texts for name in re.findall(r"^\S*test_\S+|(?<=def )\w+", text))
    for word in set(re.findall(r"\w+", asked.k)) - {"and", "or", "not"}:
        if word not in names:
            sys.exit(f"no test has {word} in its name")
    print(len(texts), "files")


if __name__ == "__main__":
    main(sys.argv[1:])
