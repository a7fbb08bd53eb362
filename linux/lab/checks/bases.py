# SPDX-License-Identifier: GPL-2.0-only
"""Checks which variants (tl-...) of the kernel's congestion controls tcplearn's kernel module registers, and
that the kernel loads the module if a program selects a variant."""

import os
import shutil
import socket
from pathlib import Path

from guest import MODULE, expect, sh, sysctl
from transfers import load

AVAILABLE = "net.ipv4.tcp_available_congestion_control"


def _load_copy(*names):
    """Load a copy of the kernel module under the name `tcplearm`. For each pair (name, other) in `names`, the
    copy contains `other` wherever the module contains `name`."""
    other = Path(MODULE).read_bytes()
    for before, after in ((b"tcplearn", b"tcplearm"), *names):
        other = other.replace(before, after)
    Path("/tmp/tcplearm.ko").write_bytes(other)
    sh("insmod /tmp/tcplearm.ko")


def check_the_others_stay_when_one_cannot_be_registered():
    _load_copy((b"reno\0", b"xeno\0"), (b"vegas\0", b"xegas\0"))  # it still has the name tl-cubic
    try:
        expect("tl-cubic" in sysctl(AVAILABLE), "the other has no tl-cubic")
        load()
        names = sysctl(AVAILABLE).split()
        expect("tl-reno" in names and "tl-vegas" in names, f"there are {names}")
        sh("rmmod tcplearn")
        names = sysctl(AVAILABLE).split()
        expect("tl-cubic" in names and "tl-reno" not in names, f"unloaded, and there are {names}")
    finally:
        sh("rmmod tcplearm")
    load()


def check_the_kernel_loads_the_module_by_its_name():
    """Check that the kernel loads tcplearn's module if a program sets TCP_CONGESTION to tl-cubic."""
    expect("tcplearn " not in Path("/proc/modules").read_text(), "it is loaded already")
    copy = Path("/lib/modules", os.uname().release, "tcplearn.ko")
    shutil.copy(MODULE, copy)
    sh("depmod")
    sysctl("kernel.modprobe", "/usr/bin/modprobe")
    s = socket.socket()
    try:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"tl-cubic")
    except OSError as error:
        raise AssertionError(f"tl-cubic: {error.strerror}") from None
    finally:
        s.close()
        copy.unlink()
        sh("depmod")


def check_a_base_that_needs_more_memory_is_not_used():
    """Check that the module makes no variant of a congestion control whose `init` writes more than 64 bytes
    of private data. Such a congestion control is made by a copy of the module, which registers its own
    variant of `reno` as `vegas`."""
    sh("rmmod tcp_vegas")
    _load_copy((b"cubic\0", b"xubic\0"), (b"vegas\0", b"xegas\0"), (b"tl-%s\0", b"vegas\0"))
    try:
        expect("vegas" in sysctl(AVAILABLE).split(), "the copy is not registered as vegas")
        load()
        names = sysctl(AVAILABLE).split()
        expect("tl-reno" in names and "tl-cubic" in names, f"there are {names}")
        expect("tl-vegas" not in names, "a base that needs more memory is used")
        sh("rmmod tcplearn")
    finally:
        sh("rmmod tcplearm")
        sh("modprobe tcp_vegas")
