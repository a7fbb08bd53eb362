# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check the conditions under which `tcplearn live` can run on this machine, and the settings that decide how
much it can gain."""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tcplearn import debian
from tcplearn.bpf import build
from tcplearn.bpf.kernel import cgroup_of, cgroups, need_btf, ticks_per_second
from tcplearn.bpf.libbpf import need_library, sock_ops_programs
from tcplearn.errors import FailedError, UserError, printable

from .program import PROGRAM, Program, Settings

_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_PERFMON": 38, "CAP_BPF": 39}
# what /proc/self/uid_map has outside of user namespaces (user_namespaces(7))
_OF_THE_MACHINE = ["0", "0", str(2**32 - 1)]
_TCP_RTO_MAX_MS = 44
_STOCK_US = 200_000  # the kernel's own minimum RTO
_RETRIES_TO_BOUND = 10  # TL_BOUND_RETRIES in linux/bpf/live_backoff.h
_LEAST_TICKS = 2  # the shortest minimum RTO: TL_TICKS_LEAST in linux/bpf/live_kernel.h


@dataclass(frozen=True)
class Line:
    """A line of `tcplearn live check`: whether a condition is met, or what a setting is."""

    name: str
    state: str  # "yes", "no" or "note"
    text: str


def need_privilege() -> None:
    """Raise UserError if this process lacks a capability that loading the BPF program needs. Capabilities in
    a user namespace, as in a rootless container, do not count."""
    status = Path("/proc/self/status").read_text()
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff"))
    missing = [name for name, bit in _CAPABILITIES.items() if not effective >> bit & 1]
    if missing:
        how = "grant it to this container or unit" if os.geteuid() == 0 else "run it with sudo"
        raise UserError(f"{', '.join(missing)} missing: {how}; nothing was changed")
    if Path("/proc/self/uid_map").read_text().split() != _OF_THE_MACHINE:
        raise UserError("this is root in a user namespace only: run it on the machine; nothing was changed")


def need_all() -> None:
    """Raise UserError if the BPF program of `tcplearn live` cannot be loaded on this machine."""
    need_privilege()
    need_btf()
    cgroups()
    ticks_per_second()
    build.need_compiler()
    need_library()


def need_free(cgroup: Path) -> None:
    """Raise UserError if a sock_ops BPF program is already attached to `cgroup` or to one above it."""
    if not (cgroup / "cgroup.procs").exists():
        raise UserError(f"{printable(cgroup)}: no cgroup of version 2")
    for folder in (cgroup.resolve(), *cgroup.resolve().parents):
        if not (folder / "cgroup.procs").exists():
            return
        for name in sock_ops_programs(folder):
            if name == PROGRAM:
                raise UserError(
                    f"live is started already for {printable(folder)}: see `tcplearn live status`"
                )
            raise UserError(
                f"{printable(folder)} has another sock_ops program, {name}, which applies here too: "
                "detach it first"
            )


def here() -> Path:
    """Return the cgroup of this process."""
    found = cgroup_of(os.getpid())
    if found is None:
        raise UserError("this process is in no cgroup of version 2")
    return found if found.exists() else cgroups()


def _ticks() -> str:
    rate = ticks_per_second()
    least_ms = _LEAST_TICKS * 1000 / rate
    return f"CONFIG_HZ is {rate}: floors are multiples of {1000 / rate:g} ms, at least {least_ms:g} ms"


def _compiler() -> str:
    build.need_compiler()
    need_library()
    return "libbpf is installed, and " + (
        "the program is compiled" if build.BUILT.is_dir() else "so is clang"
    )


def _btf() -> str:
    need_btf()
    return "this kernel has type information"


def _privilege() -> str:
    need_privilege()
    return f"this process has {', '.join(_CAPABILITIES)}"


def _free() -> str:
    need_free(here())
    return "no other sock_ops program applies here"


#: By the name of a condition, a function that says how it is met or raises UserError.
NEEDED: dict[str, Callable[[], str]] = {
    "privilege": _privilege,
    "BTF": _btf,
    "cgroup2": lambda: f"mounted at {printable(cgroups())}",
    "clock": _ticks,
    "compiler": _compiler,
    "sock_ops": _free,
}


def lines() -> Iterator[Line]:
    """Yield a line of `tcplearn live check` for the kernel's version, for each condition without which
    `tcplearn live` does not run, and for each setting that decides how much it can gain."""
    conditions = [Line("kernel", "note", f"Linux {platform.release()}"), *map(_asked, NEEDED)]
    yield from conditions
    yield _loaded(all(line.state != "no" for line in conditions))
    yield from found()


def needed_count() -> int:
    """Return how many results of lines(), the first ones, are conditions without which live does not run."""
    return 1 + len(NEEDED) + 1


def _asked(name: str) -> Line:
    try:
        return Line(name, "yes", NEEDED[name]())
    except FailedError as error:  # it could not be found out
        return Line(name, "note", f"not known: {error}")
    except UserError as error:
        return Line(name, "no", str(error))


def _loaded(is_possible: bool) -> Line:
    if not is_possible:
        return Line("program", "note", "not loaded: a condition above is not met")
    begun = time.monotonic()
    try:
        Program(Settings()).close()
    except UserError as error:
        return Line("program", "no", str(error))
    took_s = time.monotonic() - begun
    return Line("program", "yes", f"the kernel accepts it; compiled and verified in {took_s:.1f} s")


def found() -> Iterator[Line]:
    """Yield a line for each setting of this machine that decides how much learned minimum RTOs can gain."""
    try:
        need_bounds()
        yield Line("backoff", "yes", "it can be bounded in long outages: --backoff bounded")
    except UserError as error:
        yield Line("backoff", "no", str(error))
    if _sysctl("tcp_early_retrans") in ("3", "4"):
        yield Line("probes", "yes", "tail loss probes are on: a learned floor shortens them at once")
    else:
        text = "tail loss probes are off: a floor takes effect as RTTVAR falls, in some 20 rounds"
        yield Line("probes", "note", text)
    if _sysctl("tcp_timestamps") not in ("", "0"):
        yield Line("timestamps", "yes", "on: spurious retransmissions are recognized")
    else:
        text = "off: after each retransmission that may be spurious, the timer is longer"
        yield Line("timestamps", "note", text)
    own_us = _sysctl("tcp_rto_min_us")
    if own_us in ("", str(_STOCK_US)):
        yield Line("floor", "yes", "the kernel's floor is 200 ms; connections begin with it")
    elif int(own_us) > _STOCK_US:
        yield Line("floor", "no", f"tcp_rto_min_us is {own_us}: a floor above 200 ms is not lowered")
    else:
        yield Line("floor", "note", f"tcp_rto_min_us is {own_us}: a wait can be shortened by that at most")
    if routes := _routes():
        yield Line("routes", "note", f"{routes} have an rto_min of their own, which overrides learned floors")


def can_bound() -> bool:
    """Return whether the BPF program can bound the RTO's backoff (TCP_RTO_MAX_MS, Linux 6.15 or later)."""
    with socket.socket() as sock, contextlib.suppress(OSError):
        return sock.getsockopt(socket.IPPROTO_TCP, _TCP_RTO_MAX_MS) > 0
    return False


def need_bounds() -> None:
    """Raise UserError if the BPF program cannot bound the RTO's exponential backoff on this machine."""
    if not can_bound():
        raise UserError("--backoff bounded: this kernel has no TCP_RTO_MAX_MS (6.15 or later has it)")
    if int(_sysctl("tcp_retries2") or 0) < _RETRIES_TO_BOUND:
        raise UserError(
            f"--backoff bounded: net.ipv4.tcp_retries2 is below {_RETRIES_TO_BOUND}: "
            "with a bounded backoff the kernel would give up silent peers earlier"
        )


def _sysctl(name: str) -> str:
    try:
        return Path("/proc/sys/net/ipv4", name).read_text().strip()
    except OSError:
        return ""


def _routes() -> int:
    with contextlib.suppress(OSError):
        words = [debian.to_start("ip"), "route", "show", "table", "all"]
        shown = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        return sum(" rto_min " in f"{line} " for line in shown.splitlines())
    return 0
