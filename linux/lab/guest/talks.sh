#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Requests and answers of any sizes: talk.py. `talks` is a variable of the scenario's script: JSON.
start_talks() {
	in_ns "${receiver:?}" python3 /scenario/talk.py answer 5002 "${talks:?}" &
	sleep 1
}

send_talks() {
	in_ns c0 sysctl -qw net.ipv4.tcp_congestion_control="$3"
	in_ns c0 timeout 36000 python3 /scenario/talk.py ask "$1" 5002 "${talks:?}" "${talks_seed:?}"
	sleep 1
}
