#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Fuzzes the core with libFuzzer, ASan, UBSan and the stated ranges of fixed point. Usage: run_fuzz.sh [SECONDS] [BUILD_FOLDER];
# each of the two targets runs for so long.
# What it finds stays in BUILD_FOLDER; new inputs do not go into the seeds.
set -eu
seconds=${1:-60}
build=${2:-build/fuzz}
here=$(cd "$(dirname "$0")" && pwd)
clang=$(command -v clang || true)
[ -n "$clang" ] || { echo "run_fuzz.sh: needs clang" >&2; exit 77; }
cmake -S "$here/.." -B "$build" -DCMAKE_C_COMPILER="$clang" -DTCPLEARN_FUZZ=ON -DTCPLEARN_CHECK_RANGES=ON -DTCPLEARN_TESTS=OFF \
	-DTCPLEARN_SHARED=OFF -DTCPLEARN_INSTALL=OFF >/dev/null
cmake --build "$build" --target fuzz_core fuzz_retry >/dev/null
for target in fuzz_core fuzz_retry; do
	seeds=$here/corpus
	[ "$target" = fuzz_core ] || seeds=
	mkdir -p "$build/corpus-$target"
	# shellcheck disable=SC2086 # no seeds: no word
	"$build/$target" -max_total_time="$seconds" -max_len=2048 -timeout=10 -verbosity=0 -print_final_stats=1 \
		-artifact_prefix="$build/" "$build/corpus-$target" $seeds
done
