#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# emulated.sh FOLDER MIRROR SUITE: runs the wheel of aarch64 in FOLDER/src/dist on this machine, by qemu-user and binfmt_misc, with
# Debian's Python of that architecture. Nothing of another architecture is installed here, and no script of a package runs under emulation.
set -u
folder=$1 mirror=$2 suite=$3
cd "$(dirname "$0")" || exit 2
. ./lib.sh
root=$folder/emulated/root site=$folder/emulated/site
rm -rf "$folder/emulated"
mkdir -p "$site"
wheel=$(find "$folder/src/dist" -name 'tcplearn-*aarch64.whl' | sort | tail -n 1)
extracted() {
  mmdebstrap --quiet --architectures=arm64 --variant=extract --include=python3,libstdc++6 "$suite" "$root" \
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
}
export -f extracted
export root suite mirror
works bash -c extracted
python=$(basename "$(readlink -f "$root/usr/bin/python3")")
platforms=$(printf -- '--platform manylinux_2_%s_aarch64 ' 34 28 17)
# shellcheck disable=SC2086 # a list of options
works python3 -m pip install -q --disable-pip-version-check --target "$site" $platforms --platform manylinux2014_aarch64 \
  --only-binary=:all: --python-version "${python#python}" --implementation cp "$wheel"
tcplearn() {
  env QEMU_LD_PREFIX="$root" PYTHONPATH="$site" PYTHONHOME="$root/usr" "$root/usr/bin/$python" -m tcplearn "$@"
}
export -f tcplearn
export site python
files=$(tcplearn --files)
export files
mkdir -p "$folder/emulated/empty" && cd "$folder/emulated/empty" || exit 2
for words in --version --help algorithms "explain $files/examples/captures/requests.pcap.gz" \
  "explain $files/examples/captures --anonymize --format parquet -o explain.parquet" \
  "replay $files/examples/captures/access-link.pcap.gz -e linux -e experts/fitted --format json -o aarch64.json" \
  "suite $files/examples/captures" "resend $files/examples/captures/access-link.pcap.gz --requests 1000"; do
  works bash -c "tcplearn $words"
done
end
