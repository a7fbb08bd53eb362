# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Traces of round-trip times: captures, CSV and flent files, kernel logs, all as the same columns."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from .base import (
    ByteStream,
    FlowInfo,
    Interface,
    Reason,
    Trace,
    TraceError,
    TraceFile,
    TraceOptions,
    read_in_part,
    shown,
)
from .capture import CaptureTrace
from .csv import CsvTrace
from .flent import FlentTrace
from .lines import encoding_of
from .mlab import MlabTrace, looks_like_mlab
from .ping import PingTrace, looks_like_ping
from .plain import NumbersTrace, looks_like_numbers
from .qlog import QlogTrace, looks_like_qlog
from .schema import COLUMNS, Columns
from .ss import SsTrace, looks_like_ss
from .tlog import MAGIC as _TLOG_MAGIC
from .tlog import TlogTrace

__all__ = [
    "COLUMNS",
    "CaptureTrace",
    "Columns",
    "CsvTrace",
    "FlentTrace",
    "FlowInfo",
    "Interface",
    "MlabTrace",
    "NumbersTrace",
    "PingTrace",
    "QlogTrace",
    "Reason",
    "SsTrace",
    "TlogTrace",
    "Trace",
    "TraceError",
    "TraceOptions",
    "open_trace",
    "read_in_part",
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
#: "[1700000000.5] 64 bytes from ..." is no JSON.
_STAMPED = re.compile(rb"\s*\[[^\]\n]{8,40}\] +[^\s,\]]")
#: What a format is found by.
_HEAD_BYTES = 4096
_PACKED = {b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


def open_trace(
    path: str | os.PathLike[str] | Interface, *, options: TraceOptions | None = None, name: str = ""
) -> Trace:
    """Open a trace, its format found by its content; raise TraceError. `name`: what its user calls it."""
    options = options or TraceOptions()
    if options.unit not in ("", "s", "ms", "us", "ns"):
        raise TraceError(f"unit {shown(options.unit)}: give s, ms, us or ns")
    if isinstance(path, Interface):
        return CaptureTrace.of_interface(path, options)
    path = Path(path)
    if path.is_dir():
        raise TraceError(f"{TraceFile.of(path)}: is a directory")
    if str(path) == "-" or (path.exists() and not path.is_file()):
        return _of_pipe(path, options)
    return _open(TraceFile(path, name) if name else TraceFile.of(path), options)


def _of_pipe(path: Path, options: TraceOptions) -> Trace:
    """A capture is read as it comes; all else is copied, because readers look at its beginning twice."""
    stdin = str(path) == "-"
    descriptor = os.dup(sys.stdin.fileno()) if stdin else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    name = "stdin" if stdin else TraceFile.of(path).title
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(os.fdopen(descriptor, "rb", buffering=0))
        head = b""
        while len(head) < len(_PCAP_MAGIC[0]) and (part := source.read(_HEAD_BYTES)):
            head += part
        if head.startswith(_PCAP_MAGIC):
            return CaptureTrace.of_pipe(os.dup(descriptor), head, name, options)
        if head.startswith(b"\0"):  # /dev/zero has no end
            raise _no_trace(name)
        # nameless from the beginning, so that nothing stays behind however this ends
        copy = stack.enter_context(tempfile.TemporaryFile(prefix="tcplearn-"))
        copy.write(head)
        shutil.copyfileobj(source, copy)
        copy.flush()
        return _open(TraceFile(Path(f"/proc/self/fd/{copy.fileno()}"), name), options)


def _no_trace(name: object) -> TraceError:
    text = f"{name}: not a trace: neither a capture (pcap, pcapng) nor a text that docs/traces.md lists"
    return TraceError(text)


def _open(file: TraceFile, options: TraceOptions) -> Trace:
    stream = ByteStream(file)
    head = b""
    while len(head) < _HEAD_BYTES and (part := stream.read()):
        head += part
    if not head:
        raise TraceError(
            f"{file}: "
            + (f"nothing in it can be read: {stream.damage}" if stream.damage else "the file is empty")
        )
    for magic, program in _PACKED.items():
        if head.startswith(magic):
            raise TraceError(f"{file}: packed with {program}; unpack it first (gzip is read as it is)")
    if head.startswith(_PCAP_MAGIC):
        return CaptureTrace.of_file(file, options)
    if head.startswith(_TLOG_MAGIC):
        return TlogTrace(file)
    text = head[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    if looks_like_qlog(text):
        return QlogTrace(file, options)
    words = head[:_HEAD_BYTES].decode(encoding_of(head), "replace")
    if text.lstrip().startswith((b"{", b"[")) and not _STAMPED.match(text):
        return MlabTrace(file) if looks_like_mlab(text) else FlentTrace(file)
    if looks_like_ping(words):
        return PingTrace(file, options)
    if looks_like_ss(words):
        return SsTrace(file)
    if looks_like_numbers(words):
        return NumbersTrace(file, options)
    if b"\0" in text or any(magic.startswith(head) for magic in _PCAP_MAGIC):
        raise _no_trace(file)
    return CsvTrace(file, options)
