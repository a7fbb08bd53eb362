# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A current directory with modules in it that nobody asked for, and a way to start tcplearn there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

#: Of the standard library, of ours, and of what both import.
NAMES = (
    "signal",
    "pickle",
    "struct",
    "json",
    "socket",
    "typing",
    "tcplearn",
    "polars",
    "numpy",
    "sitecustomize",
)
#: As pip writes the console command.
COMMAND = "import sys\nfrom tcplearn.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


class Hostile:
    """The directory `cwd`; what was imported from it leaves a line."""

    def __init__(self, folder: Path) -> None:
        self.cwd = folder / "hostile"
        self.cwd.mkdir()
        self._folder, self._marker = folder, folder / "imported"
        for name in NAMES:
            text = f"open({str(self._marker)!r}, 'a').write({name!r} + '\\n')\nraise SystemExit({name!r})\n"
            (self.cwd / f"{name}.py").write_text(text)

    def imported(self) -> list[str]:
        return self._marker.read_text().split() if self._marker.exists() else []

    def run(self, command: Sequence[str], text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """Whatever this process was told about Python's search path is not handed on; `more` is."""
        known = {k: v for k, v in os.environ.items() if k not in ("PYTHONSAFEPATH", "PYTHONPATH")}
        environment = {**known, "XDG_CACHE_HOME": str(self._folder / "cache"), **more}
        return subprocess.run(
            command, input=text, capture_output=True, text=True, cwd=self.cwd, env=environment, timeout=60
        )

    def tcplearn(self, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
        program = self._folder / "bin" / "tcplearn"
        program.parent.mkdir(exist_ok=True)
        program.write_text(COMMAND)
        return self.run([sys.executable, str(program), *map(str, words)], **more)
