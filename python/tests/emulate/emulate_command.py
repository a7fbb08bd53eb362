# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs `tcplearn emulate` as a user does."""

from __future__ import annotations

import functools
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np
from datagrams import PORT
from numpy.typing import NDArray

from samples import ROOT

DATAGRAMS = Path(__file__).with_name("datagrams.py")
#: The tests want the counts of a busy machine as well; lateness has a test of its own.
ANY_LATENESS = ("--late-limit-us", 10**9)


_TRIES = 4

Given = ParamSpec("Given")


def on_a_busy_machine(test: Callable[Given, None]) -> Callable[Given, None]:
    """Return a test of times that is repeated if it fails. The programs at both ends may wait for processors
    that other tests use, whereas a real fault appears in each run."""

    @functools.wraps(test)
    def played(*args: Given.args, **kwargs: Given.kwargs) -> None:
        for _ in range(_TRIES - 1):
            try:
                return test(*args, **kwargs)
            except AssertionError:
                continue
        return test(*args, **kwargs)

    return played


def missing() -> str:
    """Return the reason why no link can be emulated on this machine, or "" if it can."""
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun"
    for words in (["unshare", "-rnmp", "--fork", "true"], ["unshare", "-nmp", "--fork", "true"]):
        if not subprocess.run(words, capture_output=True, check=False).returncode:
            return ""
    return "namespaces are not permitted here"


def words_of(*words: object) -> list[str]:
    return [sys.executable, "-m", "tcplearn", "emulate", *map(str, words)]


def path_file(folder: Path, text: str) -> Path:
    file = folder / "mine.toml"
    file.write_text(text)
    return file


def emulated(
    folder: Path, path: str | Path, *words: object, options: tuple[object, ...] = ()
) -> dict[str, Any]:
    """Run `words` over the path and check that it succeeds. Return the emulator's result, with the standard
    output of the command as `output`."""
    file = folder / "result.json"
    given = words_of("-q", "--json", "-o", file, *ANY_LATENESS, *options, path, "--", *words)
    done = subprocess.run(given, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(file.read_text())
    return result | {"output": done.stdout}


def sent(
    folder: Path,
    path: str | Path,
    count: int,
    size: int,
    every_us: int,
    *options: object,
    wait_s: float = 0.2,
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Send datagrams over the path; return the emulator's result and a row for each datagram that arrived:
    its number, and when it was sent and received in ns."""
    seen = folder / "seen.json"
    server = shlex.join([sys.executable, str(DATAGRAMS), "receive", str(seen)])
    more = ("--server", server, "--wait-port", PORT, *options)
    words = (sys.executable, DATAGRAMS, "send", count, size, every_us, wait_s)
    result = emulated(folder, path, *words, options=more)
    return result, np.array(json.loads(seen.read_text()), np.int64).reshape(-1, 3)
