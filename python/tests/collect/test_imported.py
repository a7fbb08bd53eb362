# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the import of the output of hping3, traceroute and tcptraceroute in each dialect: the rows, or the
reason for refusing it. The logs are of the hosts of test_imported_network.py: 10.99.K.N is behind K routers,
and its RTT is 4 + K + 4 (N - 1) ms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcplearn.cli.app import main
from tcplearn.collect import imported
from tcplearn.collect.rows import Row

LOGS = Path(__file__).parent / "logs"

#: By the files: host, address, port, state, hops, TTL, answers and requests, min, mean and max RTT in us.
ROWS = {
    "hping-expired.log": [
        "site.example 10.99.3.5 0 silent hops - ttl - 0 of - -",
    ],
    "hping-icmp.log": [
        "site.example 10.99.3.5 0 answered hops - ttl 61 2 of 2 24000/24150/24300",
    ],
    "hping-interrupted.log": [
        "site.example 10.99.3.5 443 open hops - ttl 61 4 of 4 23900/24150/24300",
    ],
    "hping-long-both.log": [
        "10.99.1.1 10.99.1.1 443 open hops - ttl 63 60 of 60 5200/5782/7800",
    ],
    "hping-long-verbose.log": [
        "site.example 10.99.3.5 443 open hops - ttl 61 26 of 26 23300/24120/26900",
        "10.99.1.9 10.99.1.9 443 open hops - ttl 63 3 of 3 37400/37600/37800",
    ],
    "hping-parallel.log": [
        "other.example 10.99.4.6 443 open hops - ttl 60 2 of 2 28600/28950/29300",
        "10.99.3.7 10.99.3.7 443 open hops - ttl 61 2 of 2 31400/31650/31900",
        "site.example 10.99.3.5 443 open hops - ttl 61 2 of 2 23600/23900/24200",
    ],
    "hping-quiet-both.log": [
        "site.example 10.99.3.5 0 answered hops - ttl - 3 of 3 23800/25300/27700",
        "silent.example 10.99.9.7 0 silent hops - ttl - 0 of 3 -",
        "other.example 10.99.4.6 0 answered hops - ttl - 3 of 3 28800/28900/29000",
    ],
    "hping-same-host.log": [
        "site.example 10.99.3.5 443 open hops - ttl 61 3 of - 23700/25300/27800",
    ],
    "hping-split.out": [
        "site.example 10.99.3.5 443 open hops - ttl 61 3 of - 24200/24300/24400",
        "silent.example 10.99.9.7 0 silent hops - ttl - 0 of - -",
        "other.example 10.99.4.6 443 open hops - ttl 60 3 of - 28500/28833/29400",
    ],
    "hping-timestamp.log": [
        "site.example 10.99.3.5 443 open hops - ttl 61 2 of 2 24100/24200/24300",
    ],
    "hping-traceroute-both.log": [
        "site.example 10.99.3.5 443 open hops 3 ttl 61 5 of 5 23600/24320/26200",
        "10.99.5.8 10.99.5.8 443 open hops 5 ttl 59 3 of 3 37600/37833/38100",
    ],
    "hping-traceroute-terminal.log": [
        "site.example 10.99.3.5 443 open hops 3 ttl 61 3 of 3 23600/25133/28000",
    ],
    "hping-two-addresses.log": [
        "twice.example 10.99.5.8 443 open hops - ttl 59 2 of 2 37900/38050/38200",
        "twice.example 10.99.6.9 443 open hops - ttl 58 3 of 3 42700/43100/43500",
    ],
    "hping-udp.log": [
        "site.example 10.99.3.5 0 answered hops - ttl - 2 of 2 23600/23700/23900",
    ],
    "hping-unreachable.log": [
        "10.99.200.5 10.99.200.5 0 unreachable hops - ttl - 0 of 3 -",
    ],
    "hping-verbose-both.log": [
        "site.example 10.99.3.5 443 open hops - ttl 61 3 of 3 23900/24000/24100",
        "silent.example 10.99.9.7 0 silent hops - ttl - 0 of 3 -",
        "other.example 10.99.4.6 443 open hops - ttl 60 3 of 3 29100/29233/29400",
    ],
    "hping-verbose-stdout.log": [
        "site.example 10.99.3.5 443 open hops - ttl 61 3 of - 23600/23933/24300",
        "silent.example 10.99.9.7 0 silent hops - ttl - 0 of - -",
        "other.example 10.99.4.6 443 open hops - ttl 60 3 of - 28700/28800/28900",
    ],
    "hping-verbose-terminal.log": [
        "site.example 10.99.3.5 444 closed hops - ttl 61 2 of 2 23600/23650/23700",
        "other.example 10.99.4.6 444 closed hops - ttl 60 2 of 2 28900/30300/31700",
    ],
    "tcptraceroute-both.log": [
        "site.example 10.99.3.5 443 open hops 3 ttl - 3 of 3 23411/23441/23465",
        "other.example 10.99.4.6 443 open hops 4 ttl - 3 of 3 28366/28400/28426",
        "silent.example 10.99.9.7 80 silent hops - ttl - 0 of - -",
        "10.99.200.5 10.99.200.5 80 unreachable hops - ttl - 0 of - -",
    ],
    "tcptraceroute-split.out": [
        "10.99.3.5 10.99.3.5 0 open hops 3 ttl - 3 of 3 23304/23366/23476",
        "10.99.4.6 10.99.4.6 0 open hops 4 ttl - 3 of 3 28403/28424/28444",
    ],
    "tcptraceroute-wrapper.log": [
        "site.example 10.99.3.5 443 open hops 3 ttl - 3 of 3 23350/23378/23395",
        "10.99.4.6 10.99.4.6 80 closed hops 4 ttl - 3 of 3 28367/28381/28389",
    ],
    "traceroute-from-6.log": [
        "site.example 10.99.3.5 0 answered hops - ttl - 2 of 2 23612/23624/23635",
    ],
    "traceroute-ipv6.log": [
        "fd99:3::1 fd99:3::1 0 answered hops 3 ttl - 2 of 2 7178/7218/7259",
    ],
    "traceroute-options.log": [
        "other.example 10.99.4.6 0 answered hops 4 ttl - 1 of 1 28518/28518/28518",
    ],
    "traceroute-tcp.log": [
        "other.example 10.99.4.6 0 open hops 4 ttl - 3 of 3 28420/28450/28467",
        "site.example 10.99.3.5 0 answered hops 3 ttl - 3 of 3 23195/23240/23294",
    ],
    "traceroute-terminal.log": [
        "site.example 10.99.3.5 0 answered hops 3 ttl - 3 of 3 23430/23458/23475",
    ],
    "traceroute.log": [
        "site.example 10.99.3.5 0 answered hops 3 ttl - 3 of 3 23255/23303/23363",
        "silent.example 10.99.9.7 0 silent hops - ttl - 0 of - -",
        "10.99.200.5 10.99.200.5 0 unreachable hops - ttl - 0 of - -",
    ],
    "hping-split.out hping-split.err": [
        "site.example 10.99.3.5 443 open hops - ttl 61 3 of 3 24200/24300/24400",
        "silent.example 10.99.9.7 0 silent hops - ttl - 0 of 3 -",
        "other.example 10.99.4.6 443 open hops - ttl 60 3 of 3 28500/28833/29400",
    ],
    "tcptraceroute-split.err tcptraceroute-split.out": [
        "site.example 10.99.3.5 443 open hops 3 ttl - 3 of 3 23304/23366/23476",
        "other.example 10.99.4.6 443 open hops 4 ttl - 3 of 3 28403/28424/28444",
    ],
}

