# SPDX-License-Identifier: GPL-2.0-only
"""In the guest: what the module says of each line "SETTING<tab>SPEC": "taken", or the line of the log."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

SETTINGS = Path("/proc/sys/net/tcplearn")


def unread(log: int) -> Iterator[str]:
    """What the kernel has said since the last call."""
    while True:
        try:
            record = os.read(log, 8192).decode()
        except BlockingIOError:
            return
        except BrokenPipeError:  # records were lost
            continue
        yield record.split(";", 1)[1].split("\n", 1)[0]


def main() -> None:
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    for line in sys.stdin:
        setting, spec = line.rstrip("\n").split("\t")
        list(unread(log))
        place = os.open(SETTINGS / setting, os.O_WRONLY)
        try:
            os.write(place, spec.encode())  # once: a file's close() would write what was refused again
        except OSError:
            print(*(text.removeprefix("tcplearn: ") for text in unread(log)))
        else:
            print("taken")
        os.close(place)


if __name__ == "__main__":
    main()
