#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs in a root of bare Debian with the artefacts in /src: apt installs the packages, every verb is run in an empty folder, the
# packages are upgraded, removed and purged.
set -u
cd "$(dirname "$0")" || exit 2
. ./lib.sh
apt-get update -qq
before=$(megabytes)
works apt-get install -y -qq --no-install-recommends /src/dist/tcplearn_*_amd64.deb
echo "megabytes: $(($(megabytes) - before))"
here=$PWD
mkdir /root/empty && cd /root/empty || exit 2
# shellcheck source=packaging/trial/verbs.sh
. "$here/verbs.sh"
verbs_that_need_nothing
reports
live
emulated_link
needs tcplearn first-rto status
programs_of_first_use
works apt-get install -y -qq --no-install-recommends /src/dist/libtcplearn0_*.deb /src/dist/libtcplearn-dev_*.deb gcc libc6-dev pkg-config
cat >list.c <<'END'
#include <stdio.h>
#include <tcplearn/tcplearn.h>
int main(void) { return puts(tl_estimator_at(0, TL_F64)->algorithm.name) < 0; }
END
# shellcheck disable=SC2046 # pkg-config prints several options
works gcc list.c -o list $(pkg-config --cflags --libs tcplearn)
works ./list
works test -e /etc/tcplearn/live.toml
works apt-get install -y -qq --reinstall --no-install-recommends /src/dist/tcplearn_*_amd64.deb
works tcplearn --version
works apt-get install -y -qq --no-install-recommends linux-headers-cloud-amd64 /src/dist/tcplearn-dkms_*.deb
says 'tcplearn.*: installed' dkms status
works apt-get purge -y -qq tcplearn-dkms
works apt-get purge -y -qq tcplearn libtcplearn0 libtcplearn-dev
says '^$' sh -c 'find /etc /usr /var/lib -iname "*tcplearn*" -not -path "/var/lib/dpkg/*"; echo'
works sh -c '! find /etc /usr /var/lib -iname "*tcplearn*" | grep .'
end
