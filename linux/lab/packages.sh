# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
# What image.sh, programs.sh and module.sh share: where packages come from, Debian
# packages unpacked, programs taken from them with the libraries they load, an
# archive of the same bytes for the same packages. The callers have die().

# The guest is of Debian 12's packages, on whichever Debian it is made, and amd64.
GUEST_DEBIAN=bookworm

# The machine's own release: bookworm or trixie.
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

# archive_address LABEL: an address of Debian's among the machine's package sources, as apt reads them
archive_address() {
	# shellcheck disable=SC2016  # apt's own variables
	machine_apt indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
		awk -F '|' -v label="$1" '$1 == "Debian" && $2 == label && !found { found = 1; print $3 }'
}

# release_apt DIR RELEASE [fresh]: from here on apt knows the packages of that release and no others, by lists of
# their own in DIR; the machine's apt is left as it is. A machine whose sources name no archive of security updates
# has it beside the other.
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

# guest_apt DIR [fresh]: from here on apt knows the guest's packages; where the machine has them, by its own lists
guest_apt() {
	local here
	here=$(machine_debian)
	unset APT_CONFIG
	[ "$here" = "$GUEST_DEBIAN" ] || release_apt "$1" "$GUEST_DEBIAN" "${2:-}"
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

# The guest's own, in ROOT. In lib64 is a link to the machine's.
LOADER=lib/x86_64-linux-gnu/ld-linux-x86-64.so.2

# libraries ROOT FILE: what that loader finds in ROOT for it, else on the machine, which may be one it cannot load
libraries() {
	{ "$1/$LOADER" --library-path "$1/lib/x86_64-linux-gnu:$1/usr/lib/x86_64-linux-gnu" \
		--list "$2" 2>/dev/null || echo "another => not"; } | awk '$2 == "=>" && $1 !~ /ld-linux/ { print $3 == "not" ? $1 : $3 }'
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
