#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Installs libtcplearn by the documented command and builds examples/embed.c and examples/retry/lookup.c against it: through pkg-config
# and through CMake's find_package, shared and static, as C11 and as C++17. All print the same.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
prefix=$out/prefix

env -u MAKEFLAGS -u MFLAGS make --no-print-directory -C "$root" install-core PREFIX="$prefix" >"$out/install.txt"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tcplearn.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir tcplearn)
test "$(pkg-config --modversion tcplearn)" = "$(sed -n 's/^project(tcplearn VERSION \([0-9.]*\).*/\1/p' "$root/core/CMakeLists.txt")"
cp "$root/examples/embed.c" "$out/embed.cpp"
cp "$root/examples/embed.c" "$out/embed.c"

warnings='-Wall -Wextra -Wpedantic -Werror'
flags=$(pkg-config --cflags --libs tcplearn)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 $warnings "$out/embed.c" $flags -o "$out/pc-c-shared"
# shellcheck disable=SC2086
${CXX:-c++} -std=c++17 $warnings "$out/embed.cpp" $flags -o "$out/pc-c++-shared"
cflags=$(pkg-config --cflags tcplearn)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 $warnings "$out/embed.c" $cflags "$libdir/libtcplearn.a" -o "$out/pc-c-static"

mkdir "$out/user"
cat >"$out/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.21)
project(user C CXX)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 17)
find_package(tcplearn 0.1 REQUIRED)
foreach(language c cpp)
	add_executable(cmake-\${language}-shared ../embed.\${language})
	target_link_libraries(cmake-\${language}-shared PRIVATE tcplearn::tcplearn)
	add_executable(cmake-\${language}-static ../embed.\${language})
	target_link_libraries(cmake-\${language}-static PRIVATE tcplearn::static)
endforeach()
END
cmake -S "$out/user" -B "$out/user/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$out/user/build" >/dev/null

LD_LIBRARY_PATH=$libdir "$out/pc-c-shared" -d >"$out/expected.txt"
cat "$out/expected.txt"
test "$(wc -l <"$out/expected.txt")" -eq 7
# RFC 6298, 2.2 and 2.3: SRTT = R, RTO = 3 R; then SRTT = 7/8 40.2 + 1/8 41
grep -q '^40.20 ms  jacobson: next 40.20 ms, RTO 120.60 ms' "$out/expected.txt"
grep -q '^41.00 ms  jacobson: next 40.30 ms' "$out/expected.txt"
for way in pc-c++-shared pc-c-static user/build/cmake-c-shared user/build/cmake-c-static \
	user/build/cmake-cpp-shared user/build/cmake-cpp-static; do
	LD_LIBRARY_PATH=$libdir "$out/$way" -d | cmp "$out/expected.txt" -
done
# the example of the retry timer: all queries are answered although a tenth of them is lost
# shellcheck disable=SC2086
${CC:-cc} -std=c11 $warnings "$root/examples/retry/lookup.c" $cflags "$libdir/libtcplearn.a" -o "$out/lookup"
"$out/lookup" 60 3 | tee "$out/lookup.txt"
grep -q '^60 answers, .*: by the retry timer' "$out/lookup.txt"
grep -q '^60 answers, .*: a fixed second' "$out/lookup.txt"
# the shared ones need the library, the static ones nothing of it
LD_LIBRARY_PATH=$libdir ldd "$out/pc-c++-shared" | grep -q "$libdir/libtcplearn.so.0"
test -z "$(ldd "$out/pc-c-static" | grep tcplearn)"
head -3 "$out/expected.txt" >"$out/first.txt"
printf '40.2\n41\n39.8\nx' | "$out/pc-c-static" | cmp "$out/first.txt" -
