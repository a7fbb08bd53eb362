# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Round-trip times of hosts by TCP: SYN pings and a TCP traceroute, one row for each host."""
