# SPDX-License-Identifier: GPL-2.0-only
"""Makes each memory allocation of the kernel module fail in turn. The module is built with FAIL_ALLOC=y:
after N is written to its parameter fail_alloc, the N-th allocation fails."""

import ctypes
import os
import socket
import time
from pathlib import Path

from guest import DEBUG, counters, enter, expect, in_child, in_namespace, log_folder, sh, sysctl
from transfers import SERVER, acks, connect, serve, transfer, use

FAILING = "/scenario/tcplearn_failing.ko"
PARAMETER = Path("/sys/module/tcplearn/parameters/fail_alloc")
CLONE_NEWNET = 0x40000000
TCP_CONGESTION = 13


def fails_next(n=1):
    PARAMETER.write_text(f"{n}\n")


def has_failed():
    return PARAMETER.read_text().strip() == "0"


def nothing_of_ours():
    found = [str(path) for path in (DEBUG, Path("/proc/sys/net/tcplearn"), PARAMETER) if path.exists()]
    found += [line for line in Path("/proc/slabinfo").read_text().splitlines() if line.startswith("tcplearn")]
    found += [n for n in sysctl("net.ipv4.tcp_available_congestion_control").split() if n.startswith("tl-")]
    return found


def _load_with_a_failing_allocation(n):
    said = sh(f"insmod {FAILING} fail_alloc={n} 2>&1 || true").strip()
    if said:
        expect("Cannot allocate memory" in said, f"allocation {n}: {said}")
        expect(not nothing_of_ours(), f"allocation {n}: {nothing_of_ours()} stay")
        return True, True
    has_so_many = has_failed()
    sh("rmmod tcplearn")
    expect(not nothing_of_ours(), f"allocation {n}, unloaded: {nothing_of_ours()} stay")
    return False, has_so_many


def check_an_allocation_that_fails_at_load():
    """Check that the module loads completely or not at all if one allocation fails."""
    tried, refused, n = 0, 0, 1
    while True:
        was_refused, has_so_many = _load_with_a_failing_allocation(n)
        if not has_so_many:
            break
        tried, refused = tried + 1, refused + was_refused
        n += 1
    sh(f"insmod {FAILING}")
    estimators = len(sysctl("net.tcplearn.available_estimators").split()) - 1  # not counting "stock"
    sh("rmmod tcplearn")
    expect(n > 2 * estimators > 50, f"only {n} allocations for {estimators} estimators, which have two each")
    expect(tried - refused < 10, f"{tried - refused} of {tried} did not stop it from loading")


def _said():
    """Return the lines of the kernel log about what the module assumes of the kernel, without their
    timestamps."""
    lines = (line.partition("tcplearn: ")[2] for line in sh("dmesg").splitlines())
    return [line for line in lines if "this kernel does not" in line or "assumes" in line]


def check_an_assumption_about_the_kernel_that_does_not_hold():
    """Check that the module is not loaded if an assumption about the kernel does not hold, and that it logs
    one line about this."""
    refused = []
    while True:
        before = len(_said())
        said = sh(f"insmod {FAILING} fail_assumption={len(refused) + 1} 2>&1 || true").strip()
        lines = set(_said()[before:])  # busybox's insmod tries twice
        if not said:
            break
        expect("not supported" in said and not nothing_of_ours(), f"{said}; {nothing_of_ours()} stay")
        expect(len(lines) == 1, f"it said {lines}")
        refused += lines
    sh("rmmod tcplearn")
    kept = all(line.startswith("not loaded: this kernel does not ") for line in refused)
    expect(not lines and kept and len(set(refused)) == 11, f"{refused}, and then {lines}")


def check_assumptions_that_cannot_be_tried_are_said():
    """Check that without the loopback device the module is loaded, and logs that it could not test what it
    assumes of the kernel."""
    before = len(_said())
    sh("/bin/ip link set lo down")
    try:
        sh(f"insmod {FAILING} fail_assumption=1")
    finally:
        sh("/bin/ip link set lo up")
    lines = _said()[before:]
    sh("rmmod tcplearn")
    expect(len(lines) == 1 and "could not try what it assumes" in lines[0], f"it said {lines}")


