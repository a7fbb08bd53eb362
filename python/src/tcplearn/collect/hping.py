# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Parse the output of hping3 into the results of its runs. hping3 writes statistics to standard error without
buffering, so they may be anywhere in a file, even inside a line about an answer. Therefore an answer is
assigned to the run with its address, and statistics to the run with their host. A run's answers and
statistics must agree."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from tcplearn.collect.printed import ANSWERED, NUMBER, Printed, Run, Statistics
from tcplearn.collect.probe import Answer

#: A header, such as "HPING example.com (eth0 93.184.216.34): S set, 40 headers + 0 data bytes".
_HEADER = re.compile(
    r"HPING (\S+) \((?:\S+ )?(\S+)\): (raw IP mode|icmp mode|udp mode|NO FLAGS are|[A-Z]+) set, "
    r"\d+ headers \+ \d+ data bytes"
)
#: An answer, such as "len=44 ip=93.184.216.34 ttl=54 DF id=0 sport=80 flags=SA seq=0 win=29200 rtt=7.9 ms".
#: With -V it has three lines: the first ends in "tos=0 iplen=44", the third has seq= and ack=.
_TAIL = (
    r"(?:sport=(?P<port>\d{1,5}) flags=(?P<flags>[A-Za-z]+) seq=(?P<seq>\d{1,9}) win=\d+|(?:icmp_)?seq=\d+)"
    rf" rtt=(?P<rtt>{NUMBER}) ms"
)
_BEGINNING = r"(?P<again>DUP! )?len=\d+ ip=(?P<ip>\S+) ttl=(?P<ttl>\d{1,3}) (?:DF )?id=\+?-?\d+ "
_ANSWER = re.compile(_BEGINNING + _TAIL)
_FIRST_OF_SEVERAL = re.compile(_BEGINNING + r"tos=[0-9a-f]+ iplen=\d+")
_SECOND = re.compile(_TAIL)
_THIRD = re.compile(r"seq=\d+ ack=\d+ sum=[0-9a-f]+ urp=\d+")
_HOP = re.compile(r"hop=(\d{1,3}) TTL 0 during \w+ from ip=(\S+?)(?: ?name=.*)?")
_HOP_RTT = re.compile(rf"hop=\d+ hoprtt={NUMBER} ms")
_EXPIRED = re.compile(r"TTL 0 during \w+ from ip=(\S+?)(?: ?name=.*)?")
_UNREACHABLE = re.compile(r"ICMP (.+) from ip=(\S+?)(?: ?name=.*)?")
_FLOOD = "hping in flood mode"
_SECOND_US, _NEAR_US = 1_000_000, 10_000
#: Parts of lines that another line has interrupted.
_TORN = re.compile(
    r"HPING \S+ \(|hping statistic ---|\d packets (?:transmitted|tramitted), \d+ packets received, -?\d+% "
    r"|round-trip min/avg/max = |\blen=\d+ |\bip=[0-9]|\brtt=|hoprtt|\bsport=|\bwin=|\bTTL 0 during"
    r"|iplen=|\bseq=\d+ ack="
)
_BOTH = "print both streams of one run after another into a file, as by `hping3 ... >>log 2>&1`"
_MIXED = f"the output of several runs is mixed; {_BOTH}, or each run into a file of its own"


