# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The end of a generator whose answers are integers: its files written, or with --check compared."""

import argparse


def write_or_check(description, texts):
    """`texts` by path. Returns what the process ends with: 1 where a file is not what it should be."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    bad = [path for path, text in texts.items() if check and (not path.exists() or path.read_text() != text)]
    for path in bad:
        print(f"{path}: not what the reference gives")
    for path, text in () if check else texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return len(bad) > 0
