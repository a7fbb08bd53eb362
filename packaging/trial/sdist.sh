#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs in a root of bare Debian with the artefacts in /src: pip builds and installs the source distribution.
set -u
cd "$(dirname "$0")" || exit 2
. ./lib.sh
apt-get update -qq
works apt-get install -y -qq --no-install-recommends g++ libpcap-dev zlib1g-dev python3-dev python3-venv
works python3 -m venv /opt/venv
works /opt/venv/bin/pip install -q --disable-pip-version-check /src/dist/tcplearn-*.tar.gz
PATH=/opt/venv/bin:$PATH
here=$PWD
mkdir /root/empty && cd /root/empty || exit 2
# shellcheck source=packaging/trial/verbs.sh
. "$here/verbs.sh"
verbs_that_need_nothing
end
