# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the output of ping on many systems and in many languages."""

from __future__ import annotations

import pytest

from tcplearn.traces import TraceError


def text(body: str) -> bytes:
    return "".join(line.strip() + "\n" for line in body.strip().split("\n")).encode()


IPUTILS = text("""
    PING one.one.one.one (1.1.1.1) 56(84) bytes of data.
    64 bytes from one.one.one.one (1.1.1.1): icmp_seq=1 ttl=57 time=12.3 ms
    64 bytes from one.one.one.one (1.1.1.1): icmp_seq=2 ttl=57 time=11.9 ms
    64 bytes from one.one.one.one (1.1.1.1): icmp_seq=2 ttl=57 time=14.0 ms (DUP!)
    From 10.0.0.1 icmp_seq=3 Destination Host Unreachable
    no answer yet for icmp_seq=4
    64 bytes from one.one.one.one (1.1.1.1): icmp_seq=5 ttl=56 time=104 ms

    --- one.one.one.one ping statistics ---
    5 packets transmitted, 3 received, +1 duplicates, +1 errors, 40% packet loss, time 804ms
    rtt min/avg/max/mdev = 11.900/42.733/104.000/43.321 ms
""")


def test_iputils(read):
    rows = read(IPUTILS)
    assert rows.kind == "ping"
    assert [(r["time_us"], r["rtt_us"], r["ttl"]) for r in rows.of(0)] == [
        (12_300, 12_300, 57),
        (212_900, 11_900, 57),  # 804 ms are four steps
        (4 * 201_000 + 104_000, 104_000, 56),
    ]
    (flow,) = rows.flows.values()
    assert (flow["name"], flow["samples"]) == ("1.1.1.1", 3)
    assert rows.warnings == [
        "no times in it: they are made up from the sequence numbers, 0.201 s between two requests "
        "(ping -D prints times)",
        "2 requests without an answer: left out",
        "1 duplicate answers: left out",
    ]


def test_the_first_line_may_be_an_answer(read):
    rows = read(b"[1644854958.415180] 64 bytes from 192.0.2.7: icmp_seq=75 ttl=64 time=6.51 ms\n")
    assert rows.columns["rtt_us"].tolist() == [6510]


def test_times_before_the_lines(read):
    data = text("""
        PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.
        [1644854958.415180] 64 bytes from 192.0.2.7: icmp_seq=75 ttl=64 time=6.51 ms
        [1644854959.416919] 64 bytes from 192.0.2.7: icmp_seq=76 ttl=64 time=6.53 ms
        [1644854961.421099] no answer yet for icmp_seq=77
        [1644854962.421099] 64 bytes from 192.0.2.7: icmp_seq=78 ttl=64 time=6.53 ms
    """)
    rows = read(data)
    assert rows.columns["time_us"].tolist() == [0, 1_001_739, 4_005_919]
    assert rows.warnings == ["1 requests without an answer: left out"]
    for stamps in (
        ("2024-03-01T12:00:00.5+01:00", "2024-03-01T11:00:01.75Z"),
        ("2024-03-01 12:00:00,5", "2024-03-01 12:00:01,75"),
        ("Mar 01 23:59:59.5", "Mar 02 00:00:00.75"),
        ("1709290800.5", "1709290801.75"),
        ("Fri Mar  1 12:00:00 UTC 2024:", "Fri Mar  1 12:00:01 UTC 2024:"),
        ("11:59:59.5 PM", "12:00:00.75 AM"),
    ):
        lines = [f"{s} 64 bytes from 1.1.1.1: icmp_seq={i} ttl=57 time=9.1 ms" for i, s in enumerate(stamps)]
        got = read(text("\n".join(lines)))
        assert got.columns["time_us"].tolist() == [0, 1_000_000 if "UTC" in stamps[0] else 1_250_000], stamps
        assert got.warnings == []


