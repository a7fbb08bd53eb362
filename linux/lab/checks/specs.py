# SPDX-License-Identifier: GPL-2.0-only
"""Prints, for each input line "KIND<tab>SPEC" (SPEC: an algorithm with its parameters), "taken" if the kernel
module accepts SPEC, or else the reason that the kernel logs."""

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

SETTINGS = Path("/proc/sys/net/tcplearn")
WITHOUT_SETTING = Path("/sys/kernel/debug/tcplearn_specs")  # for kinds of algorithms without a sysctl


OURS = "tcplearn: "  # how a message of the module begins


def unread(log: int) -> Iterator[str]:
    """Yield the module's messages in the kernel's log that have not been read yet, without their common
    prefix."""
    while True:
        try:
            record = os.read(log, 8192).decode()
        except BlockingIOError:
            return
        except BrokenPipeError:  # some records were overwritten before they were read
            continue
        message = record.split(";", 1)[1].split("\n", 1)[0]
        if message.startswith(OURS):  # other messages are from the kernel
            yield message.removeprefix(OURS)


def refused(kind: str, spec: bytes) -> int:
    """Write `spec`, an algorithm with its parameters, to the module's file for algorithms of the kind `kind`
    by one system call; return its errno, or 0. (A Python file object would repeat a write that fails.)"""
    setting = SETTINGS / kind
    place = os.open(setting if setting.exists() else WITHOUT_SETTING, os.O_WRONLY)
    try:
        os.write(place, (b"" if setting.exists() else kind.encode() + b" ") + spec + b"\n")
    except OSError as error:
        return error.errno or -1
    finally:
        os.close(place)
    return 0


def main() -> None:
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    for line in sys.stdin.buffer:
        kind, spec = line.rstrip(b"\n").split(b"\t")
        list(unread(log))
        code = refused(kind.decode(), spec)
        if code == errno.EINVAL:
            print(*unread(log))
        else:
            print(f"errno {code}" if code else "taken")


if __name__ == "__main__":
    main()
