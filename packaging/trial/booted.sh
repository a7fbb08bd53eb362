#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs at each boot of the guest that boots.sh makes: what the pages promise about starting, rebooting, upgrading and
# removing. It then boots again, or after the last part switches off.
set -u
cd /root/trial || exit 2
. ./lib.sh
boot=$(($(cat /root/boot 2>/dev/null || echo 0) + 1))
echo "$boot" >/root/boot
state() { ls /var/lib/tcplearn/live-*.json; }
damage() { echo damaged >"$(state)"; }
is_attached() { tcplearn live status | grep 'of the new connections'; }
is_stock() { tcplearn live status | grep 'new connections have no learned floors'; }
program() { bpftool prog show name live | grep .; }
no_program() { ! program; }
refused() { journalctl -b -u tcplearn-live | grep 'is not used: it is damaged' && ls /var/lib/tcplearn/live-*.refused; }
# went_on COUNT: the guard has gone on from its file so often since this boot
went_on() { journalctl -b -u tcplearn-live | tee /dev/stderr | grep -c 'the guard continues from' | grep -qx "$1"; }
export -f state damage is_attached is_stock program no_program refused went_on

# becomes FUNCTION: it succeeds within two minutes
becomes() {
  works bash -c "for _ in \$(seq 60); do $1 && exit; sleep 2; done; $1"
}

case $boot in
  1)
    says '^disabled$' systemctl is-enabled tcplearn-live
    says '^inactive$' systemctl is-active tcplearn-live
    says 'tcplearn.*: installed' dkms status
    says '^0$' sh -c 'grep -c ^tcplearn /proc/modules'
    sed -i 's/^#tcplearn/tcplearn/' /etc/modules-load.d/tcplearn.conf
    sed -i 's/^#-/-/' /etc/sysctl.d/tcplearn.conf
    works systemctl enable --now tcplearn-live
    becomes is_attached
    works bash -c program
    becomes state
    ;;
  2)
    says '^active$' systemctl is-active tcplearn-live
    becomes is_attached
    becomes 'went_on 1'
    works systemctl kill -s KILL tcplearn-live
    becomes 'went_on 2'
    becomes is_attached
    says '^tcplearn' cat /proc/modules
    says '= tracking' sysctl net.tcplearn.estimator
    says '= tl-cubic' sysctl net.ipv4.tcp_congestion_control
    works dpkg -i /root/later.deb
    says '^active$' systemctl is-active tcplearn-live
    becomes is_attached
    becomes 'went_on 3'
    says '[+]later$' dpkg-query -W tcplearn
    works systemctl stop tcplearn-live
    becomes no_program
    works bash -c damage
    works systemctl start tcplearn-live
    becomes is_attached
    works bash -c refused
    works touch /etc/tcplearn/live.off
    becomes is_stock
    works rm /etc/tcplearn/live.off
    works apt-get remove -y -qq tcplearn
    says '^inactive$' systemctl is-active tcplearn-live
    becomes no_program
    works bash -c state
    works test -e /etc/tcplearn/live.toml
    ;;
  3)
    says '^0$' sh -c 'systemctl list-units --all --plain --no-legend "tcplearn*" | grep -c " active "'
    works dpkg -i /root/later.deb
    works systemctl enable --now tcplearn-live
    becomes is_attached
    works bash -c program
    works apt-get purge -y -qq tcplearn tcplearn-dkms
    becomes no_program
    says '^0$' sh -c 'find /etc /usr /var /run /sys/fs/bpf -iname "*tcplearn*" -not -path "/var/lib/dpkg/*" -not -path "/var/log/*" | tee /dev/stderr | grep -c .'
    ;;
  *)
    says '^0$' sh -c 'grep -c ^tcplearn /proc/modules'
    says '^0$' sh -c 'ls /proc/sys/net | grep -c tcplearn'
    says '= cubic' sysctl net.ipv4.tcp_congestion_control
    works bash -c no_program
    says '^0$' sh -c 'systemctl --failed --plain --no-legend | tee /dev/stderr | grep -c .'
    end
    echo "the guest has ended"
    systemctl poweroff
    exit
    ;;
esac
echo "boot $boot: $passed passed, $failed failed"
systemctl reboot
