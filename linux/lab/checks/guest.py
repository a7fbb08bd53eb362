# SPDX-License-Identifier: GPL-2.0-only
"""Provides functions that the checks in the virtual machine of `tcplearn lab` share: they set sysctls, enter
network namespaces, start processes and write each check's result."""

import ctypes
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

DEBUG = Path("/sys/kernel/debug/tcplearn")
MODULE = "/scenario/tcplearn.ko"


def sh(command, check=True):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def unprivileged(command):
    Path("/etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\nnobody:x:1000:1000:nobody:/:/bin/sh\n")
    Path("/tmp/command").write_text(command)
    return sh("su nobody -c 'unshare -U -r -n sh /tmp/command'", check=False).strip()


def enter(namespace):
    with Path("/run/netns", namespace).open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")


def sysctl(name, value=None):
    path = Path("/proc/sys", *name.split("."))
    if value is None:
        return path.read_text().strip()
    path.write_text(f"{value}\n")
    return str(value)


def counters():
    return {n: int(v) for n, v in (line.split() for line in (DEBUG / "counters").read_text().splitlines())}


def log_folder():
    return DEBUG / f"net-{Path('/proc/self/ns/net').stat().st_ino}"


def log_bytes():
    return b"".join(path.read_bytes() for path in sorted(log_folder().glob("log*")))


def nstat(name):
    for file in ("snmp", "netstat"):
        lines = Path("/proc/self/net", file).read_text().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            protocol, *keys = names.split()
            for key, value in zip(keys, values.split()[1:], strict=True):
                if protocol.rstrip(":") + key == name:
                    return int(value)
    raise KeyError(name)


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def in_child(function):
    """Run `function` in a child process. Return "", or the text of the exception that it raised."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            function()
            said = ""
        except AssertionError as error:
            said = str(error) or "failed"
        except BaseException:
            said = traceback.format_exc(limit=-3)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


def in_namespace(name, function):
    """Start `function` in a child process in the namespace `name`; return a function that waits for its
    result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            enter(name)
            os.write(write, json.dumps(function()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)

    def result():
        with os.fdopen(read) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        if not said:
            raise RuntimeError(f"a process in {name} failed")
        return json.loads(said)

    return result


def run_all(checks, out):
    """Run each of `checks`, pairs of a name and a function, in a child process. Write a line for each to the
    file `out`: its name, and "ok" or what failed."""
    with Path(out).open("w") as lines:
        for name, function in checks:
            said = " ".join(in_child(function).split())
            print(f"{name} {said or 'ok'}", file=lines, flush=True)
            print(f"{name} {said or 'ok'}", file=sys.stderr, flush=True)
