# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""python -m tcplearn"""

import os
import sys

# no matrix product here is large enough for a second thread, whose start would take longer
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` puts the current directory there

from tcplearn.cli import main

if __name__ == "__main__":
    sys.exit(main())
