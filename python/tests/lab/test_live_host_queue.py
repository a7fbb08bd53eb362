# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test requests under `tcplearn live` that wait in a queue of their own host. Once the floor of a connection
has fallen, neither the program nor the kernel can lengthen its RTO before the queue makes the timer fire; the
next connections to the same host have stock timers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcplearn.bpf import build
from tcplearn.errors import UserError
from tcplearn.lab import machine
from tcplearn.live import arms, program

HZ = 250  # of the guests' kernels
STOCK_MS = 200.0
INITIAL_CWND = 10
SCRIPT = """#!/bin/busybox sh
. /scenario/lib.sh
. /scenario/programs.sh
. /scenario/first_rto.sh
kernel_modules veth sch_netem sch_tbf
namespaces c s
link c r0 10.0.0.1 s l0 10.0.0.2
ip -n c link set r0 gso_max_segs 64
qdisc c r0 root tbf rate 2mbit burst 3000 latency 4s
qdisc s l0 root netem limit 1000 delay 4ms
mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -t bpf bpf /sys/fs/bpf
mkdir /sys/fs/cgroup/server
in_cgroup server s python3 /scenario/host_queue.py sink >/out/server &
until [ -s /out/server ]; do sleep 0.1; done
for share in ours control; do
	program=/sys/fs/bpf/$share maps=/sys/fs/bpf/maps-$share
	mkdir "/sys/fs/cgroup/$share"
	bpftool prog load /scenario/live.o "$program" type sockops pinmaps "$maps"
	bpftool map update pinned "$maps/settings" key 0 0 0 0 value $(cat "/scenario/$share.settings")
	bpftool cgroup attach "/sys/fs/cgroup/$share" sock_ops pinned "$program"
	in_cgroup "$share" c python3 /scenario/host_queue.py ask 10.0.0.2 80 60 3 >"/out/$share.json"
done
"""


@pytest.mark.parametrize(
    "kernel", ["6.1", *(pytest.param(k, marks=pytest.mark.full) for k in ("6.12", "7.3"))]
)
def test_a_queue_of_this_host_makes_the_next_connections_stock(kernel: str, tmp_path: Path) -> None:
    try:
        files = [build.compiled(program.SOURCE, tmp_path / "live.o")]
    except UserError as error:
        pytest.skip(str(error))
    for name, share in (("ours", arms.WHOLE), ("control", 0)):
        files.append(tmp_path / f"{name}.settings")
        packed = program.Settings(share=share).packed(ticks_per_second=HZ)
        files[-1].write_text(" ".join(f"{byte:#04x}" for byte in packed))
    files.append(Path(__file__).with_name("host_queue.py"))
    guest = machine.prepare(machine.cache_folder(), programs=True, kernel=kernel)
    out = tmp_path / "out"
    machine.run(guest, SCRIPT, out, seed=1, limit_s=900, files=files)
    first, *others = json.loads((out / "ours.json").read_text())
    assert min(first["rto_ms"]) < STOCK_MS / 4, "the floor has not fallen, so the queue is no trial"
    assert first["timeouts"] > 0, "a timer that no longer ends in the queue: the page says otherwise"
    for one in (*others, *json.loads((out / "control.json").read_text())):
        assert (one["timeouts"], one["cwnd"]) == (0, INITIAL_CWND)
        assert min(one["rto_ms"]) > STOCK_MS
