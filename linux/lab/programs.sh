#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Makes the guest's second archive, with real programs: Python and its standard
# library, curl, nginx, iperf3, nft and bpftool (tcpdump is in the first). vm.sh adds
# it to that of image.sh if VM_PROGRAMS names it.
#
#   programs.sh IMAGE_DIR DIR
#
# DIR gets programs.cpio and versions. It is no virtual disk, because runs with one are
# not repeatable (guest-init says why).
set -euo pipefail
export LC_ALL=C
umask 022

die() { echo "programs: $*" >&2; exit 1; }
[ $# = 2 ] || { echo "usage: programs.sh IMAGE_DIR DIR" >&2; exit 2; }
mkdir -p "$2"
image=$(cd "$1" && pwd) dir=$(cd "$2" && pwd) here=$(cd "$(dirname "$0")" && pwd)
[ -r "$image/busybox" ] || die "no guest in $image: run image.sh first"
# shellcheck source=linux/lab/packages.sh
. "$here/packages.sh"
guest_apt "$image" fresh

packages=(libc6 zlib1g
	libpython3.11-minimal libpython3.11-stdlib python3.11-minimal libexpat1 libssl3 libffi8 libbz2-1.0 liblzma5 libuuid1
	iperf3 libiperf0 libsctp1 nginx libcrypt1 libpcre2-8-0
	curl libcurl4 libbrotli1 libcom-err2 libgmp10 libgnutls30 libgssapi-krb5-2 libhogweed6 libidn2-0 libk5crypto3
	libkeyutils1 libkrb5-3 libkrb5support0 libldap-2.5-0 libnettle8 libnghttp2-14 libp11-kit0 libpsl5 librtmp1
	libsasl2-2 libssh2-1 libtasn1-6 libunistring2 libzstd1
	nftables libnftables1 libnftnl11 libmnl0 libjansson4 libedit2 libbsd0 libmd0 libtinfo6 libxtables12
	bpftool libelf1 libcap2)

work=$(mktemp -d "$dir/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
root=$work/root guest=$work/guest
unpack "$dir" "$root" "$work/versions" "${packages[@]}"

mkdir -p "$guest"/{bin,usr/lib}
for program in python3.11 curl nginx iperf3 nft bpftool; do
	take "$root" "$guest" "$program"
done
ln -s python3.11 "$guest/bin/python3"

# The standard library, without modules that no scenario needs, and compiled: the guest would compile it at each start.
cp -r "$root/usr/lib/python3.11" "$guest/usr/lib/"
library=$guest/usr/lib/python3.11
rm -rf "$library"/{ensurepip,idlelib,lib2to3,pydoc_data,test,tkinter,turtledemo,unittest,distutils,config-3.11-*}
find "$library" -name __pycache__ -prune -exec rm -rf {} +
PYTHONHOME=$root/usr "$root/$LOADER" --library-path "$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu" \
	"$root/usr/bin/python3.11" -m compileall -q -b --invalidation-mode unchecked-hash -s "$guest" -p / "$library" ||
	die "Python's standard library does not compile"
find "$library" -name '*.py' -delete
for extension in "$library"/lib-dynload/*.so; do
	# terminals and databases: their libraries stay away, and they with them
	if libraries "$root" "$extension" | grep -v "^$root/" >/dev/null; then
		rm "$extension"
	else
		take_libraries "$root" "$guest" "$extension"
	fi
done

# libraries that the first archive has
mkdir "$work/first"
(cd "$work/first" && "$image/busybox" cpio -i -d "usr/lib/*" <"$image/guest.cpio") 2>/dev/null || die "cpio failed"
for library in "$guest"/usr/lib/*.so*; do
	! cmp -s "$library" "$work/first/usr/lib/${library##*/}" || rm "$library"
done

archive "$guest" "$image/busybox" >"$work/programs.cpio"
mv "$work/programs.cpio" "$work/versions" "$dir/"
