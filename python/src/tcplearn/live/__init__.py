# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements `tcplearn live`, which sets learned minimum RTOs on an unmodified kernel by an eBPF program."""
