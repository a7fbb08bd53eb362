#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# The kernel's answers to specs (specs.py).
. /scenario/lib.sh
mount -t debugfs debugfs /sys/kernel/debug
insmod /scenario/tcplearn.ko
insmod /scenario/tcplearn_vectors.ko
python3 /scenario/specs.py </scenario/specs >/out/specs
finish
exit 0