MIXED_TRACES = "a line of a traceroute that is torn or unknown: traces that ran side by side are mixed"
REFUSED = {
    "hping-flood.log": ":1: hping3 --flood shows no answers; leave this run out",
    "hping-ports.log": ":5: HPING site.example: the answers come from several ports, but a row is for",
    "hping-quiet-stdout.log": ":1: HPING site.example: neither answers nor statistics: the run was",
    "hping-random.log": ":5: '10.99.3.x' is not one host's address; leave this run out",
    "hping-split.err": ":2: statistics of site.example without its HPING line; import its standard",
    "inetutils-traceroute.log": ":1: inetutils-traceroute takes answers to other programs for its own",
    "tcptraceroute-no-header.log": ":1: hops without the header, which tcptraceroute prints to standard",
    "tcptraceroute-parallel.log": f":5: {MIXED_TRACES}",
    "tcptraceroute-split.err": ":2: the trace to site.example has no hops; delete it, or import its standard",
    "traceroute-interrupted.log": ":2: the trace to silent.example ends at hop 7 of 30: delete it",
    "traceroute-parallel.log": f":5: {MIXED_TRACES}",
}


def said(row: Row) -> str:
    rtts = "-" if row.rtt_min_us is None else f"{row.rtt_min_us}/{row.rtt_avg_us}/{row.rtt_max_us}"
    hops, ttl, sent = ("-" if value is None else value for value in (row.hops, row.ttl, row.sent))
    where = f"{row.host} {row.address} {row.port} {row.state}"
    return f"{where} hops {hops} ttl {ttl} {row.samples} of {sent} {rtts}"


