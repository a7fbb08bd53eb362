# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
# Kernels that the guest's Debian does not have, from the backports of the next Debian: packages by separate lists, and the
# compiler in a separate folder, which is its root. The callers define die() and read packages.sh.

# The kernel versions from that release.
is_later() { [[ $1 == 7.* ]]; }
LATER_DEBIAN=trixie

# Prints the newest release of a version, as in the names of its packages.
later_release() {
	apt-cache search --names-only "^linux-binary-${1//./\\.}\..*-cloud-amd64\$" |
		sed -n 's/^linux-binary-\([^ ]*\) .*/\1/p' | sort -V | tail -n 1
}

# later_build DIR RELEASE VERSION MODULE_DIR [MAKE_ARGUMENT...]: builds with headers and compiler in DIR/toolchain-RELEASE-VERSION
later_build() {
	local dir=$1 release=$2 version=$3 module=$4 common=${2%-cloud-amd64} root=$1/toolchain-$2-$3 part
	shift 4
	if [ ! -d "$root" ]; then
		part=$(mktemp -d "$dir/unpack.XXXXXX")
		release_apt "$dir" "$LATER_DEBIAN"
		mkdir "$part/root"
		unpack "$dir" "$part/root" "$part/versions" \
			"linux-headers-$release=$version" "linux-headers-$common-common=$version" "linux-kbuild-$common=$version" \
			base-files bash binutils binutils-common binutils-x86-64-linux-gnu coreutils cpp-14-x86-64-linux-gnu dash \
			diffutils findutils gcc-14-x86-64-linux-gnu grep libacl1 libattr1 libbinutils libc6 libcap2 libcc1-0 \
			libcrypt1 libctf-nobfd0 libctf0 libelf1t64 libgcc-14-dev libgcc-s1 libgmp10 libgprofng0 libisl23 \
			libjansson4 libmpc3 libmpfr6 libpcre2-8-0 libselinux1 libsframe1 libssl3t64 libstdc++6 libtinfo6 libzstd1 \
			make mawk sed zlib1g
		unset APT_CONFIG
		ln -sf mawk "$part/root/usr/bin/awk"
		: >"$part/root/dev/null"
		mkdir "$part/root/build"
		mv "$part/root" "$root"
		rm -rf "$part"
	fi
	# root needs no namespace of users, which a kernel refuses where the folder / is not that of the machine (chroot)
	local as_root=(--user --map-root-user)
	[ "$(id -u)" != 0 ] || as_root=()
	# shellcheck disable=SC2016  # its own variables
	unshare "${as_root[@]}" --mount bash -ec '
		mount --bind /dev/null "$1/dev/null"
		mount --rbind /proc "$1/proc"
		root=$1
		mount --bind "$2" "$root/build"
		shift 2
		exec chroot "$root" /usr/bin/env -i PATH=/usr/bin make -s -C /build "$@" CC=x86_64-linux-gnu-gcc-14 \
			CONFIG_DEBUG_INFO_BTF_MODULES=' later "$root" "$module" "KDIR=/usr/src/linux-headers-$release" "$@"
}
