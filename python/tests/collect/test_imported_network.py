# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn collect --import` of the output of hping3, traceroute and tcptraceroute for emulated hosts
with known RTT, hops and port. The tools write to a terminal, to one file, or to two files."""

from __future__ import annotations

import re
import shlex
import shutil
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from emulated_network import PORT, ROUTERS, Network, Place, network

from tcplearn.collect import imported
from tcplearn.collect.rows import Row
from tcplearn.errors import UserError

TOOLS = ("hping3", "traceroute", "tcptraceroute", "script")
pytestmark = pytest.mark.skipif(
    any(not shutil.which(tool) for tool in TOOLS), reason=f"{', '.join(TOOLS)}: not all installed"
)
STEP_MS = 4.0
PLACES = [Place(hops=hops, rtt_ms=4 + hops, step_ms=STEP_MS) for hops in range(1, ROUTERS + 1)]
SILENT = Place(hops=4, rtt_ms=5, filtered=True)


@dataclass(frozen=True)
class Host:
    address: str
    port: int
    state: str
    hops: int | None = None
    rtt_ms: float = 0.0

    most: int = ROUTERS + 3  # hops, for a traceroute

    def __str__(self) -> str:
        return self.address


def hosts_of(count: int) -> list[list[Host]]:
    """Return `count` hosts that answer, grouped by the path that they share, and some on one path that do
    not."""
    paths = []
    for k, place in enumerate(PLACES, 1):
        addresses = range(1, count // len(PLACES) + 1)
        paths.append(
            [
                Host(
                    f"10.99.{k}.{n}",
                    PORT + n % 2,
                    "closed" if n % 2 else "open",
                    place.hops,
                    place.rtt_ms + (n - 1) * STEP_MS,
                )
                for n in addresses
            ]
        )
    silent = len(PLACES) + 1
    paths[0] += [Host(f"10.99.{silent}.1", PORT, "silent", most=SILENT.hops + 1)]
    paths[1] += [Host("10.99.200.1", PORT, "unreachable")]
    return paths


#: What is typed for a host.
COMMANDS = {
    "hping3": "hping3 -S -p {port} -c 3 -i u20000 {host}",
    "hping3 -V": "hping3 -S -p {port} -c 3 -i u20000 -V {host}",
    "hping3 -q": "hping3 -S -p {port} -c 3 -i u20000 -q {host}",
    "hping3 --traceroute": "hping3 --traceroute -V -S -p {port} -c 16 -i u60000 {host}",
    "traceroute": "traceroute -n -w 0.3 -m {most} {host}",
    "traceroute -I": "traceroute -n -I -w 0.3 -m {most} {host}",
    "traceroute -T": "traceroute -T -O info -p {port} -q 1 -w 0.3 -m {most} {host}",
    "tcptraceroute": "tcptraceroute -n -q 1 -w 1 -m {most} {host} {port}",
}
PINGS = ("hping3", "hping3 -V", "hping3 -q", "hping3 --traceroute")


def printed(made: Network, paths: Sequence[Sequence[Host]], tool: str, how: str, folder: Path) -> list[Path]:
    """Run a tool for each host, one after another on a path, all paths side by side; return its logs."""
    running, logs = [], []
    for k, hosts in enumerate(paths):
        log, errors, script = (folder / f"{k}.{suffix}" for suffix in ("log", "err", "sh"))
        lines = [COMMANDS[tool].format(host=host, port=host.port, most=host.most) for host in hosts]
        if how == "both":
            lines = [f"{line} >>{shlex.quote(str(log))} 2>&1" for line in lines]
        elif how == "apart":
            lines = [f"{line} >>{shlex.quote(str(log))} 2>>{shlex.quote(str(errors))}" for line in lines]
            logs.append(errors)
        script.write_text("\n".join(lines))
        logs.append(log)
        command = ["sh", str(script)]
        if how == "terminal":
            command = ["script", "-qc", shlex.join(command), str(log)]
        running.append(
            subprocess.Popen(["ip", "netns", "exec", made.client, *command], stdout=subprocess.DEVNULL)
        )
    for process in running:
        process.wait(timeout=300)
    return [log for log in logs if log.exists() and log.stat().st_size]


def answers_ms(logs: Sequence[Path]) -> dict[str, list[float]]:
    """Return pairs of an address and an RTT that hping3 printed for it, found without the importer under
    test."""
    out: dict[str, list[float]] = defaultdict(list)
    for log in logs:
        text = re.sub(r"\r", "", log.read_text())
        text = re.sub(r"\n--- .*\n.*\n.*\n", "", text)
        for address, rtt_ms in re.findall(r"len=\d+ ip=(\S+)[^=]*=(?:.|\n)*?rtt=(\S+) ms", text):
            out[address].append(float(rtt_ms))
    return out


def is_printed(row: Row, logs: Sequence[Path]) -> bool:
    """Return whether a line of the logs that names the host of `row` contains the least RTT of `row`."""
    assert row.rtt_min_us is not None
    lines = (line for log in logs for line in log.read_text().splitlines() if row.address in line)
    numbers = (float(number) for line in lines for number in re.findall(r"(?<![\d.])\d+\.\d+(?![\d.])", line))
    return any(abs(number * 1000 - row.rtt_min_us) < 1 for number in numbers)


def check(rows: Sequence[Row], paths: Sequence[Sequence[Host]], tool: str, logs: Sequence[Path]) -> None:
    """Check the imported rows against the hosts. An answer that was late because the machine was busy must
    have the time that the tool printed for that host."""
    by_address = {row.address: row for row in rows}
    hosts = [host for path in paths for host in path]
    assert len(rows) == len(by_address) and set(by_address) == {host.address for host in hosts}
    late_ms = []
    for host in hosts:
        row = by_address[host.address]
        sure = tool in ("hping3", "hping3 -V", "hping3 --traceroute", "tcptraceroute", "traceroute -T")
        answered = host.hops is not None
        if host.state == "unreachable":  # as often as the kernel says so
            assert row.state in ("unreachable", "silent"), row
        else:
            assert row.state == (host.state if sure or not answered else "answered"), row
        assert row.port == (host.port if answered and sure and tool != "traceroute -T" else row.port), row
        assert row.hops == (host.hops if tool in COMMANDS and tool not in PINGS[:3] else None), row
        if row.ttl is not None:
            assert host.hops is not None and row.ttl == 64 - host.hops, row
        if not answered:
            assert (row.rtt_min_us, row.samples) == (None, 0), row
            continue
        assert row.rtt_min_us is not None and row.samples and (row.sent is None or row.sent >= row.samples)
        late_ms.append(row.rtt_min_us / 1000 - host.rtt_ms)
        assert late_ms[-1] > -0.2 and (late_ms[-1] < 60 or is_printed(row, logs)), (row, host)
    assert statistics.median(late_ms) < 2 * STEP_MS


def whole(logs: Sequence[Path], paths: Sequence[Sequence[Host]]) -> tuple[list[Path], list[Sequence[Host]]]:
    """Return the logs and paths without a path whose log is refused, which may be one at most: the timer of
    hping3 interrupts its writes to a terminal, so that a line may be missing."""
    kept = []
    for log, path in zip(logs, paths, strict=True):
        try:
            imported.read([log])
        except UserError as error:
            assert "hping3" in str(error) or "HPING" in str(error)
        else:
            kept.append((log, path))
    assert len(kept) >= len(paths) - 1
    return [log for log, _ in kept], [path for _, path in kept]


def measure(made: Network, paths: Sequence[Sequence[Host]], tool: str, how: str, folder: Path) -> None:
    logs = printed(made, paths, tool, how, folder)
    if how == "terminal":
        logs, paths = whole(logs, paths)
    rows = imported.read(logs)
    check(rows, paths, tool, logs)
    if tool in PINGS and tool != "hping3 -q":
        truth = answers_ms(logs)
        for row in rows:
            kept = [float(rtt_us) / 1000 for rtt_us in row.rtts_us.split()]
            assert kept == [rtt_ms for rtt_ms in truth.get(row.address, []) if rtt_ms in kept], row
            assert row.samples == len(truth.get(row.address, [])), row


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with network([*PLACES, SILENT], tmp_path_factory.mktemp("network")) as out:
        yield out


WAYS = [
    (tool, how)
    for tool in COMMANDS
    for how in ("terminal", "both", "apart")
    if how != "terminal" or tool in ("hping3 -V", "hping3 --traceroute", "tcptraceroute")
]


#: These have in them what the others are made of.
QUICK = [
    ("hping3 -V", "both"),
    ("hping3 --traceroute", "both"),
    ("hping3 --traceroute", "terminal"),
    ("traceroute -T", "both"),
    ("tcptraceroute", "apart"),
]


@pytest.mark.parametrize(("tool", "how"), QUICK)
def test_twenty_hosts(made: Network, tool: str, how: str, tmp_path: Path) -> None:
    measure(made, hosts_of(16), tool, how, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize(("tool", "how"), WAYS)
def test_four_hundred_hosts(made: Network, tool: str, how: str, tmp_path: Path) -> None:
    measure(made, hosts_of(400), tool, how, tmp_path)


def test_pings_and_traceroutes_make_one_row(made: Network, tmp_path: Path) -> None:
    """Test one file that has both the pings and the traceroutes of each host, as baddam2018 collected them:
    each host must have one row."""
    paths = hosts_of(16)
    for tool in ("hping3 -V", "traceroute -T"):
        logs = printed(made, paths, tool, "both", tmp_path)
    by_address = {row.address: row for row in imported.read(logs)}
    for host in (host for path in paths for host in path):
        row = by_address[host.address]
        assert (row.hops, row.method) == (host.hops, "hping3+traceroute")
        assert row.samples == (4 if host.hops else 0) and (row.state == host.state or not host.hops), row
