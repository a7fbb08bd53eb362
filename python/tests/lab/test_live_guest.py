# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the BPF program of `tcplearn live` on Debian's kernels: it loads, it lowers the floors, the next
connection begins with the lower floor, and the control group keeps the stock floor."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tcplearn.bpf import build
from tcplearn.errors import UserError
from tcplearn.lab import machine
from tcplearn.live.arms import WHOLE
from tcplearn.live.program import SOURCE, Settings

TALK = Path(__file__).parents[1] / "live" / "small_talk.py"
HZ = 250  # of the guests' kernels
STOCK_MS = 200.0
EACH = 60  # requests on a connection
#: Two network namespaces, 4 ms apart, and a cgroup for each share of the connections that get floors.
SCRIPT = f"""#!/bin/busybox sh
. /scenario/lib.sh
. /scenario/programs.sh
. /scenario/first_rto.sh
kernel_modules veth sch_netem
namespaces c s
link c r0 10.0.0.1 s l0 10.0.0.2
qdisc c r0 root netem limit 1000 delay 2ms
qdisc s l0 root netem limit 1000 delay 2ms
mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -t bpf bpf /sys/fs/bpf
mkdir /sys/fs/cgroup/server
in_cgroup server s python3 /scenario/live_talk.py serve >/out/server &
for share in ours control; do
	program=/sys/fs/bpf/$share maps=/sys/fs/bpf/maps-$share
	mkdir "/sys/fs/cgroup/$share"
	bpftool ${{DEBUG:-}} prog load /scenario/live.o "$program" type sockops \\
		pinmaps "$maps" 2>"/out/$share.log"
	bpftool map update pinned "$maps/settings" key 0 0 0 0 value $(cat "/scenario/$share.settings")
	bpftool cgroup attach "/sys/fs/cgroup/$share" sock_ops pinned "$program"
	until [ -s /out/server ]; do sleep 0.1; done
	in_cgroup "$share" c python3 /scenario/live_talk.py ask 10.0.0.2 {2 * EACH} 2 1 {EACH} >"/out/$share.json"
done
"""


def _files(folder: Path) -> list[Path]:
    try:
        files = [build.compiled(SOURCE, folder / "live.o")]
    except UserError as error:
        pytest.skip(str(error))
    for name, share in (("ours", WHOLE), ("control", 0)):
        files.append(folder / f"{name}.settings")
        packed = Settings(share=share).packed(ticks_per_second=HZ)
        files[-1].write_text(" ".join(f"{byte:#04x}" for byte in packed))
    files.append(Path(shutil.copy(TALK, folder / "live_talk.py")))
    return files


def _ran(kernel: str, folder: Path, limit_s: int = 600, **settings: str) -> Path:
    """Run the script in a guest, and return the folder with what it wrote. `settings` are variables of the
    script: with DEBUG=-d the logs of bpftool have the verifier's."""
    guest = machine.prepare(machine.cache_folder(), programs=True, kernel=kernel)
    boot = machine.Boot(settings=tuple(f"{name}={value}" for name, value in settings.items()))
    machine.run(guest, SCRIPT, folder / "out", seed=1, limit_s=limit_s, files=_files(folder), boot=boot)
    return folder / "out"


@pytest.mark.full
@pytest.mark.parametrize("kernel", ["6.1", "6.12", "7.3"])
def test_steps_of_the_verifier(kernel: str, tmp_path: Path) -> None:
    """Test that the verifier needs less than half of the million steps that it may take. Its log is so long
    that the guest takes minutes to write it."""
    out = _ran(kernel, tmp_path, limit_s=1800, DEBUG="-d")
    for name in ("ours", "control"):
        log = (out / f"{name}.log").read_text()
        assert "processed" in log, log[-2000:]
        steps = int(log.split("processed ")[1].split()[0])
        print(f"Linux {kernel}: {steps} steps of the verifier")
        assert steps < 500_000


@pytest.mark.parametrize(
    "kernel", ["6.1", *(pytest.param(k, marks=pytest.mark.full) for k in ("6.12", "7.3"))]
)
def test_floors_fall_on_each_kernel(kernel: str, tmp_path: Path) -> None:
    out = _ran(kernel, tmp_path)
    rto_ms = json.loads((out / "ours.json").read_text())["rto_ms"]
    assert rto_ms[0] > STOCK_MS and rto_ms[EACH - 1] < STOCK_MS / 2, rto_ms
    assert rto_ms[EACH] < STOCK_MS / 2, rto_ms  # of the next connection
    assert min(json.loads((out / "control.json").read_text())["rto_ms"]) > STOCK_MS
