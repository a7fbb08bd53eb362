# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Installs the kernel module on this machine by DKMS, loads it, shows its state and removes it."""

import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tcplearn import losses
from tcplearn.checkout import ROOT, output_of
from tcplearn.errors import FailedError, UserError

SOURCES = ROOT / "linux" / "module"
SUPPORTED = re.compile(r"(6\.([1-9]|1[0-2])|7\.[23])\.")  # as BUILD_EXCLUSIVE_KERNEL of dkms.conf
_SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_PACKAGE = "var/lib/dpkg/info/tcplearn-dkms.list"  # there while Debian's package is installed
Run = Callable[[Sequence[str]], str]


@dataclass
class System:
    """The machine on which the kernel module is installed."""

    root: Path = Path("/")  # tests give another folder
    run: Run = output_of  # tests give a function that records commands
    kernel: str = field(default_factory=platform.release)
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)
    which: Callable[[str], str | None] = shutil.which

    def text(self, path: str) -> str:
        try:
            return (self.root / path).read_text().strip()
        except OSError:
            return ""

    def sysctl(self, name: str) -> str:
        return self.text("proc/sys/" + name.replace(".", "/"))

    @property
    def kernels(self) -> list[str]:
        folders = sorted((self.root / "lib/modules").glob("*/build"))
        return [folder.parent.name for folder in folders if SUPPORTED.match(folder.parent.name)]

    @property
    def users(self) -> int | None:
        """Return how many references the kernel holds to the loaded module, or None without the module."""
        for line in self.text("proc/modules").splitlines():
            words = line.split()
            if words[0] == "tcplearn":
                return int(words[2])
        return None


def version() -> str:
    found = re.search(r'^PACKAGE_VERSION="(.*)"', (SOURCES / "dkms.conf").read_text(), re.MULTILINE)
    return found[1] if found else ""


def _obstacles(system: System) -> Iterator[str]:
    if (system.root / _PACKAGE).exists():
        yield "the package tcplearn-dkms builds the module here: sudo modprobe tcplearn loads it"
    if not system.is_root:
        yield "the module is for the administrator to install: sudo tcplearn module install"
    if not (system.root / "proc/modules").exists():
        yield "this kernel takes no modules"
    if system.sysctl("kernel.modules_disabled") == "1":
        yield "this kernel takes no more modules until it is started again (kernel.modules_disabled)"
    secure_boot = system.root / _SECURE_BOOT
    if secure_boot.exists() and secure_boot.read_bytes()[-1:] == b"\1":
        yield "Secure Boot is on: the kernel takes signed modules only, and this one is not signed"
    if "[none]" not in (system.text("sys/kernel/security/lockdown") or "[none]"):
        yield "the kernel is locked down (/sys/kernel/security/lockdown): it takes signed modules only"
    if not SUPPORTED.match(system.kernel):
        yield f"Linux {system.kernel} is not supported: 6.1 to 6.12, 7.2 and 7.3 are"
    if not (system.root / "lib/modules" / system.kernel / "build").exists():
        yield f"the headers of {system.kernel} are missing: apt-get install linux-headers-{system.kernel}"
    if not system.which("dkms"):
        yield "DKMS is missing: apt-get install dkms"


SETTINGS = ("estimator", "resend", "resend_places", "loss", "loss_model", "startup", "log")


def install(system: System) -> list[str]:
    """Build the kernel module for all installed kernels of `system` that are supported, and load it; undo
    this if a step fails. Return a report. Raise UserError if the module cannot be installed there."""
    for obstacle in _obstacles(system):
        raise UserError(obstacle)
    if system.users is not None:
        raise UserError("the module is loaded: tcplearn module remove first")
    name, destination = f"tcplearn/{version()}", str(system.root).removesuffix("/")
    _forget(system)
    try:
        system.run(["make", "-s", "-C", str(SOURCES), "dkms-tree", f"DESTDIR={destination}"])
        for kernel in system.kernels:
            system.run(["dkms", "install", name, "-k", kernel])
        system.run(["modprobe", "tcplearn"])
    except BaseException:
        _forget(system)
        raise
    return [
        f"built for {', '.join(system.kernels)}, and loaded",
        "no connection uses it until, for example: "
        "sysctl net.tcplearn.estimator=tracking net.ipv4.tcp_congestion_control=tl-cubic",
    ]


