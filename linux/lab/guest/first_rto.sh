#!/bin/busybox sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=dash
# First RTOs by the sock_ops program, in cgroups: first_rto.py.

# in_cgroup NAME NS COMMAND: enters the cgroup before the namespace, which has another /sys
in_cgroup() {
	busybox sh -c 'echo $$ >"/sys/fs/cgroup/$1/cgroup.procs"; shift; exec /bin/ip netns exec "$@"' - "$@"
}

# first_rto_load NAME: loads the sock_ops program with /scenario/NAME.settings for the cgroup NAME
first_rto_load() {
	bpftool prog load /scenario/first_rto.o "/sys/fs/bpf/$1" type sockops pinmaps "/sys/fs/bpf/maps-$1"
	# shellcheck disable=SC2046  # a word a byte
	bpftool map update pinned "/sys/fs/bpf/maps-$1/settings" key 0 0 0 0 value $(cat "/scenario/$1.settings")
	bpftool cgroup attach "/sys/fs/cgroup/$1" sock_ops pinned "/sys/fs/bpf/$1"
}

# capture_handshakes NAME NS DEVICE: captures SYNs and SYN-ACKs
capture_handshakes() {
	mkdir -p /out/pcap
	/bin/ip netns exec "$2" tcpdump -i "$3" -n -s 96 -Z root -w "/out/pcap/$1.pcap" \
		"tcp[13] & 2 != 0" 2>"/out/pcap/$1.txt" &
	captures="$captures $!"
}
