# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the BPF programs need of this machine's kernel."""

import gzip
import platform
import re
from pathlib import Path

from tcplearn.errors import UserError

BTF = Path("/sys/kernel/btf/vmlinux")  # the types of the kernel, which the loader needs


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
    """Return the cgroup of a process, below the mounted cgroup2; None if it is in none of version 2. Raise
    OSError if there is no such process."""
    for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
        if line.startswith("0::/"):
            return cgroups() / line.removeprefix("0::/")
    return None


def ticks_per_second() -> int:
    """Return the kernel's CONFIG_HZ, because it takes RTOs in timer ticks. Raise UserError if unknown."""
    packed, plain = Path("/proc/config.gz"), Path(f"/boot/config-{platform.release()}")
    text = gzip.decompress(packed.read_bytes()).decode() if packed.exists() else ""
    text = text or (plain.read_text() if plain.exists() else "")
    found = re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
    if not found:
        raise UserError(f"CONFIG_HZ is not known: neither {packed} nor {plain} has it")
    return int(found[1])
