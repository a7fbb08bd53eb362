# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run the command line, which is started with `python -m tcplearn`."""

import os
import sys
from collections.abc import Sequence

# The matrix products are too small to gain from a second OpenBLAS thread, and threads slow the start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` puts the current directory first

from tcplearn import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: this process's) and return its exit code."""
    if argv is None and sys.argv[1:] == ["--version"] and _printed(f"tcplearn {__version__}\n"):
        return 0
    try:
        from tcplearn import cli  # it takes longer to import than --version may take
    except KeyboardInterrupt:
        return 130

    return cli.main(argv)


def _printed(text: str) -> bool:
    """Print `text`; return False if standard output does not take it."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError, ValueError):  # sys.stdout is None if it was closed
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
