# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs live_traffic.c for bench/live_load.py, in a cgroup made for it, and each run in a network namespace of
its own. Other cgroups are not affected."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn.live.command import own_cgroup
from tcplearn.live.conditions import here, need_all, need_free
from tcplearn.live.program import Program, Settings

_SOURCE = Path(__file__).with_suffix(".c")
_READY = (
    "ip link set lo up && echo 10000 65535 >/proc/sys/net/ipv4/ip_local_port_range && "
    # the machine's default congestion control may be another than cubic
    "for to in 127.0.0.0/8 127.0.0.1; do"
    " ip route replace local $to dev lo table local src 127.0.0.1 congctl cubic; done && "
)


@dataclass(frozen=True)
class Traffic:
    program: Path
    cgroup: Path

    def popen(self, *words: object, **options: Any) -> subprocess.Popen[str]:
        """Start live_traffic with the arguments `words`."""
        script = (
            f"echo $$ >{self.cgroup}/cgroup.procs && {_READY} exec {self.program} {' '.join(map(str, words))}"
        )
        return subprocess.Popen(
            ["unshare", "--net", "sh", "-c", script], text=True, stdout=subprocess.PIPE, **options
        )

    def run(self, *words: object) -> tuple[float, float]:
        """Run live_traffic with the arguments `words`. Return the time that it took and its CPU time, both
        in seconds."""
        with self.popen(*words) as process:
            output = process.communicate()[0]
        if process.returncode:
            raise SystemExit(f"live_traffic {' '.join(map(str, words))}: failed")
        wall_s, cpu_s = map(float, output.split())
        return wall_s, cpu_s

    @contextlib.contextmanager
    def live(self) -> Iterator[int]:
        """Attach the BPF program of `tcplearn live`, which sets learned minimum RTOs on all connections.
        Yield the descriptor of the link."""
        with Program(Settings()) as program:
            yield program.attach(self.cgroup)[0]

    @contextlib.contextmanager
    def elsewhere(self) -> Iterator[Traffic]:
        """Yield a `Traffic` that runs the same program in another cgroup."""
        with own_cgroup() as cgroup:
            yield Traffic(self.program, cgroup)


@contextlib.contextmanager
def made() -> Iterator[Traffic]:
    """Compile live_traffic.c and make a cgroup to which `tcplearn live` is not attached. Yield a `Traffic`
    with both. Raise UserError if `tcplearn live` cannot be loaded on this machine."""
    need_all()
    need_free(here())
    with tempfile.TemporaryDirectory() as folder, own_cgroup() as cgroup:
        program = Path(folder) / "live_traffic"
        subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-o", program, _SOURCE], check=True)
        yield Traffic(program, cgroup)
