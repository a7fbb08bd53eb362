#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=dash
# Learned floors by the program of `tcplearn live`, for what the scenario's script starts meanwhile.

live_ready() {
	mkdir -p /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mount -t bpf bpf /sys/fs/bpf
	mkdir /sys/fs/cgroup/live
}

# live_on SETTING: loads the program, with /scenario/SETTING.settings, and enters its cgroup
live_on() {
	bpftool prog load /scenario/live.o /sys/fs/bpf/live type sockops pinmaps /sys/fs/bpf/live-maps
	# shellcheck disable=SC2046  # a word a byte
	bpftool map update pinned /sys/fs/bpf/live-maps/settings key 0 0 0 0 value $(cat "/scenario/$1.settings")
	bpftool cgroup attach /sys/fs/cgroup/live sock_ops pinned /sys/fs/bpf/live
	echo $$ >/sys/fs/cgroup/live/cgroup.procs
}

# live_off FOLDER: leaves the cgroup, and stores in FOLDER what the program has counted
live_off() {
	echo $$ >/sys/fs/cgroup/cgroup.procs
	bpftool cgroup detach /sys/fs/cgroup/live sock_ops pinned /sys/fs/bpf/live
	bpftool -j map dump pinned /sys/fs/bpf/live-maps/counts >"$1/live-counts"
	rm -r /sys/fs/bpf/live /sys/fs/bpf/live-maps
}
