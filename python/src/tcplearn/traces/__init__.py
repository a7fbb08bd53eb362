# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Traces of round-trip times: captures, CSV and flent files, kernel logs, all as the same columns."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from .base import ByteStream, FlowInfo, Reason, Trace, TraceError, TraceOptions
from .capture import CaptureTrace
from .csv import CsvTrace
from .flent import FlentTrace
from .qlog import QlogTrace, looks_like_qlog
from .schema import COLUMNS, Columns
from .tlog import MAGIC as _TLOG_MAGIC
from .tlog import TlogTrace

__all__ = [
    "COLUMNS",
    "CaptureTrace",
    "Columns",
    "CsvTrace",
    "FlentTrace",
    "FlowInfo",
    "QlogTrace",
    "Reason",
    "TlogTrace",
    "Trace",
    "TraceError",
    "TraceOptions",
    "open_trace",
]

_PCAP_MAGIC = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",  # nanoseconds
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\xcd\x34",  # Kuznetzov's
    b"\x34\xcd\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",  # pcapng
)
_PACKED = {b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


def open_trace(path: str | os.PathLike[str], *, options: TraceOptions | None = None) -> Trace:
    """Open a trace, its format found by its content; raise TraceError."""
    path = Path(path)
    if path.is_dir():
        raise TraceError(f"{path}: is a directory")
    if str(path) == "-" or (path.exists() and not path.is_file()):
        with tempfile.TemporaryDirectory(prefix="tcplearn-") as folder:
            # unlinked with its folder once the reader has it open
            copy = _spooled(path, Path(folder))
            try:
                return _open(copy, options)
            except TraceError as error:  # named as the user knows it
                raise TraceError(str(error).replace(str(copy), copy.name)) from None
    return _open(path, options)


def _spooled(path: Path, folder: Path) -> Path:
    """Copy what comes through a pipe ("-" is standard input): readers look at its beginning twice."""
    copy = folder / ("stdin" if str(path) == "-" else path.name)
    with copy.open("wb") as out, contextlib.ExitStack() as stack:
        source = sys.stdin.buffer if str(path) == "-" else stack.enter_context(path.open("rb"))
        shutil.copyfileobj(source, out)
    return copy


def _open(path: Path, options: TraceOptions | None) -> Trace:
    stream = ByteStream(path)
    head = b""
    while len(head) < 4096 and (part := stream.read()):
        head += part
    if not head:
        raise TraceError(
            f"{path}: "
            + (f"nothing in it can be read: {stream.damage}" if stream.damage else "the file is empty")
        )
    for magic, program in _PACKED.items():
        if head.startswith(magic):
            raise TraceError(f"{path}: packed with {program}; unpack it first (gzip is read as it is)")
    if head.startswith(_PCAP_MAGIC):
        return CaptureTrace(path, options or TraceOptions())
    if head.startswith(_TLOG_MAGIC):
        return TlogTrace(path)
    text = head[:4096].removeprefix(b"\xef\xbb\xbf")
    if looks_like_qlog(text):
        return QlogTrace(path, options)
    if text.lstrip().startswith((b"{", b"[")):
        return FlentTrace(path)
    if b"\0" in text or any(magic.startswith(head) for magic in _PCAP_MAGIC):
        raise TraceError(
            f"{path}: not a trace: neither a capture (pcap, pcapng) nor qlog, flent, CSV or a kernel log"
        )
    return CsvTrace(path)