@dataclass(slots=True)
class _Ping:
    """A run of hping3 while its lines are being read."""

    printed: Printed
    at: int
    host: str
    address: str
    mode: str
    statistics: Statistics | None = None
    rtts_us: list[int] = field(default_factory=list)  # of answers, without duplicates
    timed_us: list[int] = field(default_factory=list)  # of all answers with an RTT
    answers: int = 0
    again: int = 0  # number of duplicates
    untimed: int = 0
    ports: set[int] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    ttl: int | None = None
    first: int | None = None  # number of the first request that was answered
    hops: list[tuple[int, str]] = field(default_factory=list)  # routers' answers: hop and address
    hops_before: int | None = None  # number of hops known when the host first answered
    expired: int = 0
    unreachable: list[tuple[str, str]] = field(default_factory=list)  # message and its sender

    def answer(self, found: re.Match[str], tail: re.Match[str]) -> None:
        """Add an answer of the host to this run. `found` matches the answer's beginning, and `tail` matches
        the part with the RTT; both are the same match if the answer has one line."""
        rtt_us = self.printed.microseconds(tail["rtt"], self.at)
        self.answers += 1
        self.ttl = int(found["ttl"])
        flags = tail["flags"] or ""
        if "S" in flags:
            self.states.add(Answer.open.value)
        else:
            self.states.add(Answer.closed.value if "R" in flags and self.mode == "S" else ANSWERED)
        if tail["port"]:
            self.ports.add(int(tail["port"]))
            if self.first is None:
                self.first = int(tail["seq"])
        if self.hops_before is None:
            self.hops_before = len(self.hops)
        if found["again"]:
            self.again += 1
        elif rtt_us:
            self.rtts_us.append(rtt_us)
        self.untimed += not rtt_us  # an answer to another run's request to this port, or an RTT below 0.05 ms
        self.timed_us.append(rtt_us)

    def lines(self) -> int:
        """Return the number of packets for which hping3 printed a line in this run."""
        return self.answers + len(self.hops) + self.expired + len(self.unreachable)

    def disagrees(self) -> str:
        """Return the reason why the run's statistics cannot belong to its answers, or '' if they can."""
        total = self.statistics
        if not total or self._quiet():
            return ""
        if total.received != self.lines() and not (self.hops and total.received > self.lines()):
            return f"hping3 printed {self.lines()} answers but counted {total.received}"
        if self.untimed or self.hops or self.unreachable or not self.timed_us:
            return ""
        mean_us = sum(self.timed_us) / len(self.timed_us)
        if (min(self.timed_us), max(self.timed_us)) != (total.least_us, total.most_us) or abs(
            mean_us - total.mean_us
        ) > 151:  # both were rounded to 0.1 ms
            return "the printed RTTs do not agree with the statistics"
        return ""

    def _quiet(self) -> bool:
        """Return whether hping3 counted answers but printed none of them."""
        return bool(self.statistics and self.statistics.received and not self.lines())

    def may_be_quiet_trace(self) -> bool:
        """Return whether this may be a traceroute with -q, which counts the host's answers silently."""
        counted = self.statistics.received if self.statistics else 0
        return bool(self.hops and not self.answers and counted > self.lines())

    def run(self) -> Run:
        run = Run(self.host, self.address, "hping3")
        run.ttl, run.rtts_us = self.ttl, self._round_trips_us()
        run.samples = len(self.rtts_us)
        run.port = next(iter(self.ports), 0)
        for state in self.states:
            run.found(state)
        if self.unreachable:
            run.found(ANSWERED if self._port_unreachable() else Answer.unreachable.value)
        run.sent = self.statistics.sent if self.statistics and not self.untimed else None
        if self.hops or self.expired:
            self._traced(run)
        elif self.statistics and self.statistics.received and not self.answers:
            self._summed_up(run, self.statistics)
        return run

    def _round_trips_us(self) -> list[int]:
        """Return the RTTs in us, without those that are about one second longer than the others. Those may be
        wrong for two reasons: hping3 reads the seconds and the microseconds of a time from different clocks,
        of which that of the seconds is coarser; and hosts retransmit a SYN-ACK after one second."""
        others = [rtt_us for rtt_us in self.rtts_us if rtt_us < _SECOND_US]
        if not others:
            return self.rtts_us
        least = max(min(others) + _SECOND_US - _NEAR_US, _SECOND_US)
        most = max(others) + _SECOND_US + _NEAR_US
        return [rtt_us for rtt_us in self.rtts_us if not least <= rtt_us <= most]

    def _port_unreachable(self) -> bool:
        """Return whether the host itself reports its UDP port as unreachable, which is an answer."""
        return self.mode == "udp mode" and set(self.unreachable) == {("Port Unreachable", self.address)}

    def _traced(self, run: Run) -> None:
        """Set `run.hops` if each TTL in turn was answered by a different router before the host answered.
        Set `run.sent` to the number of packets sent to the host, or None if it is unknown."""
        numbers, routers = [hop for hop, _ in self.hops], {router for _, router in self.hops}
        rises = numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else False
        if self.answers and rises and self.hops_before == len(numbers) == len(routers):
            run.hops = numbers[-1]
        total = self.statistics
        # A router answered each request before the first one that the host answered, so none was lost.
        counted = total and not self.expired and not self.unreachable and not self.untimed
        run.sent = total.sent - len(self.hops) if total and counted and self.first == len(self.hops) else None

    def _summed_up(self, run: Run, total: Statistics) -> None:
        """Set the state and RTTs of `run` from its statistics `total` alone, as for `hping3 -q` or UDP."""
        if total.received > total.sent:
            self.refuse("more answers than requests: its RTTs include duplicates; run hping3 without -q")
        if not total.most_us:  # ICMP errors have no RTT
            run.found(Answer.unreachable.value)
        elif not self.unreachable or self._port_unreachable():
            run.found(ANSWERED)
            run.samples = total.received
            run.summary_us = (total.least_us, total.mean_us, total.most_us)

    def refuse(self, why: str) -> NoReturn:
        """Raise UserError with the reason `why` and the line number of the run's header."""
        self.printed.refuse(self.at, f"HPING {self.host}: {why}")


