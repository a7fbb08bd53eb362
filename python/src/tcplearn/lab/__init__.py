# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs real Linux TCP in a virtual machine over emulated networks, in virtual time. A scenario file
becomes a shell script for the guest, the machine runs the script, and the guest's output becomes rows of
metrics."""