def _new_namespace():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    expect(sysctl("net.tcplearn.estimator") == "stock", "no settings")


def check_an_allocation_that_fails_in_a_new_namespace():
    sh(f"insmod {FAILING}")
    for n in (1, 2):
        fails_next(n)
        said = in_child(_new_namespace)
        expect("Errno 12" in said, f"allocation {n}: {said or 'there is a namespace'}")
        expect(has_failed(), f"allocation {n} did not fail")
    fails_next(3)
    expect(not in_child(_new_namespace) and not has_failed(), "there is a third allocation")
    fails_next(0)


def refused(name, value=None):
    """Read the sysctl `name` (or write `value` to it) by one system call, and return the error's text. (A
    Python file object would repeat a write that fails.)"""
    fd = os.open(f"/proc/sys/{name.replace('.', '/')}", os.O_RDONLY if value is None else os.O_WRONLY)
    try:
        _ = os.read(fd, 1000) if value is None else os.write(fd, value)
    except OSError as error:
        return error.strerror
    finally:
        os.close(fd)
    return "it was not refused"


def check_an_allocation_that_fails_in_a_setting():
    sh(f"insmod {FAILING} log_kb=256")
    enter("c0")
    fails_next()
    said = refused("net.tcplearn.available_estimators")
    expect(said == "Cannot allocate memory", f"available_estimators: {said}")
    fails_next()
    said = refused("net.tcplearn.startup", b"tsl-feedback")
    expect(said == "Cannot allocate memory" and has_failed(), f"startup: {said}")
    expect(sysctl("net.tcplearn.startup") == "stock", "startup was set without memory")
    for n in (1, 2):
        fails_next(n)
        said = refused("net.tcplearn.log", b"1")
        expect(said == "Cannot allocate memory" and has_failed(), f"log, allocation {n}: {said}")
        expect(sysctl("net.tcplearn.log") == "0" and not log_folder().exists(), f"log, {n}: it is on")
    fails_next(3)
    sysctl("net.tcplearn.log", 1)
    expect(log_folder().exists() and not has_failed(), "the log has a third allocation")
    fails_next(0)


def check_a_connection_without_memory_is_the_base():
    sh(f"insmod {FAILING}")
    serve(5120, answer=4000, congestion="tl-cubic")
    enter("c0")
    use("last")
    fails_next()
    transfer(5120, 50_000)
    expect(has_failed(), "nothing was allocated")
    now = counters()
    expect((now["fallbacks"], now["connections"], now["acks"]) == (1, 0, 0), f"it has a state: {now}")
    expect(not acks(log_folder().joinpath("log0").read_bytes()), "it is in the log")
    transfer(5120, 500_000)  # with 50 kB some kernels send too few ACKs
    now = counters()
    expect(now["connections"] == now["connections_ended"] == 1 and now["acks"] > 10, f"the next one: {now}")
    s = connect(5120)  # changing the algorithm later allocates again
    fails_next()
    s.sendall(b"x" * 1000)
    time.sleep(0.2)
    s.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, b"tl-reno")
    s.sendall(b"x" * 1000)
    time.sleep(0.2)
    expect(
        counters()["fallbacks"] == 2 and counters()["connections"] == 2, f"changed under way: {counters()}"
    )
    s.close()


def check_a_passive_connection_without_memory_is_the_base():
    sh(f"insmod {FAILING}")
    in_namespace("c1", lambda: use("last", log=0))()
    serve(5121, answer=4000, congestion="tl-cubic")
    enter("c0")
    fails_next()
    s = socket.create_connection((SERVER, 5121))
    s.sendall(b"x")
    got = 0
    while got < 4000:
        got += len(s.recv(4000))
    expect(counters()["fallbacks"] == 1 and has_failed(), f"it has a state: {counters()}")
    s.close()
