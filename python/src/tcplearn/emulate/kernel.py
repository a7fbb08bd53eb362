# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Call functions of the Linux kernel that Python's library has only in later versions, or not at all."""

import ctypes
import fcntl
import os
import signal
import struct

NEW_NAMESPACE, NEW_USER, NEW_PIDS, NEW_NET = 0x20000, 0x10000000, 0x20000000, 0x40000000  # CLONE_NEW...
TUN_DEVICE = "/dev/net/tun"

_PR_SET_PDEATHSIG = 1
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000

_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    """Call the function `name` of libc. Raise OSError if it returns a negative number."""
    if getattr(_LIBC, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number).lower()}")


def die_with_parent() -> None:
    """Make the kernel kill this process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG). If
    the thread ended before this call, nothing happens, so the caller has to check."""
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def unshare(flags: int) -> None:
    _call("unshare", flags)


def enter(network: int) -> None:
    """Move this thread into the network namespace with the file handle `network`."""
    _call("setns", network, NEW_NET)


def mount_own_proc() -> None:
    """Mount a /proc of this process's PID namespace, in its own mount namespace. Raise OSError."""
    _call("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    _call("mount", b"proc", b"/proc", b"proc", 0, None)


def tun(name: str) -> int:
    """Return the file handle of a new TUN device `name` in this thread's network namespace. Each read gives
    an IP packet that was sent to the device, without a header before it. The device has no offloads, so
    packets are at most as long as its MTU, and it is gone when the handle is closed. Raise OSError."""
    try:
        handle = os.open(TUN_DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(handle, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
        fcntl.ioctl(handle, _TUNSETOFFLOAD, 0)
    except OSError as error:
        raise OSError(error.errno, f"{TUN_DEVICE}: {os.strerror(error.errno or 0).lower()}") from error
    return handle
