#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Bursts on one connection: bursts.c. `bursts` is a variable of the scenario's script: COUNT EVERY_MS PAUSE_MS,...
send_bursts() {
	# shellcheck disable=SC2086  # three words
	in_ns c0 timeout 3600 /scenario/transfer bursts "$1" 5001 "$2" "$3" ${bursts:?}
}
