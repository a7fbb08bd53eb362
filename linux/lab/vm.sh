#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs a scenario in the guest that image.sh made, in virtual time.
#
#   vm.sh IMAGE_DIR SCENARIO_DIR OUT_DIR [KEY=VALUE...]
#
# The guest runs SCENARIO_DIR/run with the KEY=VALUE pairs in its environment
# (kernel command line). The files of its /out are copied to OUT_DIR, with the
# console's log. SEED=N is also the seed of all random numbers of the guest's
# kernel. VM_TIME_LIMIT (real seconds, 900) ends a run that hangs. VM_APPEND is
# added to the kernel's command line. VM_PROCESSORS=N gives the guest N processors
# without virtual time: such a run is not repeatable and measures nothing.
# VM_ACCEL=kvm makes it fast if /dev/kvm works (nested in another virtual machine
# it may be slower).
set -euo pipefail
export LC_ALL=C
umask 022

die() { echo "vm: $*" >&2; exit 1; }
[ $# -ge 3 ] || { echo "usage: vm.sh IMAGE_DIR SCENARIO_DIR OUT_DIR [KEY=VALUE...]" >&2; exit 2; }
image=$1 scenario=$2 out=$3
shift 3
seed=1
for pair in "$@"; do
	[[ $pair =~ ^[A-Z][A-Z0-9_]*=[A-Za-z0-9._,:/%-]*$ ]] || { echo "vm: not KEY=VALUE: $pair" >&2; exit 2; }
	[[ $pair != SEED=* ]] || seed=${pair#SEED=}
done
limit=${VM_TIME_LIMIT:-900}

command -v qemu-system-x86_64 >/dev/null ||
	die "QEMU is missing: apt-get install --no-install-recommends qemu-system-x86"
[ -r "$image/guest.cpio" ] || die "no guest in $image: run image.sh first"
[ -r "$scenario/run" ] || die "no scenario: $scenario/run"

work=$(mktemp -d) vm=
finish() {
	# timeout and QEMU are in one process group
	if [ -n "$vm" ]; then
		kill -KILL -- "-$vm" 2>/dev/null || true
		wait "$vm" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# The kernel unpacks concatenated archives one after the other. The archiver is
# the guest's own: one thing less to install.
cp -rL "$scenario" "$work/scenario"
find "$work/scenario" -exec touch -hd @0 {} + -exec chmod 755 {} +
busybox=$image/busybox
(cd "$work" && find scenario | sort | "$busybox" cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno) \
	>"$work/scenario.cpio" 2>/dev/null || die "cpio failed"
cat "$image/guest.cpio" ${VM_PROGRAMS:+"$VM_PROGRAMS"} "$work/scenario.cpio" >"$work/initrd"

record=,rr=record,rrfile=/dev/null
[ "${VM_CONSOLE:-}" != stdio ] || record=
memory_mb=512
[ -z "${VM_PROGRAMS:-}" ] || memory_mb=1024
# icount: the guest's clock counts its instructions (2 ns each) and jumps while
# it sleeps, so the host's speed and load do not affect the result, as long as the
# guest waits for nothing of the host: no disk, no network card, no pipe (the
# serial ports write to files).
# Recording (to nowhere) is needed for its lock only. QEMU advances the clock in its
# main thread when the guest has halted; without that lock it may do so before the
# guest's thread has counted its last instructions, and on a busy machine the
# clock then jumped too far in some runs.
# shellcheck disable=SC2054  # the commas are QEMU's
machine=(-accel tcg -icount "shift=1,sleep=off$record")
# shellcheck disable=SC2054
[ -z "${VM_PROCESSORS:-}" ] || machine=(-accel "${VM_ACCEL:-tcg,thread=multi}" -smp "$VM_PROCESSORS")
# shellcheck disable=SC2054
qemu=(qemu-system-x86_64
	"${machine[@]}" -cpu max -M pc -m "$memory_mb" -seed "$seed"
	-rtc base=2026-01-01,clock=vm -nodefaults -display none -no-reboot -net none
	-kernel "$image/vmlinuz" -initrd "$work/initrd"
	-append "console=ttyS0 panic=-1 quiet nokaslr nolapic_timer cryptomgr.notests edd=off ${VM_APPEND:-} $*")
if [ "${VM_CONSOLE:-}" = stdio ]; then # for a person: no result, no time limit
	"${qemu[@]}" -chardev stdio,id=tty,signal=off -serial chardev:tty -serial null
	exit
fi
# Each process ends with its parent, even if that is killed.
setpriv --pdeathsig KILL setsid timeout -k 5 "$limit" setpriv --pdeathsig KILL "${qemu[@]}" \
	-serial "file:$work/console.log" -serial "file:$work/out.tar.gz" \
	</dev/null >"$work/qemu.log" 2>&1 &
vm=$!
code=0
wait "$vm" || code=$?
vm=

mkdir -p "$out"
tr -d '\r' <"$work/console.log" >"$out/console.log" || true
case $code in 124 | 137) die "the guest ran longer than $limit s (log: $out/console.log)" ;; esac
[ "$code" = 0 ] || die "QEMU failed: $(head -n 1 "$work/qemu.log")"
tar -xzf "$work/out.tar.gz" -C "$out" 2>/dev/null || die "the guest returned no output (log: $out/console.log)"
status=$(cat "$out/status")
rm -f "$out/status"
[ "$status" = 0 ] || die "the scenario failed: $(grep -v '^\[' "$out/console.log" | tail -n 1) (log: $out/console.log)"
