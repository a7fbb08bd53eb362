# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn collect`: lists of hosts, imported output of other tools, its rate, its journal, and bad
input. Packets are sent to this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import struct
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest

from tcplearn.cli.app import main
from tcplearn.collect import connect, imported, raw, rows
from tcplearn.collect.hosts import Target, targets_of
from tcplearn.collect.probe import Answer, Destination, Pacer, Reply
from tcplearn.collect.raw import RawProber

HPING = """\
HPING site.example (eth0 192.0.2.7): S set, 40 headers + 0 data bytes
len=44 ip=192.0.2.7 ttl=54 DF id=0 sport=80 flags=SA seq=0 win=29200 rtt=7.9 ms
len=44 ip=192.0.2.7 ttl=54 DF id=0 sport=80 flags=SA seq=1 win=29200 rtt=8.0 ms
len=44 ip=192.0.2.7 ttl=54 DF id=0 sport=80 flags=SA seq=3 win=29200 rtt=8.4 ms

--- site.example hping statistic ---
4 packets transmitted, 3 packets received, 25% packet loss
round-trip min/avg/max = 7.9/8.1/8.4 ms
"""
QUIET = """\
HPING other.example (eth0 192.0.2.8): S set, 40 headers + 0 data bytes

--- other.example hping statistic ---
5 packets tramitted, 5 packets received, 0% packet loss
round-trip min/avg/max = 90.8/90.9/91.1 ms
"""
TRACEROUTE = """\
Selected device eth0, address 198.51.100.4, port 54321 for outgoing packets
Tracing the path to site.example (192.0.2.7) on TCP port 80 (http), 30 hops max
 1  198.51.100.1  0.511 ms  0.402 ms  0.398 ms
 2  * * *
 3  192.0.2.1  6.118 ms  6.020 ms  5.981 ms
 4  192.0.2.7 [open]  7.712 ms  *  7.655 ms
"""


def test_a_folder_may_be_called_as_a_host_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.example").mkdir()
    assert [str(target) for target in targets_of(["site.example"], [443])] == ["site.example:443"]


def test_lists_of_hosts(tmp_path: Path) -> None:
    names = tmp_path / "hosts.txt"
    names.write_text(
        "# a comment\n\nsite.example\n1,popular.example\n192.0.2.1:80 # with a port\n[2001:db8::1]:22\n"
    )
    found = targets_of([str(names), "2001:db8::1", "site.example"], [443, 80])
    assert [str(target) for target in found] == [
        "site.example:443",
        "site.example:80",
        "popular.example:443",
        "popular.example:80",
        "192.0.2.1:80",
        "[2001:db8::1]:22",
        "[2001:db8::1]:443",
        "[2001:db8::1]:80",
    ]


BAD_HOSTS = {
    "two words": "not a host",
    "a:b:c": "not a host",
    "[::1": "not a host",
    "site.example:0": "not a port",
    "site.example:http": "not a port",
    "site.example:65536": "not a port",
    "300.1.1.1": "not an address",
    "-x.example": "not a host",
    "224.0.0.1": "not one host's address",
    "255.255.255.255": "not one host's address",
    "x" * 400: "not a host",
}


