# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Standard input, output and error as they may be: closed, full, a pipe that nobody reads, not UTF-8."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
import unicodedata

#: Instead of what an encoding does not have.
_PLAIN = {
    "×": "x", "µ": "u", "μ": "u", "±": "+-", "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "≤": "<=",
    "≥": ">=", "α": "alpha", "β": "beta", "η": "eta", "━": "-", "╸": "-", "╺": "-",
}  # fmt: skip
_PLAINLY = "tcplearn-plainly"


def prepare() -> None:
    """To be called before any file is opened: it would get the number of a stream that is closed, and
    all that is written there."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, _instead_of(descriptor))
    codecs.register_error(_PLAINLY, _plainly)
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.encoding.lower().startswith("utf"):
        sys.stdout.reconfigure(errors=_PLAINLY)


def settle() -> None:
    """What could not be written is not tried again at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _instead_of(descriptor: int) -> io.TextIOWrapper:
    """Of a closed stream: an input that is empty, an output that is not writable, an error that goes
    nowhere."""
    opened = os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)
    if opened != descriptor and not _is_open(descriptor):
        os.dup2(opened, descriptor)
        os.close(opened)
        opened = descriptor
    os.set_inheritable(opened, opened == descriptor)
    return os.fdopen(opened, "w" if descriptor == 2 else "r", encoding="utf-8")


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    """In ASCII."""
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return _PLAIN.get(character) or letters or "?"
