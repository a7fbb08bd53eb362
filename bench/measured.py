# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the time and the peak memory of a command, as the kernel accounts them."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: A small process that starts the command, because Linux counts the memory of the starting process in the
#: command's peak.
_LAUNCHER = """
import os, sys, time
start = time.perf_counter()
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
wall_s = time.perf_counter() - start
with open(sys.argv[1], "w") as out:
    print(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, file=out)
sys.exit(os.waitstatus_to_exitcode(status) != 0)
"""


@dataclass(frozen=True)
class Measured:
    wall_s: float
    cpu_s: float
    peak_mb: float
    output: str


def run(command: Sequence[str]) -> Measured:
    """Run `command` and return its time and peak memory; if it fails, exit with its last error line."""
    with tempfile.TemporaryDirectory() as folder:
        figures, output, errors = (Path(folder) / name for name in ("figures", "output", "errors"))
        with output.open("wb") as out, errors.open("wb") as err:
            launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(figures), *command]
            done = subprocess.run(launcher, stdout=out, stderr=err, check=False)
        if done.returncode:
            said = errors.read_text(errors="replace").strip().rpartition("\n")[2]
            raise SystemExit(f"bench: {' '.join(command)}: {said or 'failed'}")
        wall_s, cpu_s, peak_mb = map(float, figures.read_text().split())
        return Measured(wall_s, cpu_s, peak_mb, output.read_text(errors="replace"))


def best(command: Sequence[str], times: int) -> Measured:
    return min((run(command) for _ in range(times)), key=lambda m: m.wall_s)
