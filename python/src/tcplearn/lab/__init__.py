# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs Linux TCP in a virtual machine whose clock counts instructions, so that a run repeats exactly."""
