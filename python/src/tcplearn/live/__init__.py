# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements `tcplearn live`: learned floors of the RTO on an unmodified kernel, set by eBPF."""
