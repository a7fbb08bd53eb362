# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`python -m tcplearn.jobs FILE`: a job that failed, once more; what it results in, to standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tcplearn.errors import FailedError, printable
from tcplearn.jobs.job import JobFailedError, repeated


def main() -> int:
    try:
        result = repeated(Path(sys.argv[1]))
    except JobFailedError as error:
        sys.stderr.write(error.log)
        sys.stderr.write(f"{printable(error)}\n")
        return error.exit_code
    except FailedError as error:
        sys.stderr.write(f"{printable(error)}\n")
        return error.exit_code
    if isinstance(result, bytes):
        sys.stdout.buffer.write(result)
    else:
        sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
