# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The command line: one file a verb."""

from tcplearn.cli.app import app, main

__all__ = ["app", "main"]
