#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The golden vectors on other processors, by Debian's cross compilers and qemu-user: fixed point equal to the bit, double precision
# to 1e-12, with gcc and clang at each level of optimization.
#   core/tests/run_portable.sh [FOLDER]                   where it builds; build/portable
#   ARCHS=s390x LEVELS="0 3" core/tests/run_portable.sh   some of them
# s390x is big endian, armhf has registers of 32 bits. Needs root, or Debian's packages.
set -u
cd "$(dirname "$0")/../.." || exit 2
out=${1:-build/portable}
mkdir -p "$out"
failed=0
triple_of() { # and qemu's name
  case $1 in
    aarch64) echo aarch64-linux-gnu aarch64 ;;
    riscv64) echo riscv64-linux-gnu riscv64 ;;
    s390x) echo s390x-linux-gnu s390x ;;
    armhf) echo arm-linux-gnueabihf arm ;;
    *) echo "run_portable.sh: no architecture $1: aarch64, riscv64, s390x or armhf" >&2; exit 2 ;;
  esac
}
tools/system-packages qemu-user clang gcc-{aarch64,riscv64,s390x}-linux-gnu gcc-arm-linux-gnueabihf \
  libc6-dev-{arm64,riscv64,s390x,armhf}-cross || exit

# build COMPILER... PROGRAM: compiles the library and the test
build() {
  local program=${*: -1}
  "${@:1:$#-1}" -std=c11 -ffp-contract=off -fno-trapping-math -Wall -Wextra -Werror -Icore/include -Icore/src core/src/*.c \
    "core/tests/$program.c" -static -lm -o "$out/$name-$program" >"$out/$name-$program.log" 2>&1
}

for arch in ${ARCHS:-aarch64 riscv64 s390x armhf}; do
  read -r triple qemu <<<"$(triple_of "$arch")"
  [ -n "$qemu" ] || exit 2
  for compiler in ${COMPILERS:-gcc clang}; do
    for level in ${LEVELS:-0 1 2 3}; do
      name=$arch-$compiler-O$level
      case $compiler in gcc) with=("$triple-gcc") ;; *) with=(clang "--target=$triple") ;; esac
      for program in test_vectors test_retry; do
        code=0
        build "${with[@]}" "-O$level" "$program" && "qemu-$qemu" "$out/$name-$program" vectors >>"$out/$name-$program.log" 2>&1 || code=1
        if [ "$code" = 0 ]; then echo "passed  $name  $program"; else
          failed=$((failed + 1))
          echo "FAILED  $name  $program"
          tail -n 5 "$out/$name-$program.log" | sed 's/^/    | /'
        fi
      done
    done
  done
done
echo "$failed failed"
[ "$failed" = 0 ]