BUSYBOX = """
    PING 1.1.1.1 (1.1.1.1): 56 data bytes
    64 bytes from 1.1.1.1: seq=0 ttl=57 time=12.345 ms
    64 bytes from 1.1.1.1: seq=1 ttl=57 time=13.000 ms
"""
MACOS = """
    PING 1.1.1.1 (1.1.1.1): 56 data bytes
    64 bytes from 1.1.1.1: icmp_seq=0 ttl=57 time=12.345 ms
    Request timeout for icmp_seq 1
    64 bytes from 1.1.1.1: icmp_seq=2 ttl=57 time=13.000 ms
    --- 1.1.1.1 ping statistics ---
    3 packets transmitted, 2 packets received, 33.3% packet loss
    round-trip min/avg/max/stddev = 12.345/12.672/13.000/0.327 ms
"""
MACOS_V6 = """
    PING6(56=40+8+8 bytes) 2001:db8::7 --> 2606:4700::1111
    16 bytes from 2606:4700::1111, icmp_seq=0 hlim=57 time=12.345 ms
    16 bytes from 2606:4700::1111, icmp_seq=1 hlim=57 time=13.000 ms
"""
LINUX_V6 = """
    PING 2606:4700::1111(2606:4700::1111) 56 data bytes
    64 bytes from 2606:4700::1111: icmp_seq=1 ttl=57 time=12.345 ms
    64 bytes from fe80::1%eth0: icmp_seq=2 ttl=57 time=13.000 ms
"""
GERMAN = """
    PING heise.de (193.99.144.80) 56(84) Bytes an Daten.
    64 Bytes von redirector.heise.de (193.99.144.80): icmp_seq=1 ttl=248 Zeit=12,345 ms
    64 Bytes von redirector.heise.de (193.99.144.80): icmp_seq=2 ttl=248 Zeit=13,0 ms
"""
WINDOWS = """
    Pinging one.one.one.one [1.1.1.1] with 32 bytes of data:
    Reply from 1.1.1.1: bytes=32 time=12ms TTL=57
    Request timed out.
    Reply from 1.1.1.1: bytes=32 time<1ms TTL=57
    Reply from 1.1.1.1: bytes=32 time=13ms TTL=57

    Ping statistics for 1.1.1.1:
        Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
    Approximate round trip times in milli-seconds:
        Minimum = 0ms, Maximum = 13ms, Average = 8ms
"""
FPING = """
    1.1.1.1 : [0], 64 bytes, 12.3 ms (12.3 avg, 0% loss)
    8.8.8.8 : [0], 64 bytes, 20.1 ms (20.1 avg, 0% loss)
    1.1.1.1 : [1], timed out (12.3 avg, 50% loss)
    8.8.8.8 : [1], 64 bytes, 20.2 ms (20.1 avg, 0% loss)
    1.1.1.1 : [2], 64 bytes, 13.0 ms (12.3 avg, 50% loss)
"""
HPING = """
    HPING 1.1.1.1 (eth0 1.1.1.1): S set, 40 headers + 0 data bytes
    len=46 ip=1.1.1.1 ttl=57 DF id=0 sport=80 flags=SA seq=0 win=29200 rtt=12.3 ms
    len=46 ip=1.1.1.1 ttl=57 DF id=0 sport=80 flags=SA seq=1 win=29200 rtt=13.0 ms
"""


@pytest.mark.parametrize(
    ("body", "rtts", "unanswered"),
    [
        (BUSYBOX, [12_345, 13_000], 0),
        (MACOS, [12_345, 13_000], 1),
        (MACOS_V6, [12_345, 13_000], 0),
        (GERMAN, [12_345, 13_000], 0),
        (WINDOWS, [12_000, 500, 13_000], 1),
        (WINDOWS.replace("Reply from", "Antwort von").replace("time", "Zeit"), [12_000, 500, 13_000], None),
        (WINDOWS.replace("Reply from", "Ответ от").replace("time", "время").replace("ms", "мс"), None, None),
        (FPING, [12_300, 13_000], 1),
        (HPING, [12_300, 13_000], 0),
    ],
)
def test_other_pings(read, body, rtts, unanswered):
    rows = read(text(body))
    assert rows.kind == "ping"
    got = [row["rtt_us"] for row in rows.of(0)]
    assert got == (rtts or [12_000, 500, 13_000])
    if unanswered:
        assert f"{unanswered} requests without an answer: left out" in rows.warnings
    assert all(flow["name"][0].isdigit() for flow in rows.flows.values())


