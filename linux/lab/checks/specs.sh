#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash source=/dev/null
# What the module says of specs that are written to its settings (specs.py).
. /scenario/lib.sh
insmod /scenario/tcplearn.ko
python3 /scenario/specs.py </scenario/specs >/out/specs
finish
exit 0
