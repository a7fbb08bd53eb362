# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run work on trace files as jobs: compute the jobs' keys, report unreadable files, and store results."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import tcplearn
from tcplearn import _native, estimators, jobs
from tcplearn.errors import FailedError, UserError, printable
from tcplearn.jobs import Job, Place, Progress, Store
from tcplearn.output.files import cache_folder
from tcplearn.traces import TraceError

Json = dict[str, Any]


@dataclass(frozen=True)
class Where:
    """Where jobs run, and whether stored results are used."""

    place: Place = field(default_factory=lambda: Place(workers=1))
    fresh: bool = False
    say: Callable[[str], None] = print  # prints a line for each job that failed


@cache
def identity(room: str) -> str:
    """Return a hash of the code that jobs run: core, trace readers, replay, and the subpackage `room`."""
    package = Path(tcplearn.__file__).parent
    total = hashlib.sha256(tcplearn.__version__.encode())
    total.update(Path(_native.__file__).read_bytes())
    for name in ("estimators.py", "traces", "replay", room):
        part = package / name
        for path in sorted(part.rglob("*.py")) if part.is_dir() else [part]:
            total.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:24]


def users_code(texts: Sequence[str]) -> str | None:
    """Return hashes of the code of the user's own estimators among `texts`; None if one cannot be read."""
    codes = [estimators.user_code(estimators.parse(text)) for text in texts]
    return None if None in codes else " ".join(filter(None, codes))


@dataclass(frozen=True)
class Seen:
    """A trace file's path, digest, size and modification time when the job that reads the file was made."""

    path: str
    shown: str  # the name that the user gave
    sha256: str
    bytes: int
    modified_ns: int

    @staticmethod
    def of(path: Path, shown: str = "") -> Seen:
        """Return the present path, digest, size and modification time of the trace file `path`, which
        messages call `shown`. Raise TraceError or OSError."""
        shown = shown or str(path)
        if not path.is_file():
            raise TraceError(f"{shown}: {'is not a file' if path.exists() else 'no such file'}")
        state = _state(path)
        try:
            digest = _digest(path)
        except PermissionError as error:
            raise TraceError(f"{shown}: cannot be opened: {error.strerror}") from None
        return Seen(str(path.absolute()), shown, digest, *state)


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _unchanged(file: Seen) -> Iterator[None]:
    """Raise TraceError, on entry or exit, if the trace file has changed since the job was made."""
    path = Path(file.path)
    before = _state(path)
    # a copy on another computer has another modification time, so its digest is compared
    changed = before != (file.bytes, file.modified_ns) and _digest(path) != file.sha256
    if not changed:
        yield
        changed = _state(path) != before
    if changed:
        raise TraceError(f"{file.shown}: changed while it was read; run again when nothing writes to it")


def problem(shown: object, error: Exception) -> str:
    """Return the line that says that the file `shown` cannot be read because of `error`."""
    if isinstance(error, OSError):
        return printable(f"{shown}: {error.strerror or error}")
    return printable(error)


def job(
    function: Callable[[Json], Json],
    file: Seen,
    options: Json,
    specs: Sequence[str],
    cost: float = 1.0,
    check: Callable[[Json], object] | None = None,
) -> Job:
    """Return the job that calls `function` on `file`. Besides the estimators `specs`, `options` has
    everything that determines the result. `cost` is the run time relative to other jobs. `check` raises
    ValueError for a malformed result."""
    room = function.__module__.split(".")[1]
    document = {
        "options": options,
        "estimators": list(specs),
        "users_code": users_code(specs),
        "identity": identity(room),
    }
    known = json.dumps([function.__qualname__, room, file.sha256, document], sort_keys=True)
    key = hashlib.sha256(known.encode()).hexdigest()[:24]
    argument = {**document, "room": room, "file": asdict(file)}
    return Job(key, function, (argument,), file.shown, cost, check=check)


def outcome(document: Json, work: Callable[[Seen], Json]) -> Json:
    """Call `work` on the trace file of the job whose argument is `document`. Return the result of `work`,
    {"problem": line} for an unreadable file, or {"refused": line} for a failed estimator. Raise FailedError
    if the job was made on a computer with other code."""
    ours = identity(document["room"]), users_code(document["estimators"])
    if ours != (document["identity"], document["users_code"]):
        raise FailedError(
            f"tcplearn or an estimator of your own differs on {os.uname().nodename} from that where the "
            "command was given: install the same there"
        )
    file = Seen(**document["file"])
    try:
        with _unchanged(file):
            return work(file)
    except FileNotFoundError as error:
        return {"problem": problem(file.shown, error), "missing": os.uname().nodename}
    except (TraceError, OSError) as error:
        return {"problem": problem(file.shown, error)}
    except FailedError:
        raise
    except UserError as error:
        return {"refused": str(error)}


class Results(Store):
    """A store of results by job key, without those of unreadable files or unreadable user code."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._is_open = folder, False
        self._unfit = set()
        with contextlib.suppress(UserError):  # without a writable home directory the jobs still run
            super().__init__(folder)
            self._is_open = True

    def put(self, job: Job, result: Json) -> Json:
        """Store and return the `result` of `job`. Raise UserError if an estimator failed, FailedError if the
        job's trace file is missing on the computer that ran the job but not on this one."""
        (document,) = job.arguments
        if "refused" in result:
            raise UserError(result["refused"])
        if "missing" in result and Path(document["file"]["path"]).exists():
            raise FailedError(
                f"{printable(document['file']['path'])}: is not on {result['missing']}; put the traces where "
                "all workers have them under the same path"
            )
        if self._is_open and "problem" not in result and document["users_code"] is not None:
            with contextlib.suppress(UserError, OSError):
                return super().put(job, result)
        return result

    def put_failed(self, job: Job, log: str = "") -> tuple[str, Path | None]:
        with contextlib.suppress(UserError, OSError):
            return super().put_failed(job, log)
        return "the same command", None


def run(
    work: Sequence[Job],
    room: str,
    where: Where,
    progress: Progress | None,
    unit: str,
    *,
    in_processes: bool = False,
) -> Json:
    """Return the results of the jobs `work` by key, from subfolder `room` of the user's cache or by running
    the jobs at `where`. `unit` says in messages what the jobs are, such as "files". Raise FailedError if a
    job failed."""
    kept = Results(cache_folder(room))
    pool = where.place.pool(kept.folder / "slurm", in_processes=in_processes)
    done = jobs.run(work, kept, pool, fresh=where.fresh, progress=progress, say=where.say, unit=unit)
    if done.failures:
        raise FailedError(
            f"{len(done.failures)} of {len(work)} {unit} failed; the others are stored for the next time"
        )
    return done.results