def test_several_hosts_are_several_flows(read):
    assert [f["name"] for f in read(text(FPING)).flows.values()] == ["1.1.1.1", "8.8.8.8"]
    assert [f["name"] for f in read(text(LINUX_V6)).flows.values()] == ["2606:4700::1111", "fe80::1%eth0"]
    twice = read(IPUTILS + IPUTILS)
    assert [(f["name"], f["samples"]) for f in twice.flows.values()] == [("1.1.1.1", 3)] * 2


def test_powershell_writes_utf16(read):
    rows = read(text(WINDOWS).decode().replace("\n", "\r\n").encode("utf-16"))
    assert rows.columns["rtt_us"].tolist() == [12_000, 500, 13_000]
    assert "1 round trips given as below the resolution: taken as half of it" in rows.warnings


def test_numbers_turn_after_16_bits(read):
    lines = [f"64 bytes from 1.1.1.1: icmp_seq={i % 65536} ttl=57 time=10 ms" for i in range(65_530, 65_545)]
    rows = read(text("\n".join(lines)))
    assert rows.columns["time_us"].tolist() == [i * 1_000_000 + 10_000 for i in range(15)]


@pytest.mark.parametrize(
    ("body", "match"),
    [
        (BUSYBOX.split("bytes\n")[0] + "bytes\n", "no answer with a round trip in it"),
        (
            "PING 1.1.1.1 (1.1.1.1): 56 data bytes\nRequest timeout for icmp_seq 0\n",
            r"no answer with a round trip in it \(1 requests had none\)",
        ),
        ("PING 1.1.1.1\n" + "x" * 70_000, "line 2: it is longer than 65536 characters"),
    ],
)
def test_what_is_refused(read, body, match):
    with pytest.raises(TraceError, match=match) as error:
        read(text(body))
    assert "\n" not in str(error.value)


def test_a_small_packet_has_no_round_trip(read):
    rows = read(text(BUSYBOX) + b"12 bytes from 1.1.1.1: seq=2 ttl=57\n")
    assert rows.warnings[-1].startswith("1 answers without a round trip")


#: `fping -C 4 -q HOST... 2>&1`
FPING_ALL = """
    1.1.1.1     : 12.3 14.1 - 15.0
    2001:db8::1 : - 0.05 123 1234
    192.0.2.9   : - - - -
"""


def test_fping_with_a_line_a_host(read):
    rows = read(text(FPING_ALL))
    assert rows.kind == "ping"
    got = {f["name"]: [(r["time_us"], r["rtt_us"]) for r in rows.of(i)] for i, f in rows.flows.items()}
    assert got == {
        "1.1.1.1": [(12_300, 12_300), (1_014_100, 14_100), (3_015_000, 15_000)],
        "2001:db8::1": [(1_000_050, 50), (2_123_000, 123_000), (4_234_000, 1_234_000)],
    }
    assert rows.warnings == [
        "no times in it: they are made up from the sequence numbers, 1 s between two requests "
        "(ping -D prints times)",
        "6 requests without an answer: left out",
    ]


def test_fping_round_after_round(read):
    rows = read(text("a.example (192.0.2.7) : 1.5 - 2\na.example (192.0.2.7) : 3 4.25 -"))
    assert [flow["name"] for flow in rows.flows.values()] == ["a.example (192.0.2.7)"]
    assert [(r["time_us"], r["rtt_us"]) for r in rows.of(0)] == [
        (1500, 1500),
        (2_002_000, 2000),
        (3_003_000, 3000),
        (4_004_250, 4250),
    ]


def test_fping_says_it_twice_without_quiet(read):
    rows = read(
        text("""
        1.1.1.1 : [0], 64 bytes, 12.3 ms (12.3 avg, 0% loss)
        1.1.1.1 : [1], 64 bytes, 14.1 ms (13.2 avg, 0% loss)

        1.1.1.1 : 12.3 14.1
    """)
    )
    assert rows.columns["rtt_us"].tolist() == [12_300, 14_100]


def test_fping_without_an_answer(read):
    with pytest.raises(TraceError, match=r"no answer with a round trip in it \(3 requests had none\)"):
        read(b"1.1.1.1 : - - -\n")
