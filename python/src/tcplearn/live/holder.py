# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The process that `tcplearn live start` leaves behind: it attaches the program, answers on standard output,
and becomes `sleep`, which does nothing but hold the link. When it ends, however it ends, the program is
detached.

python -m tcplearn.live.holder CGROUP OBSERVE CAP_MS"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tcplearn.errors import UserError

from . import notes
from .program import Program, Settings

READY = "ready"


def main(cgroup: Path, settings: Settings) -> None:
    try:
        program = Program(settings)
        link = program.attach(cgroup)
        notes.write(cgroup, settings, program.maps())
    except (UserError, OSError) as error:
        print(error, flush=True)
        sys.exit(1)
    os.chdir("/")
    os.set_inheritable(link, True)
    print(READY, flush=True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.execvp("sleep", ["tcplearn-live", "infinity"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Settings(bool(int(sys.argv[2])), int(sys.argv[3])))
