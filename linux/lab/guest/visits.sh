#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=dash
# Requests by real programs. `visits` is a variable of the scenario's script: COUNT A_MINUTE SEED ON

# visited BYTES FILE: prints the figures of `send` from a file of answers, whose lines are "US START_US".
visited() {
	awk -v bytes="$1" '{ us += $1 } END { print "bytes", bytes * NR; print "elapsed_us", us }' "$2"
}

# Requests of curl to nginx.
send_nginx_visits() {
	visits_bytes=$2
	in_ns c0 sysctl -qw net.ipv4.tcp_congestion_control="$3"
	# shellcheck disable=SC2086  # four words
	set -- ${visits:?}
	visits_close=
	[ "$4" = kept ] || visits_close='Connection: close'
	in_ns "${receiver:?}" timeout 36000 curl -sS --rate "$2/m" -H "$visits_close" -o /dev/null -w '%{time_total}\n' \
		"http://10.0.0.1:5002/file?[1-$1]" >/tmp/curl
	awk '{ printf "%d 0\n", $1 * 1000000 }' /tmp/curl >"${transfer_out:?}/requests"
	visited "$visits_bytes" "$transfer_out/requests"
	sleep 1
}

# Typed lines, which the receiver echoes: echo.py
start_echo() {
	in_ns "${receiver:?}" python3 /scenario/echo.py serve 5004 "$1" &
	sleep 1
}

send_echo_visits() {
	# shellcheck disable=SC2086  # four words
	in_ns c0 timeout 36000 python3 /scenario/echo.py type "$1" 5004 "$2" "$3" ${visits:?} >"${transfer_out:?}/requests"
	visited "$2" "$transfer_out/requests"
	sleep 1
}
