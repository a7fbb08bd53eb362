#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What a lab scenario's generated script calls, in the guest. Namespaces c0 (the
# sender), c1, ... stand in a row, one for each link's end and one in its middle.
set -eu

# Busybox's shell prefers its own applets to what PATH has.
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

# link NS DEVICE ADDRESS NS DEVICE ADDRESS: packets, not super-packets, or netem's
# loss and rate would act on those.
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

# Where the module's log of a namespace is, while it is on.
logs_of() { echo "$debug/net-$(in_ns "$1" readlink /proc/self/ns/net | tr -dc 0-9)"; }

counters() { # nstat's source, the module's own, and the queues
	in_ns c0 cat /proc/net/snmp /proc/net/netstat >"$1.nstat"
	cat $debug/counters >"$1.module"
}

send() { in_ns c0 timeout 3600 /scenario/transfer send "$1" 5001 "$2" "$3"; }

# transfer NAME CONGESTION ESTIMATOR EARLY_RETRANS SET_SRTT ADDRESS BYTES [PROGRAM]: by send, or by another of
# its kind, called with ADDRESS BYTES CONGESTION and printing the same (programs.sh). The estimator is in the
# kernel of the sender, or of the namespace `changed`.
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

# startup POLICY: of connections of the sender from now on; what was known of places is forgotten
startup() { in_ns c0 sysctl -qw net.tcplearn.startup="$1"; }

# capture NAME NS DEVICE: from now to the end
captures=
capture() {
	mkdir -p /out/pcap
	/bin/ip netns exec "$2" tcpdump -i "$3" -n -s 96 -Z root -w "/out/pcap/$1.pcap" 2>"/out/pcap/$1.txt" &
	captures="$captures $!"
}

# capture_data NAME NS DEVICE: the same of the transfers' data alone, headers only
capture_data() {
	mkdir -p /out/pcap
	/bin/ip netns exec "$2" tcpdump -i "$3" -n -s 66 -Z root -w "/out/pcap/$1.pcap" \
		"tcp dst port 5001 and greater 100" 2>"/out/pcap/$1.txt" &
	captures="$captures $!"
}

# capture_port NAME NS DEVICE PORT: of connections to one port, headers only; pings come from any, and go to 80
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

# Each load has a file of its own, with the functions that scripts call: start_NAME, send_NAME.
for load in /scenario/*.sh; do
	# shellcheck disable=SC1090
	[ "$load" = /scenario/lib.sh ] || . "$load"
done
