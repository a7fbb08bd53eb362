#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=dash
# Pages that curl fetches: pages.py.

# start_pages BYTES...: serves a page of each size as Debian's nginx does, with header and body in one segment
start_pages() {
	# shellcheck disable=SC2034  # start_nginx reads it
	nginx_more='tcp_nopush on;'
	start_nginx 1
	for size in "$@"; do
		head -c "$size" /dev/zero >"/tmp/www/$size"
	done
}

# The transfers of one algorithm, each from the next port; the scenario's script sets the variables pages_*.
pages_port=10000
send_pages() {
	in_ns c0 sysctl -qw net.ipv4.tcp_congestion_control="$3"
	# shellcheck disable=SC2086  # three words
	python3 /scenario/pages.py "${receiver:?}" c1 "$pages_port" "${pages_count:?}" "${pages_sizes:?}" ${pages_dropped:?} \
		/tmp/lost "${transfer_out:?}/pages"
	for size in $(echo "$pages_sizes" | tr , ' '); do
		pages_port=$((pages_port + pages_count))
	done
	sleep 1
}
