# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A job: a function of a module and its arguments, all of it plain, so that another machine can do it."""

from __future__ import annotations

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

#: What comes of reading a file as what it is not.
NOT_AS_WRITTEN = (ValueError, LookupError, TypeError, AttributeError)
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Job:
    key: str  # a hash of all that determines the result
    function: Callable[..., Any]  # of a module, by its name; its result is plain JSON, or bytes
    arguments: tuple[Any, ...]  # plain JSON
    title: str = ""  # in the line of its failure
    cost: float = 1.0  # beside the others'
    check: Callable[[Any], object] | None = None  # of what was kept: raises ValueError where it is none


class JobFailedError(FailedError):
    """`log`: what a person needs who looks for the reason."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message, log)
        self.log = log

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Failure:
    message: str
    log: str = ""


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The result, or its Failure: one that comes each time is not to be tried on another machine. Raises
    FullDiskError."""
    try:
        with naming_full_disk(Path(tempfile.gettempdir())):
            return function(*arguments)
    except FullDiskError:
        raise
    except UserError as error:
        return Failure(str(error), getattr(error, "log", ""))


#: Of the runner, in its own thread alone.
watching: ContextVar[Callable[[float], None] | None] = ContextVar("watching", default=None)


def advance(share: float) -> None:
    """From within a job: how much of it is done. Heard where jobs run one after the other."""
    if watch := watching.get():
        watch(share)


#: Functions whose failed jobs can be repeated from a file: a file can name no others.
REPEATABLE = (
    "tcplearn.lab.first_rto:boot",
    "tcplearn.lab.run:boot",
    "tcplearn.study.measure:part",
    "tcplearn.suite.measure:measured_file",
)


def name_of(job: Job) -> str:
    """As REPEATABLE has it."""
    return f"{job.function.__module__}:{job.function.__qualname__}"


def described(job: Job) -> str:
    """As `repeated` reads it."""
    return json.dumps({"function": name_of(job), "arguments": job.arguments}, indent=1) + "\n"


def repeated(file: Path) -> Any:
    """The result of a job that `described` wrote. Raises UserError for a file that is none, FailedError."""
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
