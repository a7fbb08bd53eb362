# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the throughput and the lateness of the link of `tcplearn emulate` and, for comparison, of the
kernel's tbf between two veth devices in the same run:

python bench/emulate_link.py                # root; a quarter of a minute, and nothing else should run
python bench/emulate_link.py --seconds 1    # a short trial

There are two loads: a TCP connection that sends as much as it can over a link without a rate limit, and
datagrams of 1,500 bytes at 96 Mbit/s over a link of 100 Mbit/s. The lateness of a datagram is its arrival
time minus the time at which an ideal link would have delivered it: 0.12 ms after it was sent, and at least
0.12 ms after the datagram before it. The lateness includes the delay until the receiving program runs. TCP
segmentation offload is off on the veth devices, because TUN devices have none: packets have at most 1,500
bytes. The bucket of tbf lets it send ten packets at once if its timer was late."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tcplearn.emulate.ends import ADDRESSES
from tcplearn.output.markdown import table_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "tests" / "emulate"))
import datagrams

Words = list[str]
Link = Callable[[Path, int | None, Words, Words, int], int]
RESULT = "result.json"  # what `tcplearn emulate` reports of its last run
PORT = 7000
RATE_MBPS, EVERY_US, BYTES = 100, 125, 1500
PACKET_NS = BYTES * 8000 // RATE_MBPS
SINK = f"""
import json, socket, sys, time
with socket.create_server(("", {PORT})) as server:
    connection = server.accept()[0]
    begun_s, got = time.monotonic(), 0
    while part := connection.recv(1 << 18):
        got += len(part)
    open(sys.argv[1], "w").write(json.dumps(got * 8e-6 / (time.monotonic() - begun_s)))
"""
SOURCE = f"""
import os, socket, sys, time
end_s = time.monotonic() + float(sys.argv[1])
with socket.create_connection((os.environ["TCPLEARN_SERVER"], {PORT})) as sock:
    while time.monotonic() < end_s:
        sock.sendall(bytes(1 << 16))
time.sleep(0.3)
"""
_TSO_OFF = """
import array, fcntl, socket, struct
off = array.array("I", [0x1F, 0])  # ETHTOOL_STSO
with socket.socket() as sock:
    fcntl.ioctl(sock, 0x8946, struct.pack("16sQ16x", b"path0", off.buffer_info()[0]))  # SIOCETHTOOL
"""
NEAR, FAR = (f"tl-bench-{os.getpid()}-{side}" for side in ("near", "far"))


def emulated(folder: Path, rate_mbps: int | None, server: Words, client: Words, port: int) -> int:
    """Connect two TUN devices by `tcplearn emulate`. Run the command `server`, which listens on `port`, and
    `client` at the ends of the link; return the number of packets that crossed it. If `rate_mbps` is None,
    the link has no rate limit."""
    path, result = folder / "path.toml", folder / RESULT
    rate = f"rate_mbps = {rate_mbps}\n" if rate_mbps else ""
    path.write_text(f"[hop.link]\nqueue_packets = 1000\n{rate}")
    options = ["-q", "--json", "-o", result, "--late-limit-us", 10**9, "--server", shlex.join(server)]
    words = ["emulate", *options, "--wait-port", port, path, "--", *client]
    subprocess.run([sys.executable, "-m", "tcplearn", *map(str, words)], check=True)
    found = json.loads(result.read_text())
    return sum(int(found[side]["delivered"]) for side in ("forward", "reverse"))


def tbf(folder: Path, rate_mbps: int | None, server: Words, client: Words, port: int) -> int:
    """Connect two veth devices. Run the command `server`, which listens on `port`, and `client` at the ends
    of the link; return the number of packets that crossed it. The queueing discipline tbf limits the link's
    rate to `rate_mbps`; if this is None, the link has no rate limit."""
    with _veth(rate_mbps):
        before = _packets()
        given = {"env": {**os.environ, "TCPLEARN_SERVER": ADDRESSES["SERVER"]}}
        serving = subprocess.Popen(_within(FAR, *server), **given)
        while f":{port}" not in subprocess.check_output(_within(FAR, "ss", "-ltnH"), text=True):
            time.sleep(0.01)
        subprocess.run(_within(NEAR, *client), check=True, **given)
        serving.terminate()
        serving.wait()
        return _packets() - before


