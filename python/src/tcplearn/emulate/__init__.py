# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Emulates network paths for real programs on this machine's own kernel, between two TUN devices."""
