# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements `tcplearn live`, which sets learned minimum RTOs on an unmodified kernel by an eBPF program. The
minimum RTO of a connection, also called its floor, is the least time that the RTO adds to SRTT (rto_min)."""