def status(system: System) -> list[str]:
    users = system.users
    lines = [f"loaded: {'no' if users is None else f'yes, {users} references'}"]
    built = sorted((system.root / "lib/modules").glob("*/updates/dkms/tcplearn.ko*"))
    lines.append("built for: " + (", ".join(path.parents[2].name for path in built) or "no kernel"))
    if users is not None:
        lines += [
            f"{key}: {system.sysctl(key)}"
            for key in ("net.ipv4.tcp_congestion_control", *(f"net.tcplearn.{name}" for name in SETTINGS))
        ]
    return lines


def choose_loss(system: System, spec: str) -> list[str]:
    """Make the loaded kernel module use the loss classifier `spec`, with its model if `spec` names a file;
    return a report. Raise UserError, or FailedError if the kernel refuses the classifier."""
    it = losses.chosen(spec)
    if not system.is_root:
        raise UserError("settings of the module are for the administrator: sudo tcplearn module loss")
    if system.users is None:
        raise UserError("the module is not loaded: tcplearn module install first")
    written = [("loss_model", f"{it.weights}\n")] if it.weights else []
    for name, text in (*written, ("loss", f"{it.spec}\n")):
        path = system.root / "proc/sys/net/tcplearn" / name
        try:
            file = os.open(path, os.O_WRONLY)
            try:
                os.write(file, text.encode())  # at once, as the kernel needs it
            finally:
                os.close(file)
        except FileNotFoundError as error:
            raise UserError(f"the loaded module has no net.tcplearn.{name}: install this version") from error
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise FailedError(f"net.tcplearn.{name}: the kernel refuses it ({why}); see dmesg") from error
    lines = [f"net.tcplearn.loss: {it.spec}"]
    if it.weights:
        lines.append(f"net.tcplearn.loss_model: {system.sysctl('net.tcplearn.loss_model').split()[0]}")
    chosen = system.sysctl("net.ipv4.tcp_congestion_control")
    if not chosen.startswith("tl-"):
        lines.append("no connection uses it until: sysctl net.ipv4.tcp_congestion_control=tl-cubic")
    return lines


def remove(system: System) -> list[str]:
    """Remove the kernel module from `system`; return a report. Raise UserError without root rights, and
    FailedError while the module is in use."""
    if not system.is_root:
        raise UserError("the module is for the administrator to remove: sudo tcplearn module remove")
    lines = []
    if system.users is not None:
        chosen = system.sysctl("net.ipv4.tcp_congestion_control")
        if chosen.startswith("tl-"):
            system.run(["sysctl", "-qw", f"net.ipv4.tcp_congestion_control={chosen.removeprefix('tl-')}"])
            lines.append(f"new connections use {chosen.removeprefix('tl-')} again")
        if users := system.users:
            raise FailedError(
                f"the module is in use ({users} references: connections, or the default of a namespace); "
                "it can be removed when they have ended"
            )
        system.run(["rmmod", "tcplearn"])
    if (system.root / _PACKAGE).exists():
        return [*lines, "not loaded; apt-get remove tcplearn-dkms removes its files"]
    _forget(system)
    return [*lines, "removed"]


def _forget(system: System) -> None:
    if system.which("dkms") and (system.root / "var/lib/dkms/tcplearn" / version()).exists():
        system.run(["dkms", "remove", f"tcplearn/{version()}", "--all"])
    shutil.rmtree(system.root / "usr/src" / f"tcplearn-{version()}", ignore_errors=True)
