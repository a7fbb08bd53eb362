# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines a job: a top-level function with plain arguments, which another machine can run too."""

import importlib
import json
import tempfile
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn import documents
from tcplearn.errors import FailedError, FullDiskError, UserError, printable
from tcplearn.output.files import naming_full_disk

NOT_AS_WRITTEN = (ValueError, LookupError, TypeError, AttributeError)  # raised by files of a wrong form
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Job:
    """A function call that any process or machine can make, and whose result is stored under `key`."""

    key: str  # a hash of everything that determines the result
    function: Callable[..., Any]  # at the top level of a module; returns plain JSON or bytes
    arguments: tuple[Any, ...]  # plain JSON
    title: str = ""  # names the job in the line about its failure
    cost: float = 1.0  # expected run time relative to the other jobs
    check: Callable[[Any], object] | None = None  # raises ValueError for an unusable stored result


class JobFailedError(FailedError):
    """A job failed; `log` is the text that is stored beside the error message."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message, log)
        self.log = log

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Failure:
    """What takes the place of the result of a job that raised UserError."""

    message: str
    log: str = ""


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return the result of `function` called with `arguments`. If the function raises UserError, return a
    Failure instead, because a cluster would repeat a job that raises an error. Raise FullDiskError."""
    try:
        with naming_full_disk(Path(tempfile.gettempdir())):
            return function(*arguments)
    except FullDiskError:
        raise
    except UserError as error:
        return Failure(str(error), getattr(error, "log", ""))


#: Gets the progress of the running job. The runner sets it, in its own thread only.
watching: ContextVar[Callable[[float], None] | None] = ContextVar("watching", default=None)


def advance(share: float) -> None:
    """Report the share (0 to 1) of the job that is done. This has an effect only if the job runs in the
    thread that started the jobs."""
    if watch := watching.get():
        watch(share)


REPEATABLE = (  # the only functions that a file of a failed job may name
    "tcplearn.explain.files:kept",
    "tcplearn.lab.first_rto:boot",
    "tcplearn.lab.run:boot",
    "tcplearn.study.measure:part",
    "tcplearn.suite.measure:measured_file",
)


def name_of(job: Job) -> str:
    return f"{job.function.__module__}:{job.function.__qualname__}"


def described(job: Job) -> str:
    return json.dumps({"function": name_of(job), "arguments": job.arguments}, indent=1) + "\n"


def repeated(file: Path) -> Any:
    """Run the job that `file` describes (see `described`); return its result. Raise UserError,
    FailedError."""
    no_job = f"{printable(file)}: no job of tcplearn"
    try:
        known = documents.json_value(documents.bounded(file, _MOST_BYTES))
        function, (document,) = known["function"], known["arguments"]
    except OSError as error:
        raise UserError(f"{printable(file)}: cannot be read: {error.strerror or error}") from error
    except NOT_AS_WRITTEN as error:
        raise UserError(f"{no_job}; give a file that it named after `again:`") from error
    if function not in REPEATABLE or not isinstance(document, dict):
        raise UserError(f"{no_job}: it names {function!r:.60}; give a file that it named after `again:`")
    module, _, name = function.partition(":")
    try:
        return getattr(importlib.import_module(module), name)(document)
    except KeyError as error:
        if error.args[0] in document:
            raise
        raise UserError(f"{no_job}: it has no {error}") from error
