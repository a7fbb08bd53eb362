#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The functions that a lab scenario's generated script calls in the guest. The
# namespaces c0 (the sender), c1, ... form a chain: one at each end of a hop and one in its middle.
set -eu

# Busybox's shell prefers its own applets to programs in PATH.
ip() { /bin/ip "$@"; }
in_ns() { inside=$1; shift; ip netns exec "$inside" "$@"; }
say() { echo "$(cut -d ' ' -f 1 /proc/uptime) $*"; }
debug=/sys/kernel/debug/tcplearn

kernel_modules() { for module in "$@"; do modprobe "$module"; done; }

namespaces() {
	for ns in "$@"; do
		ip netns add "$ns"
		ip -n "$ns" link set lo up
		in_ns "$ns" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1 net.ipv4.tcp_no_metrics_save=1
	done
}

# link NS DEVICE ADDRESS NS DEVICE ADDRESS: a link without segmentation offload, so that netem's loss and rate
# act on packets.
link() {
	ip link add "$2" netns "$1" type veth peer name "$5" netns "$4"
	ip -n "$1" addr add "$3/24" dev "$2"
	ip -n "$4" addr add "$6/24" dev "$5"
	ip -n "$1" link set "$2" up gso_max_segs 1
	ip -n "$4" link set "$5" up gso_max_segs 1
}

route() { ip -n "$1" route add "$2" via "$3"; }
qdisc() { device_ns=$1; device=$2; shift 2; in_ns "$device_ns" tc qdisc add dev "$device" "$@"; }

load() {
	mount -t debugfs debugfs /sys/kernel/debug
	if ! insmod /scenario/tcplearn.ko log_kb=32768; then
		say "the kernel does not take the module: $(dmesg | tail -n 1)"
		exit 1
	fi
}

# logs_of NS: prints the folder of the module's log of a namespace, which exists while the log is on
logs_of() { echo "$debug/net-$(in_ns "$1" readlink /proc/self/ns/net | tr -dc 0-9)"; }

counters() { # NAME: writes the kernel's counters and the module's
	in_ns c0 cat /proc/net/snmp /proc/net/netstat >"$1.nstat"
	cat $debug/counters >"$1.module"
}

send() { in_ns c0 timeout 3600 /scenario/transfer send "$1" 5001 "$2" "$3"; }

# transfer NAME CONGESTION ESTIMATOR EARLY_RETRANS SET_SRTT ADDRESS BYTES [PROGRAM]: a transfer by `send`, or by
# PROGRAM, which is called with ADDRESS BYTES CONGESTION and prints the same (programs.sh). The estimator is set in
# the sender's namespace, or in the namespace `changed`.
transfer() {
	transfer_at=${changed:-c0}
	transfer_out=/out/$1
	mkdir -p "$transfer_out"
	in_ns c0 sysctl -qw net.ipv4.tcp_early_retrans="$4"
	in_ns "$transfer_at" sysctl -qw net.tcplearn.set_srtt="$5" net.tcplearn.log=1 net.tcplearn.measure=1
	[ "$3" = none ] || in_ns "$transfer_at" sysctl -qw net.tcplearn.estimator="$3"
	counters "/out/$1/before"
	"${8:-send}" "$6" "$7" "$2" >"/out/$1/info"
	counters "/out/$1/after"
	cat "$(logs_of "$transfer_at")"/log* >"/out/$1/log"
	say "$1"
}

# startup POLICY: sets the policy for new connections of the sender, and forgets its places
startup() { in_ns c0 sysctl -qw net.tcplearn.startup="$1"; }

# capture NAME NS DEVICE: captures until `finish`
captures=
capture() {
	mkdir -p /out/pcap
	/bin/ip netns exec "$2" tcpdump -i "$3" -n -s 96 -Z root -w "/out/pcap/$1.pcap" 2>"/out/pcap/$1.txt" &
	captures="$captures $!"
}

# capture_data NAME NS DEVICE: captures the headers of the transfers' data packets only
capture_data() {
	mkdir -p /out/pcap
	/bin/ip netns exec "$2" tcpdump -i "$3" -n -s 66 -Z root -w "/out/pcap/$1.pcap" \
		"tcp dst port 5001 and greater 100" 2>"/out/pcap/$1.txt" &
	captures="$captures $!"
}

# capture_port NAME NS DEVICE PORT: captures the headers of connections to one port, without pings, which go to port 80
capture_port() {
	mkdir -p /out/pcap
	/bin/ip netns exec "$2" tcpdump -i "$3" -n -s 96 -Z root -w "/out/pcap/$1.pcap" "tcp port $4 and not port 80" 2>"/out/pcap/$1.txt" &
	captures="$captures $!"
}

# From now to the end: each retransmission of a socket, and the functions of the kernel that sent it.
tracing=/sys/kernel/tracing
trace_resends() {
	mount -t tracefs tracefs $tracing
	echo 65536 >$tracing/buffer_size_kb
	echo mono >$tracing/trace_clock
	in_ns c0 /scenario/transfer clocks >/out/clocks
	echo stacktrace >$tracing/events/tcp/tcp_retransmit_skb/trigger
	echo 1 >$tracing/events/tcp/tcp_retransmit_skb/enable
}

finish() {
	if [ -d $tracing/events ]; then
		grep -E 'tcp_retransmit_skb:|=> tcp_' $tracing/trace >/out/resends || true
	fi
	for of in $captures; do
		kill "$of"
		wait "$of" || true
	done
	uname -r >/out/kernel
	dmesg | grep -E 'WARNING|BUG|Oops|Call Trace' >/out/warnings || true
}

# Each workload has its own file with the functions start_NAME and send_NAME, which scripts call.
for load in /scenario/*.sh; do
	# shellcheck disable=SC1090
	[ "$load" = /scenario/lib.sh ] || . "$load"
done
