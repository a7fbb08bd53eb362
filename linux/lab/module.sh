#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds the module for the kernel of an image, and the lab's traffic programs.
# Headers are unpacked, not installed.
#
#   module.sh IMAGE_DIR OUT_DIR
#
# OUT_DIR gets tcplearn.ko, tcplearn_vectors.ko, transfer, syns, and for tests
# tcplearn_failing.ko, whose allocations fail on purpose. Needs gcc-12,
# make and libelf. The same sources give the same bytes in any folder.
set -euo pipefail
export LC_ALL=C
umask 022

die() { echo "module: $*" >&2; exit 1; }
[ $# = 2 ] || { echo "usage: module.sh IMAGE_DIR OUT_DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=linux/lab/packages.sh
. "$here/packages.sh"
# shellcheck source=linux/lab/later.sh
. "$here/later.sh"
mkdir -p "$2"
image=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
for program in gcc-12 make strip; do
	command -v "$program" >/dev/null || die "$program is missing: apt-get install gcc-12 make"
done
release=$(sed -n 's/^linux-image-\([^ ]*\) .*/\1/p' "$image/versions")
version=$(sed -n 's/^linux-image-[^ ]* //p' "$image/versions")
[ -n "$release" ] || die "no kernel in $image: run image.sh first"
common=linux-headers-${release%-cloud-amd64}-common

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

if is_later "$release"; then
	headers=
else
	headers=$image/headers-$release-$version
fi
if [ -n "$headers" ] && [ ! -d "$headers" ]; then
	mkdir -p "$image/packages"
	guest_apt "$image"
	# one for each release since 6.12, before that one for each line
	kbuild=linux-kbuild-${release%-cloud-amd64}
	apt-cache show "$kbuild=$version" >/dev/null 2>&1 || kbuild=linux-kbuild-$(cut -d . -f 1-2 <<<"$release")
	# the headers need this version or a later one; an archive may have only the later one for a day, as new
	# images are signed after the rest is there
	grep -qF " $version " <<<"$(apt-cache madison "$kbuild")" && kbuild=$kbuild=$version
	(cd "$image/packages" && timeout 600 apt-get download "linux-headers-$release=$version" "$common=$version" \
		"$kbuild") >"$image/apt-headers.log" 2>&1 ||
		die "apt-get download failed: $(grep -m 1 '^E:' "$image/apt-headers.log" || echo "no answer") (log: $image/apt-headers.log)"
	mkdir "$work/headers"
	tools=$(find "$image/packages" -name "${kbuild%%=*}_*.deb" | sort -V | tail -n 1)
	for package in "$image/packages/"linux-headers-*_"${version//:/%3a}"_*.deb "$tools"; do
		dpkg-deb -x "$package" "$work/headers" || die "cannot unpack $package"
	done
	# its Makefile names the common part where it would be installed
	echo "include $headers/usr/src/$common/Makefile" >"$work/headers/usr/src/linux-headers-$release/Makefile"
	mv "$work/headers" "$headers"
fi

cp -r "$root/linux/module" "$work/module"
mkdir -p "$work/module/include"
cp -r "$root/core/include/tcplearn" "$work/module/include/"
build() { # without BTF, which would need pahole
	local folder=$1
	shift
	if [ -z "$headers" ]; then
		later_build "$image" "$release" "$version" "$folder" "$@"
	else
		make -s -C "$folder" "KDIR=$headers/usr/src/linux-headers-$release" CONFIG_DEBUG_INFO_BTF_MODULES= "$@"
	fi
}
mkdir "$work/built"
# the module for tests is built in the same folder, so that only files with allocations are compiled again
{ build "$work/module" && mv "$work/module"/*.ko "$work/built/" &&
	build "$work/module" FAIL_ALLOC=y && mv "$work/module/tcplearn.ko" "$work/built/tcplearn_failing.ko"; } \
	>"$out/build.log" 2>&1 ||
	die "the module does not build: $(grep -m 1 -E 'error|Error' "$out/build.log" || tail -n 1 "$out/build.log") (log: $out/build.log)"
strip -g -R .note.gnu.build-id "$work/built"/*.ko
program() { # NAME SOURCE...
	gcc-12 -O2 -static -Wl,--build-id=none -o "$work/$1" "${@:2}" 2>"$out/$1.log" ||
		die "the traffic program $1 does not build (log: $out/$1.log)"
	strip "$work/$1"
}
traffic=()
for source in "$root/linux/lab/guest/"*.c; do
	[[ $source == */syns.c ]] || traffic+=("$source")
done
program transfer "${traffic[@]}"
program syns "$root/linux/lab/guest/syns.c"
mv "$work"/built/*.ko "$work/transfer" "$work/syns" "$out/"
