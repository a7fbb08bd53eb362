# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs tcplearn and Python scripts in forks of one process that has imported all common modules, because
importing takes longer than most of these runs. It reads one line of JSON per run and answers with the exit
code."""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

#: Nothing of which starts a thread: a fork would be without it. So polars and pyarrow are left out.
IMPORTED = (
    "numpy",
    "altair",
    "tcplearn.cli",
    "tcplearn.cli.app",
    "tcplearn.replay.replay",
    "tcplearn.lab.run",
)
IMPORTED += ("tcplearn.replay.resends", "tcplearn.report", "tcplearn.simulate.sweep", "tcplearn.suite")


def _run(words: list[str]) -> None:
    if words[0] == "tcplearn":
        from tcplearn.cli import main

        sys.argv = words
        sys.exit(main(words[1:]))
    sys.argv = words[1:]
    if words[1] == "-m":
        sys.argv = words[2:]
        runpy.run_module(words[2], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = str(Path(words[1]).resolve().parent)
    runpy.run_path(words[1], run_name="__main__")


def _child(asked: dict[str, Any]) -> None:
    os.setsid()
    for number, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(asked[name], flags), number)
    os.chdir(asked["cwd"])
    os.environ.update(asked["env"])
    signal.alarm(asked["seconds"])
    code: object = 0
    try:
        _run(asked["words"])
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    threads = next(line for line in Path("/proc/self/status").read_text().splitlines() if "Threads" in line)
    assert threads.split()[1] == "1", threads
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                _child(json.loads(line))
            except BaseException:
                sys.excepthook(*sys.exc_info())
            os._exit(1)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
