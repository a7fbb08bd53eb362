#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs in a root of bare Debian with the artefacts in /src: pip installs the wheel, then every verb is run in an empty folder.
set -u
cd "$(dirname "$0")" || exit 2
. ./lib.sh
apt-get update -qq
before=$(megabytes)
works apt-get install -y -qq --no-install-recommends python3-venv
works python3 -m venv /opt/venv
python=$(megabytes)
wheel=$(find /src/dist -name "tcplearn-*-cp3*.whl" | sort | tail -n 1)
works /opt/venv/bin/pip install --debug --disable-pip-version-check "$wheel"
echo "megabytes: Python with venv $((python - before)), the wheel and what it needs $(($(megabytes) - python))"
PATH=/opt/venv/bin:$PATH
here=$PWD
mkdir /root/empty && cd /root/empty || exit 2
# shellcheck source=packaging/trial/verbs.sh
. "$here/verbs.sh"
verbs_that_need_nothing
says "pip install 'tcplearn\[pictures\]'" tcplearn replay "$link" --report out.html
says "pip install 'tcplearn\[training\]'" tcplearn train rtt "$files/examples/hosts/emulated.parquet" -o out
works pip install -q --disable-pip-version-check "${wheel}[pictures,training,collect]"
reports
works tcplearn train rtt "$files/examples/hosts/emulated.parquet" -o trained
works pip install -q --disable-pip-version-check "$files/examples/my_estimator"
works tcplearn replay "$link" -e running-median
if [ "$(dpkg --print-architecture)" = amd64 ]; then # the lab's machine and the compiled BPF programs are of x86-64
  live
  emulated_link
  needs tcplearn first-rto status
  programs_of_first_use
fi
works apt-get install -y -qq --no-install-recommends man-db bash-completion zsh fish
# shellcheck disable=SC2016 # the inner shell expands it
says '^complete .*tcplearn' bash -c '. /opt/venv/share/bash-completion/completions/tcplearn; complete -p tcplearn'
# shellcheck disable=SC2016
says '_tcplearn' zsh -c 'fpath=(/opt/venv/share/zsh/site-functions $fpath); autoload -U compinit; compinit -u; echo $_comps[tcplearn]'
says '^explain' fish -c 'source /opt/venv/share/fish/vendor_completions.d/tcplearn.fish; complete -C "tcplearn ex"'
says 'estimator' sh -c 'man tcplearn-replay | cat'
end
