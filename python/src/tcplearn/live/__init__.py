# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn live`: a learned floor of the retransmission timer on an unmodified kernel, by eBPF."""
