# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
# Common functions of image.sh, programs.sh and module.sh: sources of Debian packages, unpacked
# packages, programs with the libraries that they load, and archives with the same bytes for the
# same packages. The callers define die().

# The guest has Debian 12's packages for amd64, on any Debian.
GUEST_DEBIAN=bookworm

# The release of this machine: bookworm or trixie.
machine_debian() {
	local system
	# shellcheck source=/dev/null
	system=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-} $(dpkg --print-architecture)") || true
	case $system in
	"debian 12 amd64") echo bookworm ;;
	"debian 13 amd64") echo trixie ;;
	*) die "this needs Debian 12 or 13 on amd64, not ${system:-this}" ;;
	esac
}

machine_apt() { env -u APT_CONFIG apt-get "$@"; }

# archive_address LABEL: prints the address of a Debian archive in the package sources of this machine
archive_address() {
	# shellcheck disable=SC2016  # apt's own variables
	machine_apt indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
		awk -F '|' -v label="$1" '$1 == "Debian" && $2 == label && !found { found = 1; print $3 }'
}

# release_apt DIR RELEASE [fresh]: lets apt know only the packages of that release, with separate lists in DIR; the
# machine's apt does not change. If the machine's sources name no archive of security updates, its address is derived
# from that of the other archive.
release_apt() {
	local release=$2 apt=$1/apt-$2 signed="deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" main security
	main=$(archive_address Debian)
	[ -n "$main" ] || die "apt knows no archive of Debian: run apt-get update"
	security=$(archive_address Debian-Security)
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	{
		echo "$signed $main $release main"
		if [ "$release" = "$GUEST_DEBIAN" ]; then
			echo "$signed $main $release-updates main"
			echo "$signed ${security:-${main%/}-security} $release-security main"
		else
			echo "$signed $main $release-backports main"
		fi
	} >"$apt/sources.list"
	cat >"$apt/apt.conf" <<-END
		Dir::Etc::SourceList "$apt/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::State "$apt";
		Dir::State::status "/dev/null";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "$(id -un)";
	END
	export APT_CONFIG=$apt/apt.conf
	[ "${3:-}" = fresh ] || return 0
	timeout 600 apt-get update >"$apt/update.log" 2>&1 || echo "E: no answer" >>"$apt/update.log"
	! grep -q '^[EW]:' "$apt/update.log" ||
		die "apt-get update for $release failed: $(grep -m 1 '^[EW]:' "$apt/update.log") (log: $apt/update.log)"
}

# guest_apt DIR [fresh]: lets apt know the guest's packages, by the machine's lists if its release is the guest's
guest_apt() {
	local here
	here=$(machine_debian)
	unset APT_CONFIG
	[ "$here" = "$GUEST_DEBIAN" ] || release_apt "$1" "$GUEST_DEBIAN" "${2:-}"
}

# unpack DIR ROOT VERSIONS PACKAGE...: unpacks packages to ROOT; downloads are stored in DIR/packages
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

# The guest's loader in ROOT; the link in lib64 would name that of this machine.
LOADER=lib/x86_64-linux-gnu/ld-linux-x86-64.so.2

# libraries ROOT FILE: prints the libraries of a file that the loader finds in ROOT, or else on this machine
libraries() {
	{ "$1/$LOADER" --library-path "$1/lib/x86_64-linux-gnu:$1/usr/lib/x86_64-linux-gnu" \
		--list "$2" 2>/dev/null || echo "another => not"; } | awk '$2 == "=>" && $1 !~ /ld-linux/ { print $3 == "not" ? $1 : $3 }'
}

# take_libraries ROOT GUEST FILE: copies the libraries of a file, all of which must be in ROOT
take_libraries() {
	local library
	while read -r library; do
		case $library in
		"$1"/*) cp -L "$library" "$2/usr/lib/" ;;
		*) die "$(basename "$3") would load $library, which is in no package: add its package here" ;;
		esac
	done < <(libraries "$1" "$3")
}

# take ROOT GUEST PROGRAM: copies a program with its libraries
take() {
	local file
	file=$(find "$1" -path "*bin/$3" -type f | head -n 1)
	[ -n "$file" ] || die "$3 is in no package"
	cp "$file" "$2/bin/"
	take_libraries "$1" "$2" "$file"
}

# archive DIR BUSYBOX: writes an archive to stdout; names are sorted, times and inode numbers fixed
archive() {
	find "$1" -exec touch -hd @0 {} +
	(cd "$1" && find . | sort | "$2" cpio -o -H newc -R 0:0 --renumber-inodes --ignore-devno) 2>/dev/null ||
		die "cpio failed"
}
