#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# The core's golden vectors, replayed in the kernel.
. /scenario/lib.sh
mount -t debugfs debugfs /sys/kernel/debug
insmod /scenario/tcplearn_vectors.ko
cat /scenario/vectors >/sys/kernel/debug/tcplearn_vectors
cat /sys/kernel/debug/tcplearn_vectors >/out/vectors
rmmod tcplearn_vectors
finish
exit 0
