#!/usr/lib/tcplearn/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Starts tcplearn with the Python packages of /usr/lib/tcplearn."""

import sys

from tcplearn.__main__ import main

if __name__ == "__main__":  # a process that it starts imports this file
    sys.exit(main())
