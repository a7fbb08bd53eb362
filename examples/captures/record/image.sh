#!/usr/bin/env bash
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

die() { echo "image: $*" >&2; exit 1; }
[ $# -ge 1 ] || { echo "usage: image.sh DIR [MODULE...]" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
shift
modules=(veth sch_netem sch_tbf sch_fq sch_fq_codel tcp_bbr virtio_pci virtio_blk "$@")

for tool in apt-get apt-cache dpkg-deb; do
	command -v "$tool" >/dev/null || die "$tool is missing: this needs Debian 12"
done

# The metapackage names the kernel of the day.
kernel=${TCPLEARN_KERNEL:-$(apt-cache depends linux-image-cloud-amd64 2>/dev/null |
	sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)}
[ -n "$kernel" ] || die "no package linux-image-cloud-amd64: run apt-get update, or use amd64 Debian 12"
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
(cd "$dir/packages" && apt-get download "${packages[@]}") >"$dir/apt.log" 2>&1 ||
	die "apt-get download failed: $(grep '^E:' "$dir/apt.log" | head -n 1) (log: $dir/apt.log)"

root=$work/root
mkdir -p "$root"
: >"$work/versions"
for package in "${packages[@]}"; do
	# The newest file, should an older version lie in the cache.
	deb=$(find "$dir/packages" -name "${package}_*.deb" -printf '%f\n' | sort -V | tail -n 1)
	dpkg-deb -x "$dir/packages/$deb" "$root" || die "cannot unpack $deb"
	# shellcheck disable=SC2016  # the fields are dpkg-deb's
	dpkg-deb -W --showformat '${Package} ${Version}\n' "$dir/packages/$deb" >>"$work/versions"
done

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

# Modules, in an order insmod can take them: what they depend on comes first.
"$busybox" depmod -b "$root" "$release" || die "depmod failed"
declare -A taken=()
while read -r file; do
	path=$root/lib/modules/$release/$file
	[ -n "${taken[$file]:-}" ] && continue
	taken[$file]=1
	mkdir -p "$(dirname "$guest/lib/modules/$release/$file")"
	cp "$path" "$guest/lib/modules/$release/$file"
done < <(for module in "${modules[@]}"; do
	line=$(grep -E "(^|/)${module//_/[_-]}\.ko:" "$root/lib/modules/$release/modules.dep") || {
		grep -qE "/${module//_/[_-]}\.ko$" "$root/lib/modules/$release/modules.builtin" ||
			echo "missing:$module"
		continue
	}
	tr ' ' '\n' <<<"${line/:/}" | grep .
done)
for file in "${!taken[@]}"; do
	case $file in missing:*) die "the kernel $release has no module ${file#missing:}" ;; esac
done
"$busybox" depmod -b "$guest" "$release"

find "$guest" -exec touch -hd @0 {} +
(cd "$guest" && find . | sort | "$busybox" cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno) \
	>"$work/guest.cpio" 2>/dev/null || die "cpio failed"
cp "$busybox" "$work/busybox"
cp "$root/boot/vmlinuz-$release" "$work/vmlinuz"
mv "$work/busybox" "$work/vmlinuz" "$work/guest.cpio" "$work/versions" "$dir/"
