# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs real Linux TCP in a virtual machine over emulated networks. The machine's clock counts executed
instructions (virtual time), so a run repeats exactly. A scenario file becomes a shell script for the
machine, and the script's output becomes rows of metrics."""
