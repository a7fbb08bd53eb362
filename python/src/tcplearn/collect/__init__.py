# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measure round-trip times of hosts by TCP SYN pings and a TCP traceroute, with one row for each host."""
