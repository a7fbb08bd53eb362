#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# Packet scripts (packet_*.py): Python is the peer and sends single packets over TUN (wire.py).
. /scenario/lib.sh
ln -sf busybox /bin/sh
mkdir -p /dev/net
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
kernel_modules tcp_vegas tun sch_tbf
load
python3 /scenario/packets.py
finish
exit 0
