#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Compiles every function of the core as the kernel, BPF and C++17 do, and looks at what it needs:
# nothing but the four functions that compilers call by themselves. A compiler that is missing is said.
# shellcheck disable=SC2086 # lists of flags
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
warn="-Wall -Wextra -Wshadow -Wconversion -Werror"

first() {
	for name; do command -v "$name" && return; done
	return 1
}

undefined() { # object, nm
	extra=$("$2" -u "$1" | awk '{print $2}' | grep -vE '^(memcpy|memmove|memset|memcmp)$' || true)
	[ -z "$extra" ] || { echo "$1 needs: $extra"; exit 1; }
}

try() { # what, compiler, flags...
	what=$1
	shift
	"$@" -I"$here/../include" -I"$here" -c -o "$out/$what.o"
	echo "$what: ok"
}

cc=${CC:-cc}
cxx=${CXX:-c++}
clang=$(first clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14) || clang=
nm=$(first llvm-nm llvm-nm-19 llvm-nm-18 llvm-nm-17 llvm-nm-16 llvm-nm-15 llvm-nm-14 nm)

kernel="-ffreestanding -nostdlib -mgeneral-regs-only -DTL_NO_F64 -O2 -std=gnu11
	-Wframe-larger-than=1024 -Wdeclaration-after-statement"
try kernel "$cc" $warn $kernel "$here/every_function.c"
undefined "$out/kernel.o" nm
# what only the optimizer warns of was seen above
try cxx17 "$cxx" $warn -std=c++17 -Wpedantic -O0 "$here/every_function.cpp"
undefined "$out/cxx17.o" nm
"$cc" $warn -std=c11 -Wpedantic -fsyntax-only -I"$here/../include" -I"$here" "$here/every_function.c"
echo "c11: ok"
if [ -n "$clang" ]; then
	try kernel-clang "$clang" $warn $kernel "$here/every_function.c"
	undefined "$out/kernel-clang.o" nm
	for cpu in v2 v3; do
		try "bpf-$cpu" "$clang" $warn -target bpf -mcpu=$cpu -O2 -g -Wdeclaration-after-statement "$here/every_function.c"
		undefined "$out/bpf-$cpu.o" "$nm"
	done
else
	echo "no clang: BPF not tried"
fi
