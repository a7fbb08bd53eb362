#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Makes a bootable guest from Debian packages, without installing them and
# without root: DIR/vmlinuz, DIR/guest.cpio, DIR/busybox, DIR/versions.
#
#   image.sh DIR [MODULE...]
#
# The modules (with what they depend on) come on top of the ones below. The
# guest runs guest-init as process 1; vm.sh adds the scenario at each boot.
# The same packages give the same bytes: names are sorted, times and inode
# numbers are fixed.
set -euo pipefail
export LC_ALL=C
umask 022

die() { echo "image: $*" >&2; exit 1; }
[ $# -ge 1 ] || { echo "usage: image.sh DIR [MODULE...]" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
shift
modules=(veth sch_netem "$@")

# The packages' names are those of Debian 12, and the guest is amd64.
# shellcheck source=/dev/null
system=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-} $(dpkg --print-architecture)") || true
[ "$system" = "debian 12 amd64" ] || die "this needs Debian 12 on amd64, not ${system:-this}"

exec 9>"$dir/lock"
flock 9

# The metapackage names the kernel of the day; TCPLEARN_KERNEL another one.
kernel=${TCPLEARN_KERNEL:-$(apt-cache depends linux-image-cloud-amd64 2>/dev/null |
	sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)}
[ -n "$kernel" ] || die "apt knows no package linux-image-cloud-amd64: run apt-get update"
release=${kernel#linux-image-}

programs=(tc ip ss tcpdump socat)
packages=("$kernel" busybox-static iproute2 tcpdump socat libc6
	# what iproute2, tcpdump and socat load; a missing one is reported below
	libbpf1 libbsd0 libcap2 libdb5.3 libdbus-1-3 libelf1 libgcrypt20
	libgpg-error0 liblz4-1 liblzma5 libmd0 libmnl0 libnsl2 libpcap0.8
	libpcre2-8-0 libselinux1 libssl3 libsystemd0 libtirpc3 libwrap0
	libxtables12 libzstd1 zlib1g libcom-err2 libgssapi-krb5-2 libk5crypto3
	libkeyutils1 libkrb5-3 libkrb5support0)

work=$(mktemp -d "$dir/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

mkdir -p "$dir/packages"
(cd "$dir/packages" && timeout 600 apt-get download "${packages[@]}") >"$dir/apt.log" 2>&1 ||
	die "apt-get download failed: $(grep -m 1 '^E:' "$dir/apt.log" || echo "no answer") (log: $dir/apt.log)"

root=$work/root
mkdir -p "$root"
while read -r package version arch; do
	# apt-get writes the colon of an epoch as %3a in a file's name.
	dpkg-deb -x "$dir/packages/${package}_${version//:/%3a}_$arch.deb" "$root" ||
		die "cannot unpack $package $version"
	echo "$package $version"
done < <(apt-cache --no-all-versions show "${packages[@]}" |
	awk '/^Package:/ { p = $2 } /^Version:/ { v = $2 } /^Architecture:/ { a = $2 }
		/^$/ { print p, v, a }') >"$work/versions"
[ "$(wc -l <"$work/versions")" = "${#packages[@]}" ] || die "apt-cache does not know every package"

guest=$work/guest
mkdir -p "$guest"/{bin,dev,etc,lib64,out,proc,run,scenario,sys,tmp,usr/lib,lib/modules/"$release"}
busybox=$root/bin/busybox
cp "$busybox" "$guest/bin/busybox"
cp "$here/guest-init" "$guest/init"
chmod 755 "$guest/init"
echo root:x:0:0:root:/:/bin/sh >"$guest/etc/passwd"  # tcpdump looks its user up
echo root:x:0: >"$guest/etc/group"

# Programs and the libraries they load, found by the guest's own loader.
loader=$root/lib64/ld-linux-x86-64.so.2
libraries=$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu
cp -L "$loader" "$guest/lib64/"
for program in "${programs[@]}"; do
	file=$(find "$root" -path "*bin/$program" -type f | head -n 1)
	[ -n "$file" ] || die "no package brings $program"
	cp "$file" "$guest/bin/"
	"$loader" --library-path "$libraries" --list "$file" >"$work/list" ||
		die "no package brings a library of $program"
	while read -r library; do
		case $library in
		"$root"/*) cp -L "$library" "$guest/usr/lib/" ;;
		*) die "$program would load $library from this machine: name its package here" ;;
		esac
	done < <(awk '$2 == "=>" && $1 !~ /ld-linux/ { print $3 }' "$work/list")
done
cp -r "$root/usr/lib/x86_64-linux-gnu/tc" "$guest/usr/lib/tc"  # netem's distributions

# The modules and what they depend on, with their own index for modprobe.
modules_from=$root/lib/modules/$release modules_to=$guest/lib/modules/$release
"$busybox" depmod -b "$root" "$release" || die "depmod failed"
cp "$modules_from/modules.builtin" "$modules_to/"
for module in "${modules[@]}"; do
	file_name=${module//_/[_-]}\.ko
	if ! line=$(grep -E "/$file_name:" "$modules_from/modules.dep"); then
		grep -qE "/$file_name$" "$modules_from/modules.builtin" ||
			die "the kernel $release has no module $module"
		continue
	fi
	read -ra files <<<"${line/:/}"
	(cd "$modules_from" && cp --parents "${files[@]}" "$modules_to/")
done
"$busybox" depmod -b "$guest" "$release"

find "$guest" -exec touch -hd @0 {} +
(cd "$guest" && find . | sort | "$busybox" cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno) \
	>"$work/guest.cpio" 2>/dev/null || die "cpio failed"
cp "$busybox" "$work/busybox"
cp "$root/boot/vmlinuz-$release" "$work/vmlinuz"
mv "$work/busybox" "$work/vmlinuz" "$work/guest.cpio" "$work/versions" "$dir/"
