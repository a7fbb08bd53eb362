#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# The initial windows of connections after a lost SYN or SYN-ACK (startup.py): c0 and c2 over c1, which drops packets.
. /scenario/lib.sh
ln -sf busybox /bin/sh
mount -t debugfs debugfs /sys/kernel/debug
kernel_modules veth sch_netem tcp_vegas nf_tables nft_limit
namespaces c0 c1 c2
link c0 r0 10.0.0.1 c1 l0 10.0.0.2
link c1 r1 10.0.1.1 c2 l1 10.0.1.2
route c0 default 10.0.0.2
route c2 default 10.0.1.1
qdisc c1 r1 root netem limit 10000 delay 15ms
qdisc c1 l0 root netem limit 10000 delay 15ms
until in_ns c0 ping -q -c 1 -W 60 10.0.1.2 >/dev/null; do sleep 1; done
python3 /scenario/startup.py
finish
exit 0
