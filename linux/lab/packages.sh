# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
# What image.sh and programs.sh share: Debian packages unpacked, programs taken
# from them with the libraries they load, an archive of the same bytes for the
# same packages. The callers have die().

# The packages' names are those of Debian 12, and the guest is amd64.
debian_12() {
	local system
	# shellcheck source=/dev/null
	system=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-} $(dpkg --print-architecture)") || true
	[ "$system" = "debian 12 amd64" ] || die "this needs Debian 12 on amd64, not ${system:-this}"
}

# unpack DIR ROOT VERSIONS PACKAGE...: downloads are kept in DIR/packages
unpack() {
	local dir=$1 root=$2 versions=$3 package version arch
	shift 3
	mkdir -p "$dir/packages" "$root"
	(cd "$dir/packages" && timeout 600 apt-get download "$@") >"$dir/apt.log" 2>&1 ||
		die "apt-get download failed: $(grep -m 1 '^E:' "$dir/apt.log" || echo "no answer") (log: $dir/apt.log)"
	while read -r package version arch; do
		# apt-get writes the colon of an epoch as %3a in a file's name.
		dpkg-deb -x "$dir/packages/${package}_${version//:/%3a}_$arch.deb" "$root" ||
			die "cannot unpack $package $version"
		echo "$package $version"
	done < <(apt-cache --no-all-versions show "$@" |
		awk '/^Package:/ { p = $2 } /^Version:/ { v = $2 } /^Architecture:/ { a = $2 }
			/^$/ { print p, v, a }') >"$versions"
	[ "$(wc -l <"$versions")" = $# ] || die "apt-cache does not know every package"
}

# libraries ROOT FILE: what the guest's own loader finds in ROOT for it
libraries() {
	"$1/lib64/ld-linux-x86-64.so.2" --library-path "$1/lib/x86_64-linux-gnu:$1/usr/lib/x86_64-linux-gnu" \
		--list "$2" 2>/dev/null | awk '$2 == "=>" && $1 !~ /ld-linux/ { print $3 == "not" ? $1 : $3 }'
}

# take ROOT GUEST FILE: its libraries, all of which must be in ROOT
take_libraries() {
	local library
	while read -r library; do
		case $library in
		"$1"/*) cp -L "$library" "$2/usr/lib/" ;;
		*) die "$(basename "$3") would load $library, which no package brings: name its package here" ;;
		esac
	done < <(libraries "$1" "$3")
}

# take ROOT GUEST PROGRAM: with its libraries
take() {
	local file
	file=$(find "$1" -path "*bin/$3" -type f | head -n 1)
	[ -n "$file" ] || die "no package brings $3"
	cp "$file" "$2/bin/"
	take_libraries "$1" "$2" "$file"
}

# archive DIR BUSYBOX: to stdout; names are sorted, times and inode numbers fixed
archive() {
	find "$1" -exec touch -hd @0 {} +
	(cd "$1" && find . | sort | "$2" cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno) 2>/dev/null ||
		die "cpio failed"
}
