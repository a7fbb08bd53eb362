#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# Checks of the module's guarantees other than its timers (module.py).
. /scenario/lib.sh
ln -sf busybox /bin/sh
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null || true
mkdir -p /dev/net
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
kernel_modules veth sch_netem tcp_vegas tun
namespaces c0 c1
link c0 r0 10.0.0.1 c1 l0 10.0.0.2
qdisc c0 r0 root netem limit 10000 delay 15ms
qdisc c1 l0 root netem limit 10000 delay 15ms
until in_ns c0 ping -q -c 1 -W 60 10.0.0.2 >/dev/null; do sleep 1; done
python3 /scenario/module.py
finish
exit 0
