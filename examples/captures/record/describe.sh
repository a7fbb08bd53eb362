#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Prints the table of flows in README.md from a capture, as tshark sees it.
#
#   describe.sh CAPTURE
#
# RTT samples are tcp.analysis.ack_rtt of the ACKs that came to the sender.
# Segments of the sender that tshark calls out of order are retransmissions:
# nothing reorders between a sender and its own capture.
set -euo pipefail
export LC_ALL=C
[ $# = 1 ] || { echo "usage: describe.sh CAPTURE" >&2; exit 2; }

tshark -r "$1" -T fields -e tcp.stream -e ip.src -e tcp.srcport -e tcp.dstport -e frame.time_relative \
	-e tcp.len -e tcp.analysis.ack_rtt -e tcp.analysis.retransmission -e tcp.analysis.out_of_order |
	awk -F '\t' '
	{
		if (!($1 in packets)) { sender[$1] = $2; port[$1] = $4; first[$1] = $5; flows = $1 }
		packets[$1]++
		last[$1] = $5
		if ($2 == sender[$1]) { bytes[$1] += $6; again[$1] += ($8 != "" || $9 != "") }
		else if ($7 != "") rtt[$1, ++count[$1]] = $7 * 1000
	}
	# The q-quantile of the sorted sample: its smallest value with at least that share below or at it.
	function quantile(flow, q,  i) { i = int(q * count[flow]); if (i < q * count[flow]) i++; return rtt[flow, i < 1 ? 1 : i] }
	function sort(flow,  gap, i, j, value) {  # Shell sort: mawk has none of its own
		for (gap = int(count[flow] / 2); gap; gap = int(gap / 2))
			for (i = gap + 1; i <= count[flow]; i++) {
				value = rtt[flow, i]
				for (j = i; j > gap && rtt[flow, j - gap] > value; j -= gap) rtt[flow, j] = rtt[flow, j - gap]
				rtt[flow, j] = value
			}
	}
	END {
		print "| flow | to port | from, to (s) | packets | bytes sent | retransmissions | RTT samples | min / median / 95 % / max (ms) |"
		print "|---|---|---|---|---|---|---|---|"
		for (f = 0; f <= flows; f++) {
			sort(f)
			printf "| %d | %d | %.1f, %.1f | %d | %d | %d | %d | %.1f / %.1f / %.1f / %.1f |\n", f, port[f],
				first[f], last[f], packets[f], bytes[f], again[f], count[f],
				quantile(f, 0), quantile(f, 0.5), quantile(f, 0.95), quantile(f, 1)
		}
	}'
