#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Requests and answers: requests.c. `requests` is a variable of the scenario's script: COUNT THINK_MS SEED KIND
send_requests() {
	# shellcheck disable=SC2086  # three words
	in_ns c0 timeout 36000 /scenario/transfer requests "$1" 5002 "$2" "$3" ${requests:?} "${transfer_out:?}/requests"
}
