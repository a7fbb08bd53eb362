# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check this machine's kernel for what BPF programs need: its types (BTF), cgroups and timer ticks. Find the
cgroup of a systemd unit, and of a process or the container in which it runs."""

import gzip
import os
import platform
import re
from pathlib import Path

from tcplearn.errors import UserError, printable

BTF = Path("/sys/kernel/btf/vmlinux")  # the types of the kernel, which the loader needs
_UNITS = (".service", ".slice", ".scope")


def need_btf() -> None:
    if not BTF.exists():
        raise UserError(f"this kernel has no BTF (CONFIG_DEBUG_INFO_BTF): there is no {BTF}")


def cgroups() -> Path:
    for line in Path("/proc/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(folder)
    raise UserError("no cgroup2 is mounted here")


def cgroup_of(process: int) -> Path | None:
    """Return the folder of the cgroup of the process with the PID `process`, or None if it is in no cgroup of
    version 2. Raise OSError if there is no such process."""
    for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
        if line.startswith("0::/"):
            return cgroups() / line.removeprefix("0::/")
    return None


def cgroup_of_unit(name: str) -> Path:
    """Return the only cgroup with the name of the systemd unit `name`. Raise UserError."""
    wanted = {name} if name.endswith(_UNITS) else {name, f"{name}.service"}
    found = [Path(folder) for folder, _, _ in os.walk(cgroups()) if Path(folder).name in wanted]
    if not found:
        raise UserError(f"--unit {printable(name)}: no such cgroup; does the unit run? (systemctl status)")
    if len(found) > 1:
        raise UserError(f"--unit {printable(name)}: {len(found)} cgroups have this name; use --cgroup")
    return found[0]


def cgroup_of_process(pid: int) -> Path:
    """Return the cgroup of the process `pid`. Raise UserError."""
    try:
        found = cgroup_of(pid)
    except OSError as error:
        raise UserError(f"--pid {pid}: no such process") from error
    if found is None:
        raise UserError(f"--pid {pid}: it is in no cgroup of version 2")
    return found


def ticks_per_second() -> int:
    """Return CONFIG_HZ of the kernel, which takes RTOs in ticks. Raise UserError if it is not known."""
    packed, plain = Path("/proc/config.gz"), Path(f"/boot/config-{platform.release()}")
    text = gzip.decompress(packed.read_bytes()).decode() if packed.exists() else ""
    text = text or (plain.read_text() if plain.exists() else "")
    found = re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
    if not found:
        raise UserError(f"CONFIG_HZ is not known: neither {packed} nor {plain} has it")
    return int(found[1])
