# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finished work on disk, whole or absent, so that a killed sweep loses only what ran."""

from __future__ import annotations

import json
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import tcplearn
from tcplearn import provenance
from tcplearn.jobs.job import REPEATABLE, Job, described, name_of
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.search_path import SAFE

Json = dict[str, Any]


class Kept(ABC):
    """Results by their jobs' keys, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_directory(folder)

    @abstractmethod
    def get(self, job: Job) -> Any | None:
        """What `put` returned once."""

    def finder(self) -> Callable[[Job], Any | None]:
        """`get`, for many jobs one after the other."""
        return self.get

    def has(self, job: Job) -> bool:
        """Whether there is a result, without reading it."""
        return self.get(job) is not None

    @abstractmethod
    def put(self, job: Job, result: Any) -> Any: ...

    def put_failed(self, job: Job, log: str = "") -> tuple[str, Path | None]:
        """The command that repeats it, and where its log is now."""
        if name_of(job) not in REPEATABLE:
            return "the same command", self._failed(job, ".log", log) if log else None
        file = self._failed(job, ".json", described(job))
        again = shlex.join([sys.executable, SAFE, "-m", "tcplearn.jobs", str(file)])
        return again, self._failed(job, ".log", log) if log else None

    def _failed(self, job: Job, suffix: str, text: str) -> Path:
        path = self.folder / "failed" / f"{job.key}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        return path


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(path.name for path in folder.iterdir())
    except OSError:
        return frozenset()


class Store(Kept):
    """Results that are JSON objects, a file each, with what made them.

    `format` counts the changes of what a result looks like; `upgraded` makes today's of one from before.
    """

    def __init__(
        self, folder: Path, format: int = 1, upgraded: Callable[[Json, int], Json] = lambda found, _: found
    ) -> None:
        super().__init__(folder)
        self._format, self._upgraded = format, upgraded

    def path(self, key: str) -> Path:
        return self.folder / "runs" / key[:2] / f"{key}.json"

    def has(self, job: Job) -> bool:
        return any(self.path(key).exists() for key in (job.key, *job.earlier))

    def get(self, job: Job) -> Json | None:
        return self._first(job, (job.key, *job.earlier))

    def finder(self) -> Callable[[Job], Json | None]:
        """Of what is there now. To try each earlier key of thousands of jobs takes a minute."""
        files = cache(lambda folder: _names(self.folder / "runs" / folder))

        def get(job: Job) -> Json | None:
            keys = (job.key, *job.earlier)
            return self._first(job, (key for key in keys if f"{key}.json" in files(key[:2])))

        return get

    def _first(self, job: Job, keys: Iterable[str]) -> Json | None:
        for key in keys:
            found = self._read(key)
            if found is not None:
                return {**found, "key": job.key}
        return None

    def _read(self, key: str) -> Json | None:
        try:
            found: Json = json.loads(self.path(key).read_text())
        except (OSError, ValueError):
            return None
        if found.get("key") != key:
            return None
        made_in = found.get("format", 1)
        return {"version": None, **(found if made_in == self._format else self._upgraded(found, made_in))}

    def put(self, job: Job, result: Json) -> Json:
        made = {"format": self._format, "version": tcplearn.__version__, "commit": provenance.commit()}
        out = {"key": job.key, **made, "arguments": list(job.arguments), **result}
        path = self.path(job.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(out) + "\n")
        return out
