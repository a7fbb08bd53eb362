# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Make standard streams usable if they are closed, full, a pipe without a reader, or not UTF-8."""

import codecs
import contextlib
import io
import os
import sys
import unicodedata

#: ASCII replacements for characters that the output's encoding lacks.
_PLAIN = {
    "×": "x", "µ": "u", "μ": "u", "±": "+-", "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "≤": "<=",
    "≥": ">=", "α": "alpha", "β": "beta", "η": "eta", "━": "-", "╸": "-", "╺": "-",
}  # fmt: skip
_PLAINLY = "tcplearn-plainly"


def prepare() -> None:
    """Replace closed standard streams, before an opened file gets the file descriptor of one."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, _instead_of(descriptor))
    codecs.register_error(_PLAINLY, _plainly)
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.encoding.lower().startswith("utf"):
        sys.stdout.reconfigure(errors=_PLAINLY)


def settle() -> None:
    """Flush standard output, or on failure redirect it to /dev/null, so that exit does not fail again."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _instead_of(descriptor: int) -> io.TextIOWrapper:
    """Return a substitute for a closed standard stream: 0 is empty input, 1 not writable, 2 discards
    output."""
    opened = os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)
    if opened != descriptor and not _is_open(descriptor):
        os.dup2(opened, descriptor)
        os.close(opened)
        opened = descriptor
    os.set_inheritable(opened, opened == descriptor)
    return os.fdopen(opened, "w" if descriptor == 2 else "r", encoding="utf-8")


def _is_open(descriptor: int) -> bool:
    with contextlib.suppress(OSError):
        os.fstat(descriptor)
        return True
    return False


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    """Return `character` in ASCII."""
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return _PLAIN.get(character) or letters or "?"
