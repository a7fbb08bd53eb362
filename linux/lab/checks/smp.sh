#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# A test on several processors, in rounds until STORM_SECONDS are over. In each round connections are opened, switched,
# closed, aborted and disconnected, restored on new sockets (TCP_REPAIR), encrypted by the kernel (kTLS), put into a
# sockmap, and some are of Multipath TCP; estimators and settings are changed, logs are turned on and off while they are
# read, processors are stopped and started, namespaces are created and deleted with open connections, and unloading is
# tried repeatedly. Then all of this ends, nothing may remain, and the module is unloaded and loaded.
# Before the rounds, a resend policy is logged on all processors, so that its answers can be compared with the core's.
. /scenario/lib.sh
debug=/sys/kernel/debug/tcplearn
: "${STORM_CONNECTIONS:=150}" "${STORM_SECONDS:=40}" "${ROUND_SECONDS:=40}" "${SEED:=1}"
[ "$ROUND_SECONDS" -le "$STORM_SECONDS" ] || ROUND_SECONDS=$STORM_SECONDS
kernel_modules veth sch_netem tcp_vegas tls aesni_intel
mount -t debugfs debugfs /sys/kernel/debug
insmod /scenario/tcplearn.ko log_kb=1024
mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/storm
namespaces c0 c1
link c0 r0 10.0.0.1 c1 l0 10.0.0.2
qdisc c0 r0 root netem limit 10000 rate 20mbit delay 10ms 2ms loss 0.5%
qdisc c1 l0 root netem limit 10000 rate 20mbit delay 10ms
# a second path of Multipath TCP connections
ip -n c0 addr add 10.0.0.3/24 dev r0
ip -n c0 mptcp endpoint add 10.0.0.3 subflow
for ns in c0 c1; do ip -n $ns mptcp limits set subflows 2 add_addr_accepted 2; done
for ns in c0 c1; do in_ns $ns sysctl -qw net.ipv4.tcp_fin_timeout=5 net.ipv4.tcp_orphan_retries=3; done
until in_ns c0 ping -q -c 1 -W 60 10.0.0.2 >/dev/null; do sleep 1; done

references() { awk '$1 == "tcplearn" { print $3 }' /proc/modules; }
busy() { in_ns "$1" cat /proc/net/tcp | grep -vc -e local_address -e ' 06 ' || true; }
charged() { awk '$1 == "slab_unreclaimable" || $1 == "sock" { n += $2 } END { print n }' /sys/fs/cgroup/storm/memory.stat; }
free_kb() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo; }
wrong() { echo "round $round: $*" >>/out/wrong; }

switch_settings() {
	estimators=$(sysctl -n net.tcplearn.available_estimators)
	startups=$(sysctl -n net.tcplearn.available_startups)
	resends=$(sysctl -n net.tcplearn.available_resends)
	k=0
	while :; do
		for e in $estimators; do
			k=$((k + 1))
			# every other policy is one with a memory
			startup=$(echo "$startups" | cut -d ' ' -f $((k % 2 * 50 + k / 2 % 11 + 1)))
			resend=$(echo "$resends" | cut -d ' ' -f $((k / 3 % 8 + 1)))
			for ns in c0 c1; do
				in_ns $ns sysctl -qw net.tcplearn.estimator="$e" net.tcplearn.log=$((k % 3 > 0)) \
					net.tcplearn.resend="${resend:-priced/spaced}" net.tcplearn.resend_places=$((k / 4 % 3 > 0)) \
					net.tcplearn.set_srtt=$((k / 2 % 2)) net.tcplearn.measure=$((k / 5 % 2)) \
					net.tcplearn.startup="${startup:-tsl-feedback}" || true
			done
			sleep 0.3
		done
	done
}

# Namespaces that send over their loopback and are deleted, some with open connections.
passing_namespaces() {
	n=0
	while :; do
		n=$((n + 1))
		echo $n >/tmp/passed
		ip netns add "p$1"
		ip -n "p$1" link set lo up
		in_ns "p$1" sysctl -qw net.ipv4.tcp_congestion_control=tl-cubic net.tcplearn.estimator=tracking net.tcplearn.log=1 \
			net.tcplearn.startup=tsl-feedback net.tcplearn.resend=priced
		in_ns "p$1" /scenario/transfer sink 5001 &
		a=$!
		sleep 0.1
		in_ns "p$1" /scenario/transfer send 127.0.0.1 5001 100000000 tl-reno >/dev/null 2>&1 &
		b=$!
		sleep 0.5
		[ $((n % 2)) = 0 ] || ip netns del "p$1"
		kill $b $a 2>/dev/null || true
		wait $b $a || true
		[ $((n % 2)) = 1 ] || ip netns del "p$1"
	done
}

# Unloading must be refused while the storm uses the module.
unload_in_use() {
	while sleep 1; do
		[ "$(references)" -gt 0 ] || continue
		! rmmod tcplearn 2>/dev/null || wrong "unloaded while in use"
	done
}

# Stops and starts processors other than the first.
switch_processors() {
	n=0
	while :; do
		for cpu in 3 2 1; do
			file=/sys/devices/system/cpu/cpu$cpu/online
			[ -e $file ] || continue
			echo 0 >$file && n=$((n + 1))
			echo $n >/tmp/stopped
			sleep 0.7
			echo 1 >$file
			sleep 0.3
		done
	done
}

read_logs() { while sleep 0.2; do cat "$debug"/net-*/log* >/dev/null 2>&1 || true; done; }

