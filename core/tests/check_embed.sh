#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Builds examples/embed.c against an installed library, once through pkg-config and once through
# CMake's find_package, and runs both. Usage: check_embed.sh BUILD_FOLDER
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
example=$here/../../examples/embed.c
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

cmake --install "$build" --prefix "$out/prefix" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$out/prefix" -name tcplearn.pc)")
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs tcplearn)
libdir=$(pkg-config --variable=libdir tcplearn)
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror "$example" $flags -o "$out/embed"
LD_LIBRARY_PATH=$libdir "$out/embed" -d >"$out/shared.txt"

mkdir "$out/user"
cat >"$out/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.21)
project(user C)
find_package(tcplearn 0.1 REQUIRED)
add_executable(embed $example)
target_link_libraries(embed PRIVATE tcplearn::tcplearn)
add_executable(embed_static $example)
target_link_libraries(embed_static PRIVATE tcplearn::static)
END
cmake -S "$out/user" -B "$out/user/build" -DCMAKE_PREFIX_PATH="$out/prefix" >/dev/null
cmake --build "$out/user/build" >/dev/null
"$out/user/build/embed" -d >"$out/cmake.txt"
printf '40.2\n41\n39.8\nx' | "$out/user/build/embed_static" >"$out/static.txt"

cat "$out/shared.txt"
cmp "$out/shared.txt" "$out/cmake.txt"
head -3 "$out/shared.txt" | cmp - "$out/static.txt"
test "$(wc -l <"$out/shared.txt")" -eq 7
# RFC 6298, 2.2 and 2.3: SRTT = R, RTO = 3 R; then SRTT = 7/8 40.2 + 1/8 41
grep -q '^40.20 ms  jacobson: next 40.20 ms, RTO 120.60 ms' "$out/shared.txt"
grep -q '^41.00 ms  jacobson: next 40.30 ms' "$out/shared.txt"
