# SPDX-License-Identifier: GPL-2.0-only
"""Checks when the kernel module allocates memory, how much, and which cgroup is charged for it."""

import os
import socket
import time
from pathlib import Path

from guest import enter, expect, in_namespace, sh, sysctl
from transfers import SERVER, connect, load, serve, use


def memory_kb(name):
    time.sleep(2)  # /proc/meminfo lags behind
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise KeyError(name)


def check_debug_memory_only_while_the_log_is_on():
    kept = Path("/proc/sys/vm/percpu_pagelist_high_fraction")
    before = kept.read_text()
    kept.write_text("1000000")  # shortens each processor's own lists of free pages, which MemFree leaves out
    free = [memory_kb("MemFree")]  # allocations reduce it from here on
    load("log_kb=60000")
    free.append(memory_kb("MemFree"))
    enter("c0")
    for on in (1, 0, 1, 0):
        sysctl("net.tcplearn.log", on)
        free.append(memory_kb("MemFree"))
    kept.write_text(before)
    unloaded, loaded, *switched = free
    said = f"free kB before loading, loaded, and with the log on, off, on, off: {free}"
    expect(unloaded - loaded < 30_000, said)
    for on, off in (switched[:2], switched[2:]):
        expect(loaded - on > 45_000 and loaded - off < 30_000, said)


def _slab_bytes(folder):
    stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    return int(stat["slab"])


def _slab_of(group, congestion, port):
    folder = Path("/sys/fs/cgroup", group)
    folder.mkdir()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        (folder / "cgroup.procs").write_text(str(os.getpid()))
        kept = []
        for _ in range(200):
            kept.append(connect(port, congestion))
            kept[-1].sendall(b"x" * 100)
        time.sleep(0.3)
        os.write(write, b"1")
        time.sleep(60)
        os._exit(0)
    os.read(read, 1)
    charged = _slab_bytes(folder)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return charged


def _groups():
    Path("/sys/fs/cgroup").mkdir(parents=True, exist_ok=True)
    sh("mount -t cgroup2 none /sys/fs/cgroup", check=False)
    Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+memory")


def check_connection_memory_is_charged():
    load()
    _groups()
    serve(5106)
    enter("c0")
    use("experts", log=0)
    plain = _slab_of("plain", b"cubic", 5106)
    ours = _slab_of("ours", b"tl-cubic", 5106)
    expect(ours - plain > 200 * 1000, f"{ours - plain} B charged for 200 connections with 100 experts each")


def write_sizes(path):
    lines = Path("/proc/slabinfo").read_text().splitlines()
    sizes = sorted((int(line.split()[3]), line.split()[0]) for line in lines if line.startswith("tcplearn_"))
    expect(sizes, "no slabs of ours")
    Path(path).write_text("".join(f"{name} {size} B\n" for size, name in sizes))


def _states():
    lines = Path("/proc/slabinfo").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("tcplearn_experts "))


def _accept(group, count, port, pipe):
    (group / "cgroup.procs").write_text(str(os.getpid()))
    enter("c1")
    listener = socket.socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"tl-cubic")
    listener.bind(("0.0.0.0", port))
    listener.listen(1000)
    os.write(pipe, b"l")
    kept = [listener.accept()[0] for _ in range(count)]
    os.write(pipe, b"a")
    time.sleep(3)
    for s in kept:
        s.sendall(b"x" * 100)
    time.sleep(1)
    os.write(pipe, b"s")
    time.sleep(60)


def check_a_passive_connection_takes_memory_when_it_first_sends():
    """Check that an accepted connection takes memory when it first sends, and that its owner's cgroup is
    charged for it."""
    load()
    _groups()
    group = Path("/sys/fs/cgroup/passive")
    group.mkdir()
    in_namespace("c1", lambda: use("experts", log=0))()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _accept(group, 400, 5122, write)
        os._exit(0)
    os.read(read, 1)
    enter("c0")
    kept = [socket.create_connection((SERVER, 5122)) for _ in range(400)]
    os.read(read, 1)
    expect(_states() == 0, f"{_states()} accepted connections that sent nothing have a state")
    before = _slab_bytes(group)
    os.read(read, 1)
    charged, states = _slab_bytes(group) - before, _states()
    os.kill(child, 9)
    os.waitpid(child, 0)
    expect(states >= 400, f"{states} states of {len(kept)} connections that have sent")
    expect(charged > 400 * 1000, f"{charged} B charged for {states} states with 100 experts each")
