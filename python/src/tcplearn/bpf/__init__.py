# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compile BPF programs, check the kernel for what they need, and load them."""
