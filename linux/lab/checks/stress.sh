#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# Two hundred concurrent connections for a minute, which are opened, accepted, closed, reset and
# disconnected, and change their congestion control, estimator and loss classifier; then the module is
# unloaded and loaded again under traffic.
. /scenario/lib.sh
debug=/sys/kernel/debug/tcplearn
: "${STORM_CONNECTIONS:=200}" "${STORM_SECONDS:=60}" "${SEED:=1}"
kernel_modules veth sch_netem tcp_vegas
load
namespaces c0 c1
link c0 r0 10.0.0.1 c1 l0 10.0.0.2
qdisc c0 r0 root netem limit 10000 rate 200mbit delay 10ms 2ms loss 0.5%
qdisc c1 l0 root netem limit 10000 rate 200mbit delay 10ms
# at both ends, because accepted connections start in softirq
for ns in c0 c1; do
	in_ns $ns sysctl -qw net.ipv4.tcp_congestion_control=tl-cubic net.tcplearn.estimator=experts \
		net.tcplearn.log=1 net.ipv4.tcp_fin_timeout=5
done
in_ns c1 /scenario/transfer sink 5001 &
sink=$!
until in_ns c0 ping -q -c 1 -W 60 10.0.0.2 >/dev/null; do sleep 1; done
modules=tl-reno,tl-cubic,tl-vegas,reno,cubic,vegas
in_ns c0 /scenario/transfer storm 10.0.0.2 5001 "$STORM_CONNECTIONS" "$STORM_SECONDS" "$SEED" $modules >/out/storm &
storm=$!
(
	# every estimator and every classifier of losses gets connections, at both ends
	estimators=$(sysctl -n net.tcplearn.available_estimators)
	losses=$(sysctl -n net.tcplearn.available_losses)
	set --
	while :; do
		for e in $estimators; do
			# shellcheck disable=SC2086  # a word each
			[ $# -gt 0 ] || set -- $losses
			for ns in c0 c1; do
				in_ns $ns sysctl -qw net.tcplearn.estimator="$e" net.tcplearn.loss="$1"
			done
			shift
			sleep 0.7
		done
	done
) &
switch=$!
(
	# in use: must be refused
	sleep $((STORM_SECONDS / 2))
	rmmod tcplearn 2>/dev/null && echo "unloaded while in use" >>/out/wrong
	true
) &
most=0
while [ -d "/proc/$storm" ]; do
	now=$(in_ns c0 cat /proc/net/tcp | wc -l)
	[ "$now" -le "$most" ] || most=$now
	cat "$debug"/net-*/log* >/dev/null
	sleep 1
done
kill $switch || true
echo "most_connections $most" >>/out/storm
for ns in c0 c1; do in_ns $ns sysctl -qw net.ipv4.tcp_congestion_control=cubic; done
for pid in $(pidof transfer); do kill "$pid"; done
kill $sink 2>/dev/null || true
# wait up to three minutes for orphans, which may still retransmit
waited=0
while [ "$(in_ns c0 cat /proc/net/tcp | grep -vc -e local_address -e ' 06 ')" -gt 0 ] && [ $waited -lt 180 ]; do
	sleep 1
	waited=$((waited + 1))
done
in_ns c0 cat /proc/net/tcp >/out/left
in_ns c1 cat /proc/net/tcp >>/out/left
cat "$debug/counters" >/out/counters
grep -E '^tcplearn' /proc/slabinfo >/out/slabs 2>/dev/null || true

# unload and load twenty times under traffic of the bases
in_ns c1 /scenario/transfer sink 5002 &
(while :; do in_ns c0 /scenario/transfer send 10.0.0.2 5002 300000 cubic >/dev/null || true; done) &
(while :; do in_ns c0 /scenario/transfer send 10.0.0.2 5002 300000 vegas >/dev/null || true; done) &
i=0 refused=0
while [ $i -lt 20 ]; do
	(in_ns c0 /scenario/transfer send 10.0.0.2 5002 100000 tl-reno >/dev/null 2>&1 || true) &
	sleep 0.2
	until rmmod tcplearn 2>/dev/null; do
		refused=$((refused + 1))
		sleep 0.2
	done
	insmod /scenario/tcplearn.ko
	i=$((i + 1))
done
echo "reloads $i" >>/out/storm
echo "refused_in_use $refused" >>/out/storm
sysctl net.ipv4.tcp_available_congestion_control >>/out/storm.txt
rmmod tcplearn || { sleep 5; rmmod tcplearn; }
sysctl net.ipv4.tcp_available_congestion_control >>/out/storm.txt
finish
exit 0
