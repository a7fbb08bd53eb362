# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a current directory that contains hostile Python modules, and starts tcplearn there."""

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
    """Makes the directory `cwd`. Each of its modules writes its name to a file when it is imported."""

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
        """Run `command` in the hostile directory. Settings of Python's search path in the environment are not
        passed on, except those in `more`."""
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
