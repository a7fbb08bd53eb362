# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stores results of jobs on disk, each completely or not at all."""

import contextlib
import json
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import tcplearn
from tcplearn import documents, provenance
from tcplearn.errors import say
from tcplearn.jobs import shape
from tcplearn.jobs.job import NOT_AS_WRITTEN, REPEATABLE, Job, described, name_of
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.search_path import SAFE

Json = dict[str, Any]
MOST_BYTES = 1 << 30
_STAMP = {"commit": str, "version": str}


class Kept(ABC):
    """Stored results of jobs in the folder `folder`. A subclass says how a result is stored."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unfit: set[Path] = set()
        make_directory(folder)

    @abstractmethod
    def get(self, job: Job) -> Any | None:
        """Return the stored result of `job`, or None if there is none that can be used."""

    def finder(self) -> Callable[[Job], Any | None]:
        """Return a function like `get` for many jobs. A subclass may return one that is faster."""
        return self.get

    def has(self, job: Job) -> bool:
        return self.get(job) is not None

    @abstractmethod
    def put(self, job: Job, result: Any) -> Any: ...  # stores `result`; returns what `get` then returns

    @contextlib.contextmanager
    def _reading(self, path: Path) -> Iterator[None]:
        """Within this context, which reads the stored result at `path`, suppress the errors of a missing or
        damaged result. A damaged result causes a warning, the first time only."""
        try:
            yield
        except FileNotFoundError:
            pass
        except (OSError, *NOT_AS_WRITTEN) as error:
            if path not in self._unfit:
                say(f"warning: {path}: not the result that was stored, so it is ignored: {error}")
            self._unfit.add(path)

    def put_failed(self, job: Job, log: str = "") -> tuple[str, Path | None]:
        """Store a description of a failed job, and `log`. Return the command that repeats the job, and the
        path of the file with `log` (None if `log` is empty)."""
        again = "the same command"
        if name_of(job) in REPEATABLE:
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
    """Stores each job's result as a JSON file. A stored result whose format number is not `format` counts as
    missing."""

    def __init__(self, folder: Path, format: int = 1) -> None:
        super().__init__(folder)
        self._format = format

    def path(self, key: str) -> Path:
        return self.folder / "runs" / key[:2] / f"{key}.json"

    def has(self, job: Job) -> bool:
        path = self.path(job.key)
        return path.exists() and path not in self._unfit

    def get(self, job: Job) -> Json | None:
        with self._reading(self.path(job.key)):
            found = self._read(job.key)
            if job.check:
                job.check(found)
            return found
        return None

    def finder(self) -> Callable[[Job], Json | None]:
        """Return a function that returns a job's stored result like `get`, but lists each folder of stored
        results only once. Trying to open thousands of missing files would take a minute."""
        files = cache(lambda folder: _names(self.folder / "runs" / folder))
        return lambda job: self.get(job) if f"{job.key}.json" in files(job.key[:2]) else None

    def _read(self, key: str) -> Json:
        found: Json = documents.json_value(documents.bounded(self.path(key), MOST_BYTES))
        if found["key"] != key:
            raise ValueError("it has another key")
        if found.get("format") != self._format:
            raise ValueError("it was made by another version")
        shape.check(found, _STAMP)
        return found

    def put(self, job: Job, result: Json) -> Json:
        made = {"format": self._format, "version": tcplearn.__version__, "commit": provenance.commit()}
        out = {"key": job.key, **made, "arguments": list(job.arguments), **result}
        path = self.path(job.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(out) + "\n")
        self._unfit.discard(path)
        return out
