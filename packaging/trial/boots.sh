#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Runs in a root of bare Debian with the artefacts in /src: installs systemd, a kernel and the packages, and makes
# /src/guest.raw of it, a disk whose first service is booted.sh.
set -eu
export DEBIAN_FRONTEND=noninteractive
cd /src/dist
apt-get update -qq
apt-get install -y -qq --no-install-recommends systemd-sysv udev dbus kmod linux-image-cloud-amd64 \
  linux-headers-cloud-amd64 initramfs-tools e2fsprogs iproute2 procps bpftool >/dev/null
apt-get install -y -qq --no-install-recommends ./tcplearn_*_amd64.deb ./tcplearn-dkms_*.deb >/dev/null

# the same package as a later version
dpkg-deb -R tcplearn_*_amd64.deb /root/later
sed -i 's/^Version: .*/&+later/' /root/later/DEBIAN/control
dpkg-deb -b -Zgzip /root/later /root/later.deb >/dev/null
rm -r /root/later

cp -r /src/trial /root/trial
cat >/etc/systemd/system/trial.service <<'END'
[Unit]
After=network.target tcplearn-live.service
[Service]
Type=idle
ExecStart=/bin/bash /root/trial/booted.sh
StandardOutput=file:/dev/ttyS1
StandardError=inherit
[Install]
WantedBy=multi-user.target
END
systemctl enable trial.service
cp /vmlinuz /src/vmlinuz
cp /initrd.img /src/initrd
apt-get clean
rm -f /src/guest.raw
mount --bind / /mnt # without what is mounted in it
truncate -s 6G /src/guest.raw
mkfs.ext4 -q -F -d /mnt /src/guest.raw
umount /mnt
