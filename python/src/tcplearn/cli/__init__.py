# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The command line of tcplearn. Each subcommand, such as `replay`, has a module of its own."""

from tcplearn.cli.app import app, main

__all__ = ["app", "main"]