@pytest.mark.parametrize("names", ROWS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_rows(names: str, line_end: str, tmp_path: Path) -> None:
    paths = []
    for name in names.split():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(
            (LOGS / name).read_bytes().replace(b"\r", b"").replace(b"\n", line_end.encode())
        )
    assert [said(row) for row in imported.read(paths)] == ROWS[names]


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "-o", str(tmp_path / "out.csv"), "--import", str(LOGS / name)]) == 2
    error = capsys.readouterr().err
    assert name + REFUSED[name] in error and error.count("\n") == 1 and not list(tmp_path.iterdir())


def test_every_log_is_tried() -> None:
    tried = {name for names in ROWS for name in names.split()} | set(REFUSED)
    assert tried == {path.name for path in LOGS.iterdir()}


HEADER = "HPING {0} (eth0 {1}): S set, 40 headers + 0 data bytes\n"
ANSWER = "len=44 ip={0} ttl=54 DF id=0 sport=80 flags={2} seq=0 win=29200 rtt={1} ms\n"
TOTAL = (
    "\n--- {0} hping statistic ---\n{1} packets transmitted, {1} packets received, 0% packet loss\n"
    "round-trip min/avg/max = {2}/{2}/{2} ms\n"
)
SITE = HEADER.format("site.example", "192.0.2.7")
OF_SITE = ANSWER.format("192.0.2.7", "7.9", "SA")
TRACE = "traceroute to site.example (192.0.2.7), 30 hops max, 60 byte packets\n"

