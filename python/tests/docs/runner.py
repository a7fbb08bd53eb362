# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs small forms: tcplearn and Python scripts in forks of one process, and all other programs in a
shell."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import inputs

from samples import ROOT
from tcplearn.report import page

_FORKED = re.compile(r"(tcplearn|python) ([^|<>$;{]*)(?: < (\S+))?", re.DOTALL)
_BUILDS = re.compile(r"make |cmake |ctest |ninja |core/|build/|pytest |\. |python bench/run.py")
_BIN = ROOT / ".venv" / "bin"


@dataclass(frozen=True)
class Ran:
    code: int
    output: str
    errors: str


class Forks:
    """Starts fork_server.py at the first run and sends it the commands."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def run(
        self, words: list[str], folder: Path, stdin: str | None, env: Mapping[str, str], seconds: int
    ) -> Ran:
        if self._server is None:
            server = [sys.executable, str(Path(__file__).with_name("fork_server.py"))]
            self._server = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._server.stdin and self._server.stdout
        streams = {name: str(folder / f".{name}") for name in ("stdout", "stderr")}
        streams["stdin"] = str(folder / stdin) if stdin else os.devnull
        asked = {"words": words, "cwd": str(folder), "env": dict(env), "seconds": seconds, **streams}
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        return Ran(code, *(Path(streams[name]).read_text(errors="replace") for name in ("stdout", "stderr")))

    def close(self) -> None:
        if self._server:
            assert self._server.stdin
            self._server.stdin.close()
            self._server.wait()


@dataclass(frozen=True)
class Runner:
    """Runs small forms in the folder of one test."""

    forks: Forks
    folder: Path

    @property
    def own(self) -> Path:
        """Return the folder that replaces TMP in a small form."""
        return self.folder / "own"

    def run(self, small: str, seconds: int) -> Ran:
        """Run the command `small`, with at most `seconds` for each step."""
        tree = self.folder / "tree"
        tree.mkdir()
        self.own.mkdir()
        command = small.replace("TMP", str(self.own))
        inputs.prepare(tree, command)
        env = {"COLUMNS": "150", "PATH": _path()} | (
            {} if _has_a_machine(command) else _cache(self.folder, "--report" in command)
        )
        steps = command.split(" && ")
        if not all(_FORKED.fullmatch(step) for step in steps):
            return _in_shell(command, tree, env, seconds)
        ran = Ran(0, "", "")
        for step in steps:
            ran = self.forks.run(*_words(step, tree), env, seconds)
            if ran.code:
                break
        return ran


def _has_a_machine(command: str) -> bool:
    """Return whether the command boots the lab's guest, whose images are in the user's cache."""
    return any(words in command for words in ("tcplearn lab", "latency", "stalls --run", "forecasts --run"))


def _cache(folder: Path, draws: bool) -> dict[str, str]:
    """Make a cache without results in `folder` and return the variable that selects it. If `draws` is true,
    it has the script that draws reports, taken from the user's cache, because making the script takes
    seconds."""
    if draws:
        page._bundle()
    cache = folder / "cache" / "tcplearn"
    cache.mkdir(parents=True)
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tcplearn"
    for script in users.glob("vega-*.js"):
        (cache / script.name).symlink_to(script)
    return {"XDG_CACHE_HOME": str(folder / "cache")}


def _words(step: str, folder: Path) -> tuple[list[str], Path, str | None]:
    """Return the words of `step` as a shell expands them."""
    match = _FORKED.fullmatch(step)
    assert match
    shell = ["bash", "-c", f"printf '%s\\0' {match[1]} {match[2]}"]
    expanded = subprocess.run(shell, cwd=folder, capture_output=True, text=True, check=True).stdout
    return expanded.split("\0")[:-1], folder, match[3]


def _path() -> str:
    """Return PATH with the folder of `tcplearn` and that of this Python first."""
    return f"{_BIN}:{Path(sys.executable).parent}:{os.environ['PATH']}"


def _in_shell(command: str, tree: Path, env: Mapping[str, str], seconds: int) -> Ran:
    """Run the command in a shell. A command that builds something runs in the tree itself."""
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
    plain = {key: value for key, value in os.environ.items() if key not in outer}
    builds = _BUILDS.match(command)
    with _alone() if builds else contextlib.nullcontext():
        done = subprocess.run(
            ["timeout", str(seconds), "bash", "-o", "pipefail", "-c", command],
            cwd=ROOT if builds else tree,
            env={**plain, **env},
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
    return Ran(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock, so that only one process builds at a time: builds use the same folders."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / ".docs-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
