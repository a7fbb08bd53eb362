#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs in a root of bare Debian with the artefacts in /src: a program of one's own uses the crates, and their tests pass.
set -u
cd "$(dirname "$0")" || exit 2
. ./lib.sh
apt-get update -qq
# shellcheck source=/dev/null
rust=$(. /etc/os-release && [ "$VERSION_CODENAME" = bookworm ] && echo -web)
works apt-get install -y -qq --no-install-recommends gcc libc6-dev "cargo$rust" "rustc$rust"
mkdir -p /root/empty/own/src && cd /root/empty || exit 2
for crate in /src/dist/*.crate; do works tar -xf "$crate"; done
version=$(basename /src/dist/tcplearn-sys-*.crate .crate)
version=${version#tcplearn-sys-}
# crates.io does not have them yet
mkdir .cargo && printf '[patch.crates-io]\ntcplearn-sys = { path = "/root/empty/tcplearn-sys-%s" }\n' "$version" >.cargo/config.toml
printf '[package]\nname = "own"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\ntcplearn = { path = "../tcplearn-%s" }\n' "$version" >own/Cargo.toml
cat >own/src/main.rs <<'END'
use tcplearn::{RetryTimer, Settings};
fn main() {
    let mut timer = RetryTimer::new(Settings::rate(0.01)).unwrap();
    timer.sent(7, 0).unwrap();
    println!("deadline {:?}", timer.deadline());
}
END
says '^deadline Some\(1000000\)$' cargo run -q --manifest-path own/Cargo.toml
works cargo test -q --manifest-path "tcplearn-$version/Cargo.toml"
end