#: Text, and the row or the beginning of the reason.
CASES = {
    "statistics of another host's answers": (
        TOTAL.format("site.example", 1, "9.9") + SITE + OF_SITE,
        ":5: HPING site.example: the printed RTTs do not agree with the statistics",
    ),
    "an answer lost": (
        TOTAL.format("site.example", 2, "7.9") + SITE + OF_SITE,
        ":5: HPING site.example: hping3 printed 1 answers but counted 2",
    ),
    "an answer of nobody": (
        SITE + ANSWER.format("192.0.2.8", "7.9", "SA"),
        ":2: an answer of 192.0.2.8, which no HPING line of this file names",
    ),
    "a line cut short": (SITE + OF_SITE[:40], ":2: a line of hping3 that is torn or unknown"),
    "an answer of two lines cut short": (
        SITE + "len=44 ip=192.0.2.7 ttl=54 DF id=0 tos=0 iplen=44\nlen=44 ip=192.0.2.7 ttl=54",
        ":3: this line should go on with an answer of hping3 -V",
    ),
    "the second line of another answer": (
        SITE + OF_SITE.split("id=0 ")[1],
        ":2: a line of hping3 that is torn or unknown",
    ),
    "statistics cut short": (
        SITE + OF_SITE + TOTAL.format("site.example", 1, "7.9")[:40],
        ":4: a line of hping3 that",
    ),
    "one statistics of two runs": (
        SITE + OF_SITE + SITE + OF_SITE + TOTAL.format("site.example", 1, "7.9"),
        ":6: 1 statistics of site.example for 2 runs; delete the runs without",
    ),
    "a duplicate": (
        TOTAL.format("site.example", 2, "7.9") + SITE + OF_SITE + "DUP! " + OF_SITE,
        "site.example 192.0.2.7 80 open hops - ttl 54 1 of 2 7900/7900/7900",
    ),
    "a second too long": (
        SITE
        + OF_SITE
        + ANSWER.format("192.0.2.7", "1008.1", "SA")
        + ANSWER.format("192.0.2.7", "1500.0", "SA"),
        "site.example 192.0.2.7 80 open hops - ttl 54 3 of - 7900/753950/1500000",
    ),
    "a trace with all its options": (
        TRACE
        + " 1  192.0.2.1 [AS64496] <MPLS:L=1,E=0,S=1,T=1>  1.000 ms  1.100 ms 192.0.2.2 [*] '-3'  9.0 ms !X\n"
        + " 2  site.example (192.0.2.7) [AS64496]  7.000 ms *  7.200 ms\n",
        "site.example 192.0.2.7 0 answered hops 1 ttl - 2 of 3 7000/7100/7200",
    ),
    "a trace whose last hop is two machines": (
        TRACE + " 1  192.0.2.1  1.0 ms  1.1 ms\n 2  192.0.2.9  3.0 ms 192.0.2.7  7.2 ms\n",
        "site.example 192.0.2.7 0 answered hops 1 ttl - 1 of - 7200/7200/7200",
    ),
    "hops of two traces": (
        TRACE
        + " 1  192.0.2.1  1.0 ms  1.1 ms\n 3  192.0.2.7  3.0 ms  3.0 ms\n 2  192.0.2.9  3.0 ms  3.0 ms\n",
        ":4: hop 2 after hop 3",
    ),
    "a hop short of a probe": (
        TRACE + " 1  192.0.2.1  1.0 ms  1.1 ms\n 2  192.0.2.7  7.2 ms\n",
        ":3: 1 probes of this hop, 2 of other hops",
    ),
    "a header in the middle of a line": (
        TRACE + " 1  192.0.2.1  1.0 ms" + TRACE,
        ":2: a line of a traceroute",
    ),
    "routers twice in a trace of hping3": (
        SITE
        + "".join(f"hop={k} TTL 0 during transit from ip=192.0.2.{k % 2}\n" for k in (1, 2, 3))
        + OF_SITE,
        "site.example 192.0.2.7 80 open hops - ttl 54 1 of - 7900/7900/7900",
    ),
    "a quiet trace of hping3": (
        SITE + "hop=1 TTL 0 during transit from ip=192.0.2.1\n" + TOTAL.format("site.example", 3, "7.9"),
        ":1: HPING site.example: answers that were not printed may be the host's",
    ),
    "a trace of hping3 without the host beside one with it": (
        SITE
        + "hop=1 TTL 0 during transit from ip=192.0.2.1\n"
        + OF_SITE
        + SITE.replace("192.0.2.7", "192.0.2.8").replace("site", "b")
        + "hop=1 TTL 0 during transit from ip=192.0.2.1\n"
        + TOTAL.format("b.example", 3, "7.9"),
        "site.example 192.0.2.7 80 open hops 1 ttl 54 1 of - 7900/7900/7900;"
        "b.example 192.0.2.8 0 silent hops - ttl - 0 of - -",
    ),
    "a router's message beside two runs": (
        SITE
        + HEADER.format("b.example", "192.0.2.8")
        + "ICMP Host Unreachable from ip=192.0.2.1\n"
        + OF_SITE,
        ":3: a router's message does not name its run",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cases(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, expected = CASES[case]
    log = tmp_path / "x.log"
    log.write_text(text)
    if not expected.startswith(":"):
        assert ";".join(said(row) for row in imported.read([log])) == expected
        return
    assert main(["collect", "-o", str(tmp_path / "out.csv"), "--import", str(log)]) == 2
    error = capsys.readouterr().err
    assert f"x.log{expected}" in error and error.count("\n") == 1 and not (tmp_path / "out.csv").exists()


def test_a_row_for_each_port(tmp_path: Path) -> None:
    """Test that each port of a host gets a row, and that all rows have the hops of the one traceroute."""
    other = ANSWER.format("192.0.2.7", "8.1", "RA").replace("sport=80", "sport=81")
    trace = TRACE + " 1  192.0.2.1  1.0 ms\n 2  192.0.2.7  7.2 ms\n"
    (tmp_path / "x.log").write_text(SITE + OF_SITE + SITE + other + trace)
    assert [said(row) for row in imported.read([tmp_path / "x.log"])] == [
        "site.example 192.0.2.7 80 open hops 1 ttl 54 1 of - 7900/7900/7900",
        "site.example 192.0.2.7 81 closed hops 1 ttl 54 1 of - 8100/8100/8100",
        "site.example 192.0.2.7 0 answered hops 1 ttl - 1 of 1 7200/7200/7200",
    ]