# Writes the log of requests on 32 connections whose waits a resend policy decides, while processors stop and start.
resend_answers() {
	in_ns c0 sysctl -qw net.tcplearn.resend=priced/spaced net.tcplearn.log=1
	in_ns c0 tc qdisc change dev r0 root netem limit 10000 rate 20mbit delay 10ms 2ms loss 5%
	in_ns c1 /scenario/transfer answer 5003 500 0 &
	answers=$!
	switch_processors & switching=$!
	sleep 0.3
	asking=
	for k in 1 2 3 4; do
		in_ns c0 /scenario/transfer requests 10.0.0.2 5003 500 tl-cubic 300 20 $k many:8 /tmp/requests >/dev/null &
		asking="$asking $!"
	done
	# shellcheck disable=SC2086
	wait $asking || wrong "requests ended with $?"
	kill $switching $answers
	wait $switching $answers || true
	for file in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 1 >"$file" || true; done
	cat "$(logs_of c0)"/log* | base64 >/out/resends
	in_ns c0 sysctl -qw net.tcplearn.resend=none net.tcplearn.log=0
	in_ns c0 tc qdisc change dev r0 root netem limit 10000 rate 20mbit delay 10ms 2ms loss 0.5%
	awk '$1 == "log_drops" && $2 { exit 1 }' "$debug/counters" || wrong "records of the log were dropped"
	say "answers of a resend policy"
}

one_round() {
	for ns in c0 c1; do in_ns $ns sysctl -qw net.ipv4.tcp_congestion_control=tl-cubic; done
	in_ns c1 /scenario/transfer sink 5001 &
	sink=$!
	in_ns c1 /scenario/transfer sink 5002 mptcp &
	sink="$sink $!"
	sleep 0.3
	switch_processors & others=$!
	switch_settings & others="$others $!"
	passing_namespaces 1 & others="$others $!"
	passing_namespaces 2 & others="$others $!"
	read_logs & others="$others $!"
	(
		echo 0 >/sys/fs/cgroup/storm/cgroup.procs
		in_ns c0 /scenario/transfer storm 10.0.0.2 5001 "$STORM_CONNECTIONS" "$ROUND_SECONDS" "$((SEED + round))" \
			tl-reno,tl-cubic,tl-vegas,reno,cubic,vegas unusual >/tmp/storm
	) &
	storm=$!
	sleep 2
	unload_in_use & unloading=$!
	wait $storm || wrong "the storm ended with $?"
	# shellcheck disable=SC2086  # several
	kill $unloading $others || true
	for ns in c0 c1; do in_ns $ns sysctl -qw net.ipv4.tcp_congestion_control=cubic net.tcplearn.log=0; done
	for pid in $(pidof transfer); do kill "$pid" 2>/dev/null || true; done
	# shellcheck disable=SC2086
	wait $sink $unloading $others || true
	for file in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 1 >"$file" || true; done
	for ns in p1 p2; do ip netns del $ns 2>/dev/null || true; done
}

# Checks that nothing remains after a round; orphans may still retransmit for a minute or two.
all_ended() {
	waited=0
	while [ "$(references)" -gt 0 ] || [ "$(busy c0)" -gt 0 ] || [ "$(busy c1)" -gt 0 ]; do
		sleep 1
		waited=$((waited + 1))
		[ $waited -lt 240 ] || break
	done
	stuck=$(($(busy c0) + $(busy c1)))
	[ $stuck = 0 ] || wrong "$stuck connections are stuck"
	[ "$(references)" = 0 ] || wrong "$(references) references to the module are left"
	awk '{ v[$1] = $2 } END { exit v["connections"] != v["connections_ended"] }' "$debug/counters" ||
		wrong "$(grep connections "$debug/counters" | tr '\n' ' ')"
	sleep 2
	samples=$(awk '$1 == "samples" { print $2 }' "$debug/counters")
	echo "round $round: $(tr '\n' ' ' </tmp/storm)passed $(cat /tmp/passed) stopped $(cat /tmp/stopped) samples $samples charged $(charged)" \
		"free_kb $(free_kb)" >>/out/storm
	rmmod tcplearn || wrong "it cannot be unloaded"
	[ ! -e /sys/kernel/debug/tcplearn ] || wrong "the folder in debugfs stays"
	! grep -q '^tcplearn' /proc/slabinfo || wrong "slabs stay: $(grep '^tcplearn' /proc/slabinfo | head -n 1)"
	insmod /scenario/tcplearn.ko log_kb=1024
	dmesg | grep -E 'WARNING|BUG|Oops|Call Trace|INFO: task|=====' >/out/warnings || true
	[ ! -s /out/warnings ] || dmesg >/out/dmesg
}

round=0
resend_answers
began=$(cut -d . -f 1 /proc/uptime)
while :; do
	round=$((round + 1))
	one_round
	all_ended
	now=$(cut -d . -f 1 /proc/uptime)
	say "round $round"
	if [ -s /out/warnings ] || [ -s /out/wrong ] || [ $((now - began)) -ge "$STORM_SECONDS" ]; then break; fi
done
rmmod tcplearn
{
	echo "rounds $round"
	echo "seconds $((now - began))"
	echo "processors $(grep -c ^processor /proc/cpuinfo)"
	echo "command_line $(cat /proc/cmdline)"
	sysctl net.ipv4.tcp_available_congestion_control
} >>/out/storm
kept=$(cat /out/warnings)
finish
[ -z "$kept" ] || echo "$kept" >>/out/warnings
exit 0
