# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""python -m tcplearn"""

import sys

from tcplearn.cli import main

if __name__ == "__main__":
    sys.exit(main())
