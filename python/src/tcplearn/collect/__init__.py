# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measure round-trip times of hosts by TCP SYN pings and a TCP traceroute, with a row of results for each
host."""
