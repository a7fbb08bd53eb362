# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test tools/check-lengths: a file may have at most 400 lines of code, and tables of any length."""

import subprocess
from pathlib import Path

import pytest

from samples import ROOT

ROWS = "".join(f'    ("metric {n}", {n}),\n' for n in range(500))
CODE = "".join(f"print({n})\n" for n in range(300))


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("table.py", f"TABLE = (\n{ROWS})\n", None),
        ("typed.py", f"TABLE: tuple[tuple[str, int], ...] = (\n{ROWS})\n", None),
        ("beside.py", f"{CODE}TABLE = (\n{ROWS})\n", None),
        ("code.py", f"{CODE}TABLE = (\n{ROWS})\n{CODE}", 600),
        ("within.py", f"def table():\n    return (\n{ROWS}    )\n", 503),
        ("functions.py", f"TABLE = (\n{ROWS}    (lambda: 1, 1),\n)\n", 503),
        ("code.c", "int x;\n" * 401, 401),
        ("short.c", "int x;\n" * 400, None),
    ],
)
def test_code_is_limited_and_tables_are_not(tmp_path: Path, name: str, text: str, lines: int | None) -> None:
    file = tmp_path / name
    file.write_text(text)
    done = subprocess.run([ROOT / "tools" / "check-lengths", file], capture_output=True, text=True)
    said = "" if lines is None else f"{file}: {lines} lines of code, more than 400\n"
    assert (done.returncode, done.stdout, done.stderr) == (int(lines is not None), said, "")