class HpingFile:
    """The runs of hping3 in one file."""

    def __init__(self, printed: Printed, lines: Iterable[tuple[int, str]]) -> None:
        self._printed = printed
        self.runs: list[_Ping] = []
        self.statistics = list(printed.statistics)
        self._by_address: dict[str, list[_Ping]] = defaultdict(list)
        for at, line in lines:
            if found := _HEADER.fullmatch(line):
                self._begin(at, found)
        self._current: _Ping | None = None
        self._begun = 0
        # the first line of an answer that continues in the next line
        self._first: re.Match[str] | None = None
        self._expect_third = False
        self._mixed = False  # whether there were answers of a run other than the last one begun
        self._without_address: int | None = None  # the offset of the first line that names no host
        self._at = 0

    def _begin(self, at: int, found: re.Match[str]) -> None:
        run = _Ping(self._printed, at, found[1], self._printed.address(found[2], at), found[3])
        self.runs.append(run)
        self._by_address[run.address].append(run)

    def line(self, at: int, line: str) -> bool:
        """Read the line `line` at the offset `at`, and return whether it is from hping3."""
        if self._first or self._expect_third:
            self._go_on(at, line)
        elif _HEADER.fullmatch(line):
            self._current = self.runs[self._begun]
            self._begun += 1
        elif found := _ANSWER.fullmatch(line):
            self._of(found, at).answer(found, found)
        elif found := _FIRST_OF_SEVERAL.fullmatch(line):
            self._first, self._at = found, at
        elif not self._of_a_router(at, line):
            if line.startswith(_FLOOD):
                self._printed.refuse(at, "hping3 --flood shows no answers; leave this run out")
            # hping3's options -j and -J print packets in this form
            if _TORN.search(line) and not line.startswith("\t"):
                self._printed.refuse(at, f"a line of hping3 that is torn or unknown: {_MIXED}")
            return False
        return True

    def _go_on(self, at: int, line: str) -> None:
        if self._first and (found := _SECOND.fullmatch(line)):
            self._of(self._first, self._at).answer(self._first, found)
            self._first, self._expect_third = None, bool(found["port"])
        elif self._expect_third and _THIRD.fullmatch(line):
            self._expect_third = False
        else:
            self._printed.refuse(at, f"this line should go on with an answer of hping3 -V: {_MIXED}")

    def _of(self, found: re.Match[str], at: int) -> _Ping:
        """Return the run to which the answer `found` belongs: of the runs with the address that answered, the
        last one begun before this answer, or else the first. Raise UserError if there is none."""
        address = self._printed.address(found["ip"], at)
        if self._current and self._current.address == address:
            return self._current
        runs = self._by_address.get(address)
        if not runs:
            self._printed.refuse(
                at, f"an answer of {address}, which no HPING line of this file names: {_BOTH}"
            )
        self._mixed = True
        return next((run for run in reversed(runs) if run.at < at), runs[0])

    def _of_a_router(self, at: int, line: str) -> bool:
        hop, expired, refused = (form.fullmatch(line) for form in (_HOP, _EXPIRED, _UNREACHABLE))
        if not (hop or expired or refused):
            return bool(_HOP_RTT.fullmatch(line))
        if not self._current:
            self._printed.refuse(at, f"an ICMP message before any HPING line: {_MIXED}")
        if self._without_address is None:
            self._without_address = at
        if hop:
            self._current.hops.append((int(hop[1]), hop[2]))
        elif expired:
            self._current.expired += 1
        elif refused:
            self._current.unreachable.append((refused[1], refused[2]))
        return True

    def finish(self) -> None:
        """Check the file after its last line. Raise UserError for errors that are known only then."""
        if self._first or self._expect_third:
            self._printed.refuse_all("the file ends within an answer of hping3 -V; delete this answer")
        if self._mixed and self._without_address is not None:
            self._printed.refuse(self._without_address, f"a router's message does not name its run: {_MIXED}")
        self._pair()

    def _pair(self) -> None:
        """Assign each host's statistics to its runs, in order. Statistics of hosts that have no run in this
        file stay in `self.statistics`."""
        left = []
        for host in dict.fromkeys(total.host for total in self.statistics):
            totals = [total for total in self.statistics if total.host == host]
            runs = [run for run in self.runs if run.host == host]
            if not runs:
                left += totals
            elif len(runs) != len(totals):
                self._printed.refuse(
                    totals[0].at,
                    f"{len(totals)} statistics of {host} for {len(runs)} runs; delete the runs without",
                )
            for run, total in zip(runs, totals, strict=False):
                run.statistics = total
        self.statistics = left


