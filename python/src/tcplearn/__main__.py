# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run the command line, which is started with `python -m tcplearn`."""

import os
import sys

# The matrix products are too small to gain from a second OpenBLAS thread, and threads slow the start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` puts the current directory first

from tcplearn.cli import main

if __name__ == "__main__":
    sys.exit(main())
