# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements `python -P -m tcplearn.jobs FILE`, which repeats the failed job that FILE describes."""

import json
import sys
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.jobs.job import JobFailedError, repeated


def main() -> int:
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -P -m tcplearn.jobs FILE\n")
        return 2
    try:
        result = repeated(Path(sys.argv[1]))
    except UserError as error:
        if isinstance(error, JobFailedError):
            sys.stderr.write(error.log)
        sys.stderr.write(f"{printable(error)}\n")
        return error.exit_code
    if isinstance(result, bytes):
        sys.stdout.buffer.write(result)
    else:
        sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