def runs_of(files: Sequence[tuple[Printed, HpingFile]]) -> list[Run]:
    """Return the results of all runs of hping3 in `files`. Answers and statistics of a run may be in two
    files."""
    _pair_across(files)
    runs = [run for _, file in files for run in file.runs]
    for run in runs:
        if why := run.disagrees():
            run.refuse(f"{why}: {_MIXED}")
    talks = any(run.lines() and not run.statistics for run in runs)
    traces_talk = any(run.hops and run.answers for run in runs)
    for run in runs:
        if not run.statistics and not run.lines() and not talks:
            run.refuse(f"neither answers nor statistics: the run was quiet (-q) or interrupted; {_BOTH}")
        if run.may_be_quiet_trace() and not traces_talk:
            run.refuse("answers that were not printed may be the host's; run hping3 --traceroute without -q")
        if len(run.ports) > 1:  # hping3 -p ++80
            run.refuse("the answers come from several ports, but a row is for one port; leave this run out")
    return [run.run() for run in runs]


def _pair_across(files: Sequence[tuple[Printed, HpingFile]]) -> None:
    """Assign the statistics in those of `files` that contain only standard error to the runs of the same host
    in other files."""
    totals: dict[str, list[tuple[Printed, Statistics]]] = defaultdict(list)
    for printed, file in files:
        for total in file.statistics:
            totals[total.host].append((printed, total))
    for host, found in totals.items():
        runs = [run for _, file in files for run in file.runs if run.host == host and not run.statistics]
        if len(runs) != len(found):
            printed, total = found[0]
            printed.refuse(
                total.at, f"statistics of {host} without its HPING line; import its standard output too"
            )
        for run, (_, total) in zip(runs, found, strict=True):
            run.statistics = total
