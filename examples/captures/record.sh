#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Records NAME.pcap.gz again, requests or access-link: real Linux TCP, in a
# virtual machine whose clock is virtual, so that a seed gives one capture
# whatever the machine.
#
#   record.sh [-s SEED] [-o DIR] NAME [KEY=VALUE...]
#
# The capture and its provenance (NAME.txt) go to DIR, this directory
# unless told. KEY=VALUE changes a knob at the top of record/NAME/run,
# as in BULK=5000000. It takes about 40 s, one core and 1 GB; needs
# Debian 12 or 13 (amd64) with QEMU, but neither root nor KVM:
#
#   apt-get install --no-install-recommends qemu-system-x86
#
# The guest's packages are downloaded, not installed, and kept under
# ${XDG_CACHE_HOME:-~/.cache}/tcplearn.
set -euo pipefail
export LC_ALL=C

usage() { echo "usage: record.sh [-s SEED] [-o DIR] NAME [KEY=VALUE...]" >&2; exit 2; }
die() { echo "record: $*" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
lab=$(cd "$here/../../linux/lab" && pwd)
seed=7 out=$here
while getopts s:o: option; do
	case $option in
	s) seed=$OPTARG ;;
	o) out=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
name=${1:-}
[[ $name =~ ^[a-z-]+$ && -r $here/record/$name/run ]] || usage
shift
[[ $seed =~ ^[0-9]{1,9}$ ]] || usage

command -v qemu-system-x86_64 >/dev/null ||
	die "QEMU is missing: apt-get install --no-install-recommends qemu-system-x86"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tcplearn
image=$cache/guest
run=$cache/last-run  # stays when the run fails, for its console.log
mkdir -p "$cache" "$out"
exec 8>"$cache/lock"
flock -n 8 || die "another recording is running"
rm -rf "$run"

step=
finish() {
	if [ -n "$step" ]; then
		kill "$step" 2>/dev/null || true
		wait "$step" 2>/dev/null || true
	fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# In the background, so that a signal ends this script at once and, by finish,
# the step too.
do_step() {
	"$@" 8>&- &
	step=$!
	local code=0
	wait "$step" || code=$?
	step=
	[ "$code" = 0 ] || exit "$code"
}
do_step "$lab/image.sh" "$image"
do_step "$lab/vm.sh" "$image" "$here/record/$name" "$run" "SEED=$seed" "$@"

capture=$run/capture.pcap
if ! grep -q '^0 packets dropped by kernel' "$run/tcpdump.log"; then
	die "tcpdump lost packets: $(tail -n 1 "$run/tcpdump.log")"
fi
sum=$(sha256sum <"$capture" | cut -d ' ' -f 1)
gzip -n -9 "$capture"
mv "$capture.gz" "$out/$name.pcap.gz"
{
	echo "scenario: $name SEED=$seed $*"
	echo "sha256 of the pcap: $sum"
	grep ' captured$' "$run/tcpdump.log"
	cat "$run/network.txt"
	qemu-system-x86_64 --version | head -n 1
	cat "$image/versions"
} | sed 's/ *$//' >"$out/$name.txt"
rm -rf "$run"
echo "$out/$name.pcap.gz: $(stat -c %s "$out/$name.pcap.gz") bytes, $(sed -n 's/ captured$//p' "$out/$name.txt")"