@pytest.mark.parametrize("entry", BAD_HOSTS)
def test_a_malformed_list(entry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = tmp_path / "hosts.txt"
    names.write_text(f"127.0.0.1\n{entry}\n")
    out = tmp_path / "out.csv"
    assert main(["collect", str(names), "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert BAD_HOSTS[entry] in error and "hosts.txt:2: " in error and error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hosts.txt"]


BAD_USAGE = {
    "no hosts": ([], "no host given"),
    "no such list": (["lost.txt"], "no such file"),
    "a list without end": (["/dev/zero"], "is a device or a pipe"),
    "a port": (["127.0.0.1", "--port", "443,0"], "not a port"),
    "both families": (["127.0.0.1", "-4", "-6"], "give one of them"),
    "rate": (["127.0.0.1", "--rate", "0"], "0.01"),
    "import and hosts": (["127.0.0.1", "--import", "x"], "give one of them"),
    "import of nothing": (["--import", "lost.log"], "lost.log: no such file"),
    "import without end": (["--import", "/dev/zero"], "is a device or a pipe"),
}


@pytest.mark.parametrize("case", BAD_USAGE)
def test_bad_usage(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = BAD_USAGE[case]
    assert main(["collect", "-o", str(tmp_path / "out.csv"), *words]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not list(tmp_path.iterdir())


def test_a_file_that_is_no_table_of_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "127.0.0.1", "-o", str(tmp_path / "out.xlsx")]) == 2
    assert "CSV or Parquet" in capsys.readouterr().err
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    assert main(["collect", str(tmp_path / "bytes.txt"), "-o", str(tmp_path / "out.csv")]) == 2
    assert "not text" in capsys.readouterr().err


def test_what_hping3_and_tcptraceroute_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("hping.log", HPING + QUIET), ("trace.log", TRACEROUTE)):
        (tmp_path / name).write_text(text)
    out = tmp_path / "out.csv"
    files = [word for name in ("hping.log", "trace.log") for word in ("--import", str(tmp_path / name))]
    assert main(["collect", "-o", str(out), "-q", *files]) == 0
    capsys.readouterr()
    site, other = pl.read_csv(out).to_dicts()
    assert (site["host"], site["address"], site["port"], site["hops"], site["ttl"]) == (
        "site.example",
        "192.0.2.7",
        80,
        3,
        54,
    )
    assert site["method"] == "hping3+tcptraceroute" and site["state"] == "open"
    assert site["rtts_us"] == "7900 8000 8400 7712 7655" and (site["samples"], site["sent"]) == (5, 7)
    assert (site["rtt_min_us"], site["rtt_avg_us"], site["rtt_max_us"]) == (7655, 7933, 8400)
    assert (other["rtt_min_us"], other["rtt_avg_us"], other["rtt_max_us"]) == (90800, 90900, 91100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "no output of hping3"),
        (
            f"Tracing the path to x (192.0.2.7) on TCP port {'9' * 5000}\n",
            "a line of a traceroute that is torn or unknown",
        ),
        (HPING.replace("rtt=8.0", "rtt=99999999999"), "more than an hour"),
        (QUIET.replace("90.8/90.9", "95.0/90.9"), "min/avg/max are not in order: 95.0/90.9"),
    ],
)
def test_output_that_is_none(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.log").write_text(text)
    assert main(["collect", "-o", str(tmp_path / "out.csv"), "--import", str(tmp_path / "x.log")]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not (tmp_path / "out.csv").exists()


def test_one_row_an_address(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text(HPING + HPING)
    (row,) = imported.read([tmp_path / "x.log"])
    assert (row.samples, row.sent, row.loss) == (6, 8, 0.25)


def test_pace_has_no_bursts() -> None:
    async def times() -> list[float]:
        pacer, loop = Pacer(200), asyncio.get_running_loop()
        return list(await asyncio.gather(*(pacer.send(loop.time) for _ in range(10))))

    sent = asyncio.run(times())
    assert all(later - earlier >= 1 / 200 for earlier, later in itertools.pairwise(sent))


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock.getsockname()[1]


def test_this_machine_by_connect_and_what_is_kept(
    listener: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Test that `collect` continues from a journal of one host with a damaged line, and refuses other
    options."""
    out, journal = tmp_path / "out.parquet", tmp_path / "out.parquet.part"
    words = [
        "collect",
        f"127.0.0.1:{listener}",
        "--connect",
        "--count",
        "3",
        "--interval",
        "0.001",
        "-o",
        str(out),
    ]
    assert main(words) == 0
    (row,) = pl.read_parquet(out).to_dicts()
    assert (row["state"], row["hops"], row["samples"], row["method"]) == ("open", 0, 3, "connect")
    assert main(words) == 2 and "exists already" in capsys.readouterr().err
    head = {
        "tcplearn collect": {"count": 3, "interval_s": 0.001, "timeout_s": 1.0, "trace": True, "family": 0},
        "connect": True,
    }
    kept = json.dumps(head) + "\n" + json.dumps(row | {"rtts_us": "7 7 7"}) + '\n{"host": "127.0'
    out.unlink()
    journal.write_text(kept)
    assert main(words) == 0
    assert pl.read_parquet(out)["rtts_us"].item() == "7 7 7" and not journal.exists()
    capsys.readouterr()
    out.unlink()
    for content, message in (
        (kept, "begun with other options"),
        ("{}\n", "not a journal"),
        ("x\n", "not a journal"),
        ("[" * 100_000 + "\n", "not a journal"),
        (kept.partition("\n")[0] + '\n{"host": ["a"]}\n', "begun with other options"),
    ):
        journal.write_text(content)
        assert main([*words, "--count", "4"]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1 and journal.read_text() == content
    for wrong in ({"host": ["a"]}, {"port": "80"}, {"samples": True}, {"loss": 10**400}, {"hops": 10**400}):
        journal.write_text(f"{json.dumps(head)}\n{json.dumps(row | wrong)}\n")
        assert main(words) == 2
        assert "not a journal" in capsys.readouterr().err
    assert main([*words, "--fresh"]) == 0 and not journal.exists()


def test_a_port_that_refuses(listener: int, tmp_path: Path) -> None:
    with socket.socket() as sock:  # bound, and nobody listens
        sock.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{sock.getsockname()[1]}"
        words = ["--connect", "--count", "2", "--interval", "0.001", "-q", "-o", str(tmp_path / "out.csv")]
        assert main(["collect", host, *words]) == 0
    assert pl.read_csv(tmp_path / "out.csv")["state"].item() == "closed"


def test_every_column_is_a_field() -> None:
    assert list(asdict(rows.Row(host="x"))) == list(rows.COLUMNS)


@pytest.mark.skipif(not raw.allowed(), reason="raw sockets are not allowed here")
def test_hostile_answers_do_no_harm() -> None:
    """Test packets that are cut short or belong to other connections or hosts, and an ICMP error that quotes
    8 bytes: the prober must ignore them."""

    async def work() -> tuple[Reply, Reply]:
        prober = RawProber(Pacer(1e6))
        to = Destination(socket.AF_INET, "127.0.0.1", 9)
        try:
            expired = await answered(prober, to)
            for length in range(60):
                for data in (bytes(length), b"\x45" + bytes(range(length)), b"\xff" * length):
                    for read in (prober._read_tcp, prober._read_icmp):
                        for family in (socket.AF_INET, socket.AF_INET6):
                            with contextlib.suppress(IndexError, ValueError, struct.error):  # as its caller
                                assert read(data, family, "127.0.0.1") is None
            return expired, await prober.probe(to, 64, 2)
        finally:
            prober.close()

    async def answered(prober: RawProber, to: Destination) -> Reply:
        probing = asyncio.ensure_future(prober.probe(to, 64, 0.5))
        while not prober._waiting:
            await asyncio.sleep(0)
        ((port, sequence),) = prober._waiting
        quoted = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 1, 6, 0, *[socket.inet_aton(to.address)] * 2)
        tcp = struct.pack("!HHI", port, to.port, sequence)
        error = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 56, 0, 0, 64, 1, 0, *[socket.inet_aton(to.address)] * 2)
        found = prober._read_icmp(error + struct.pack("!BBHI", 11, 0, 0, 0) + quoted + tcp, to.family, "")
        assert found == ((port, sequence), Answer.expired, None)
        other = tcp[:4] + bytes(4)
        assert (
            prober._read_icmp(error + struct.pack("!BBHI", 11, 0, 0, 0) + quoted + other, to.family, "")
            is None
        )
        return await probing

    first, second = asyncio.run(work())
    assert {first.answer, second.answer} == {Answer.closed}


@pytest.mark.skipif(not raw.allowed(), reason="raw sockets are not allowed here")
def test_a_raw_probe_that_is_cancelled_as_its_answer_arrives_ends() -> None:
    async def work() -> None:
        prober = RawProber(Pacer(1e6))
        try:
            probing = asyncio.ensure_future(prober.probe(Destination(socket.AF_INET, "127.0.0.1", 9), 64, 5))
            while not prober._waiting:
                await asyncio.sleep(0)
            (waiting,) = prober._waiting.values()
            waiting.future.set_result(Reply(Answer.closed, 1))
            probing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await probing
        finally:
            prober.close()

    asyncio.run(work())


def test_a_connection_that_is_cancelled_as_it_is_established_ends() -> None:
    async def work() -> None:
        one, other = socket.socketpair()
        with one, other:
            waiting = asyncio.ensure_future(connect._writable(one, 5))
            await asyncio.sleep(0)
            # both sockets are writable now, so both calls are made in one step of the loop, in this order
            asyncio.get_running_loop().add_writer(other, waiting.cancel)
            with pytest.raises(asyncio.CancelledError):
                await waiting
            asyncio.get_running_loop().remove_writer(other)

    asyncio.run(work())


def test_targets_are_shown_as_they_are_given() -> None:
    assert str(Target("::1", 80)) == "[::1]:80" and str(Target("a.example", 80)) == "a.example:80"
