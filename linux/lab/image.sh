#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Makes a bootable guest from Debian packages, without installing them and
# without root: DIR/vmlinuz, DIR/guest.cpio, DIR/busybox, DIR/versions.
#
#   image.sh DIR [MODULE...]
#
# TCPLEARN_KERNEL selects the kernel: empty for Debian's default, 6.12 for another
# version in Debian, 7.3 for one of the next Debian (later.sh), or the name of a
# package linux-image-*. The image has the given modules and their dependencies. The
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

# shellcheck source=linux/lab/packages.sh
. "$here/packages.sh"
# shellcheck source=linux/lab/later.sh
. "$here/later.sh"
machine_debian >/dev/null

exec 9>"$dir/lock"
flock 9

# The metapackage depends on the current kernel package.
kernel=${TCPLEARN_KERNEL:-}
parts=()
guest_apt "$dir" fresh
if is_later "$kernel"; then
	release_apt "$dir" "$LATER_DEBIAN" fresh
	release=$(later_release "$kernel")
	[ -n "$release" ] || die "the next Debian has no kernel $kernel (any more)"
	kernel=linux-image-$release parts=("linux-base-$release" "linux-binary-$release" "linux-modules-$release")
elif [[ $kernel != linux-image-* ]]; then
	metapackage=linux-image-${kernel:+$kernel-}cloud-amd64
	kernel=$(apt-cache depends "$metapackage" 2>/dev/null |
		sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	[ -n "$kernel" ] || die "apt knows no package $metapackage: run apt-get update"
fi
release=${kernel#linux-image-}

programs=(tc ip ss tcpdump socat)
packages=(busybox-static iproute2 tcpdump socat libc6
	# what iproute2, tcpdump and socat load; a missing one is reported below
	libbpf1 libbsd0 libcap2 libdb5.3 libdbus-1-3 libelf1 libgcrypt20
	libgpg-error0 liblz4-1 liblzma5 libmd0 libmnl0 libnsl2 libpcap0.8
	libpcre2-8-0 libselinux1 libssl3 libsystemd0 libtirpc3 libwrap0
	libxtables12 libzstd1 zlib1g libcom-err2 libgssapi-krb5-2 libk5crypto3
	libkeyutils1 libkrb5-3 libkrb5support0)

work=$(mktemp -d "$dir/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

root=$work/root
unpack "$dir" "$root" "$work/versions" "$kernel" "${parts[@]}"
guest_apt "$dir"
unpack "$dir" "$root" "$work/versions-2" "${packages[@]}"
cat "$work/versions-2" >>"$work/versions"
# if the kernel is of the next Debian
if [ ${#parts[@]} -gt 0 ]; then
	mkdir -p "$root/lib/modules" "$root/boot"
	mv "$root/usr/lib/modules/$release" "$root/lib/modules/"
	mv "$root/lib/modules/$release/vmlinuz" "$root/boot/vmlinuz-$release"
fi

guest=$work/guest
mkdir -p "$guest"/{bin,dev,etc,lib64,out,proc,run,scenario,sys,tmp,usr/lib,lib/modules/"$release"}
busybox=$root/bin/busybox
cp "$busybox" "$guest/bin/busybox"
cp "$here/guest-init" "$guest/init"
chmod 755 "$guest/init"
echo root:x:0:0:root:/:/bin/sh >"$guest/etc/passwd"  # tcpdump looks its user up
echo root:x:0: >"$guest/etc/group"

cp -L "$root/$LOADER" "$guest/lib64/"
for program in "${programs[@]}"; do
	take "$root" "$guest" "$program"
done
cp -r "$root/usr/lib/x86_64-linux-gnu/tc" "$guest/usr/lib/tc"  # netem's distributions

# The modules and their dependencies, with a separate index for modprobe.
modules_from=$root/lib/modules/$release modules_to=$guest/lib/modules/$release
# busybox's tools cannot read compressed modules, which later kernels have
if [ -n "$(find "$modules_from" -name '*.ko.xz' -print -quit)" ]; then
	command -v xz >/dev/null || die "xz is missing: apt-get install xz-utils"
fi
find "$modules_from" -name '*.ko.xz' -exec xz -d {} +
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

archive "$guest" "$busybox" >"$work/guest.cpio"
cp "$busybox" "$work/busybox"
cp "$root/boot/vmlinuz-$release" "$work/vmlinuz"
mv "$work/busybox" "$work/vmlinuz" "$work/guest.cpio" "$work/versions" "$dir/"