LINKS = {"tcplearn emulate": emulated, "veth and tbf": tbf}


def _within(namespace: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *words]


@contextlib.contextmanager
def _veth(rate_mbps: int | None) -> Iterator[None]:
    link = f"link add path0 netns {NEAR} type veth peer path0 netns {FAR}"
    try:
        made = f"netns add {NEAR}\nnetns add {FAR}\n{link}"
        subprocess.run(["ip", "-batch", "-"], input=made, text=True, check=True)
        for name, end in ((NEAR, "CLIENT"), (FAR, "SERVER")):
            up = f"link set path0 up\naddr add {ADDRESSES[end]}/30 dev path0"
            subprocess.run(["ip", "-n", name, "-batch", "-"], input=up, text=True, check=True)
            subprocess.run(_within(name, sys.executable, "-c", _TSO_OFF), check=True)
            if rate_mbps:
                rate = f"qdisc add dev path0 root tbf rate {rate_mbps}mbit burst 15140 limit 1500000"
                subprocess.run(["tc", "-n", name, *rate.split()], check=True)
        yield
    finally:
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "del", name], check=False)


def _packets() -> int:
    shown = subprocess.check_output(["ip", "-n", NEAR, "-s", "-j", "link", "show", "path0"], text=True)
    return sum(int(json.loads(shown)[0]["stats64"][way]["packets"]) for way in ("tx", "rx"))


def bulk(link: Link, folder: Path, seconds: float) -> tuple[float, float]:
    """Send over one TCP connection for `seconds`. Return the thousands of packets per second, in both
    directions together, and the throughput in Mbit/s."""
    got = folder / "got.json"
    server = [sys.executable, "-c", SINK, str(got)]
    packets = link(folder, None, server, [sys.executable, "-c", SOURCE, str(seconds)], PORT)
    return packets / seconds / 1000, json.loads(got.read_text())


def paced(link: Link, folder: Path, seconds: float) -> tuple[float, list[float]]:
    """Send datagrams at a constant rate for `seconds`. Return the share that arrived, and the median, the
    99th percentile and the maximum of their delay beyond that of an ideal link, in ms."""
    seen, count = folder / "seen.json", round(seconds * 1e6 / EVERY_US)
    server = [sys.executable, datagrams.__file__, "receive", str(seen)]
    send = ["send", str(count), str(BYTES), str(EVERY_US), "0.2"]
    link(folder, RATE_MBPS, server, [sys.executable, datagrams.__file__, *send], datagrams.PORT)
    rows = np.array(json.loads(seen.read_text()), np.int64)
    waited_ns = np.arange(1, len(rows) + 1) * PACKET_NS
    due_ns = np.maximum.accumulate(rows[:, 1] + PACKET_NS - waited_ns) + waited_ns
    late_ms = (rows[:, 2] - due_ns) / 1e6
    return len(rows) / count, [float(np.quantile(late_ms, q)) for q in (0.5, 0.99, 1)]


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each load (default: 3)")
    seconds = parser.parse_args().seconds
    rows = []
    with tempfile.TemporaryDirectory() as made:
        for name, link in LINKS.items():
            packets, mbps = bulk(link, Path(made), seconds)
            share, late_ms = paced(link, Path(made), seconds)
            late_texts = (f"{ms:.2f}" for ms in late_ms)
            rows.append([name, f"{packets:.0f}", f"{mbps:.0f}", f"{share:.1%}", *late_texts])
        late = json.loads((Path(made) / RESULT).read_text())["late_us"]
    late_heads = (f"late, ms: {q}" for q in ("p50", "p99", "most"))
    heads = ["link", "1,000 packets/s", "Mbit/s", "arrived", *late_heads]
    print(table_of(heads, rows, [True, *[False] * 6]))
    figures = f"{late['p50']} us (median), {late['p99']} us (p99), {late['max']} us (most)"
    print(f"\nAt 100 Mbit/s the emulator was late by {figures} of {late['packets']} packets.")


if __name__ == "__main__":
    main()
