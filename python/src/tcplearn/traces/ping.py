# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the output of ping: iputils, BusyBox, macOS, BSD, Windows, fping -l and -C, and hping3."""

import re
from array import array
from collections.abc import Iterator

import numpy as np

from .base import TraceError, TraceFile, TraceOptions
from .lines import Clock, text_lines
from .samples import SampleFlow, SampleTrace, count_warnings, slices
from .schema import Columns, empty_batch

_UNITS_US = {"s": 1e6, "ms": 1e3, "us": 1.0, "\N{MICRO SIGN}s": 1.0, "usec": 1.0}
_RTT = re.compile(  # in any language, the only number with a unit of time: "time=12.3 ms", "Zeit<1ms"
    r"([=<])\s?(\d{1,12}(?:[.,]\d{1,9})?)\s?(ms|usec|us|\N{MICRO SIGN}s|s|мсек|мс|毫秒)(?![\w/])",
    re.IGNORECASE,
)
_FPING = re.compile(r"^(\S+)\s+: \[(\d{1,9})\], (?:.*?(\d{1,12}(?:\.\d{1,9})?) ms|timed out)")
#: fping -C prints all round trips to a host in one line, with "-" for a lost reply.
_FPING_ALL = re.compile(r"(\S+(?: \(\S+\))?) +:((?: +(?:\d{1,12}(?:\.\d{1,9})?|-))+)\s*")
_SEQUENCE = re.compile(r"\b(?:icmp_|tcp_|udp_)?(?:seq|req)[= ](\d{1,9})\b")
_ADDRESS = re.compile(
    r"(?<![\w.:])(\d{1,3}(?:\.\d{1,3}){3}|(?=[\da-fA-F:]*:[\da-fA-F]*:)[\da-fA-F:]{1,38}[\da-fA-F](?:%\w+)?)(?![\w.]|:\w)"
)
_FROM = re.compile(r"\bfrom ([^\s:,]+)")
_TTL = re.compile(r"\b(?:ttl|hlim)=(\d{1,3})", re.IGNORECASE)
_BEGIN = re.compile(
    r"^\s*(?:PING6?\b|Ping wird ausgef|Pinging |Envoi d'une requ|Haciendo ping|Esecuzione di Ping)"
)
_SUMMARY = re.compile(r"^(\d{1,12}) .*\d% .*?(\d{1,15}) ?ms\s*$")
_NO_ANSWER = re.compile(
    r"no answer yet|time(?:d )?.?out|unreachable|ttl expired|time to live exceeded"
    r"|zeit.berschreitung|nicht erreichbar|d.lai d.attente|agotado|scaduta|esgotado|превышен",
    re.IGNORECASE,
)
_MOST_HELD = 500_000  # most replies kept in memory until the time between requests is known
_STEP_US = 1_000_000  # the default interval of all ping programs
_TURN = 1 << 16  # sequence numbers have 16 bits


def looks_like_ping(text: str) -> bool:
    """Return whether `text`, the beginning of a file, is output of ping."""
    lines = [Clock().split(line)[1] for line in text.split("\n")[:12]]
    fping = (_FPING.match(line.strip()) or _FPING_ALL.fullmatch(line.strip()) for line in lines)
    return any(fping) or any(_BEGIN.match(line) or _is_reply(line) for line in lines)


def _is_reply(line: str) -> bool:
    sequence, found = _SEQUENCE.search(line), _RTT.search(line)
    return bool((found and (sequence or _TTL.search(line))) or (sequence and _NO_ANSWER.search(line)))


class _Target:
    """The replies of one host, in order."""

    def __init__(self, flow: SampleFlow) -> None:
        self.flow = flow
        self.sequence, self.rtt_us = array("q"), array("q")
        self.time_us, self.ttl = array("q"), array("q")
        self.turns = 0
        self.first: int | None = None
        self.last: int | None = None
        self.replies = 0
        self.unanswered = 0  # requests without a sequence number
        self.itemized = False  # whether each reply has a line of its own

    def numbered(self, sequence: int | None) -> int:
        """Return the number of a request since the start, given its 16-bit `sequence` number, which wraps
        around. If `sequence` is None, return the previous request's number plus one."""
        if sequence is None:
            full = 0 if self.last is None else self.last + 1
        else:
            full = self.turns + sequence
            if self.last is not None and full < self.last - _TURN // 2:
                self.turns += _TURN
                full += _TURN
        self.first = full if self.first is None else min(self.first, full)
        self.last = full if self.last is None else max(self.last, full)
        return full

    def missing(self) -> int:
        requests = 0 if self.first is None or self.last is None else self.last - self.first + 1
        return max(requests - self.replies, 0)


class PingTrace(SampleTrace):
    """A trace that reads the output of ping. Each host that replies is a flow."""

    kind = "ping"

    def __init__(self, file: TraceFile, options: TraceOptions) -> None:
        super().__init__(file)
        self._clock = Clock()
        self._targets: dict[str, _Target] = {}
        self._host = file.title  # the host of lines that name none
        self._held = self._samples = 0
        self._duplicates = self._unanswered = self._below = self._moved = self._without = 0
        self._timed: bool | None = None
        self._step_us: float | None = None
        self._steps_us: set[int] = set()
        self._first_us: int | None = None

    @property
    def warnings(self) -> list[str]:
        lines = list(self._warnings)
        if self._steps_us:
            step = ", ".join(f"{step / 1e6:g}" for step in sorted(self._steps_us)[:3])
            lines.append(
                f"no times in it: they are made up from the sequence numbers, {step} s between two requests "
                "(ping -D prints times)"
            )
        lines += count_warnings(
            (self._unanswered, "requests without an answer: left out"),
            (self._duplicates, "duplicate answers: left out"),
            (self._below, "round trips given as below the resolution: taken as half of it"),
            (self._without, "answers without a round trip (fewer than 16 bytes were sent): left out"),
            (self._moved, "answers whose time goes back: they take the time before them"),
        )
        return [*lines, *self._cut_short()]

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the RTT samples in batches of at most `max_rows` rows."""
        for number, line in text_lines(self._stream, self._file):
            time_us, line = self._clock.split(line)
            if summary := _SUMMARY.match(line):
                requests, total_ms = int(summary[1]), int(summary[2])
                if requests > 1:
                    self._step_us = total_ms * 1000 / (requests - 1)
            elif _BEGIN.match(line):
                yield from self._flush(max_rows, end=True)
                self._begin(line)
            else:
                self._line(number, time_us, line)
            if self._held >= _MOST_HELD:
                yield from self._flush(max_rows, end=False)
        yield from self._flush(max_rows, end=True)
        if not self._samples:
            raise TraceError(
                f"{self._file}: what ping prints, but no answer with a round trip in it"
                + (f" ({self._unanswered} requests had none)" if self._unanswered else "")
            )

    def _begin(self, line: str) -> None:
        self._step_us = None
        found = _ADDRESS.search(line)
        self._host = found[1] if found else self._file.title

    def _line(self, number: int, time_us: int | None, line: str) -> None:
        if fping := _FPING.match(line.strip()):
            target = self._target(fping[1])
            target.itemized = True
            self._reply(target, time_us, int(fping[2]), float(fping[3]) * 1000 if fping[3] else None, 0)
            return
        if fping := _FPING_ALL.fullmatch(line.strip()):
            self._all_of(self._target(fping[1]), fping[2].split())
            return
        found, sequence = _RTT.search(line), _SEQUENCE.search(line)
        turn = int(sequence[1]) if sequence else None
        if found and (sequence or _TTL.search(line)):
            ttl = _TTL.search(line)
            rtt_us = float(found[2].replace(",", ".")) * _UNITS_US.get(found[3].lower(), 1e3)
            if found[1] == "<":
                self._below += 1
                rtt_us /= 2
            target = self._target(self._host_of(line))
            if "DUP!" in line:
                self._duplicates += 1
                return
            self._reply(target, time_us, turn, rtt_us, min(int(ttl[1]), 255) if ttl else 0)
        elif _NO_ANSWER.search(line):
            self._reply(self._target(self._host), time_us, turn, None, 0)
        elif sequence and _TTL.search(line):
            self._without += 1

    def _all_of(self, target: _Target, rtts_ms: list[str]) -> None:
        """Add to the host `target` the round trips `rtts_ms` ("-": lost), which fping prints in one line,
        unless they also had lines of their own (fping without -q)."""
        if not target.itemized:
            for rtt_ms in rtts_ms:
                self._reply(target, None, None, None if rtt_ms == "-" else float(rtt_ms) * 1000, 0)

    def _host_of(self, line: str) -> str:
        found = _ADDRESS.search(line) or _FROM.search(line)
        return found[1] if found else self._host

    def _target(self, host: str) -> _Target:
        if host not in self._targets:
            self._targets[host] = _Target(self._new_flow(host))
        return self._targets[host]

    def _reply(
        self, target: _Target, time_us: int | None, sequence: int | None, rtt_us: float | None, ttl: int
    ) -> None:
        full = target.numbered(sequence)
        if rtt_us is None:  # a reply may still come
            return
        target.replies += 1
        self._timed = self._timed is not False and time_us is not None
        target.sequence.append(full)
        target.rtt_us.append(max(round(rtt_us), 1))
        target.time_us.append(time_us if time_us is not None else -1)
        target.ttl.append(ttl)
        self._held += 1

    def _flush(self, max_rows: int, *, end: bool) -> Iterator[Columns]:
        """Yield the rows kept in memory. `end` says that no more replies of the hosts follow."""
        for target in self._targets.values():
            yield from self._rows(target, max_rows, end=end)
        self._held = 0
        if end:
            self._unanswered += sum(target.missing() for target in self._targets.values())
            self._targets.clear()
            self._timed = self._first_us = None

    def _rows(self, target: _Target, max_rows: int, *, end: bool) -> Iterator[Columns]:
        flow = target.flow
        if not len(target.rtt_us):
            if end and flow.last_us is None:
                self._by_id.pop(flow.id)  # the host never replied
            elif end:
                yield empty_batch() | {"ended": np.array([flow.id], np.uint32)}
            return
        rtt_us = np.array(target.rtt_us, np.int64)
        if self._timed:
            time_us = np.array(target.time_us, np.int64)
            self._first_us = int(time_us[0]) if self._first_us is None else self._first_us
            time_us -= self._first_us
        else:
            step_us = self._step_us if self._step_us else _STEP_US
            self._steps_us.add(round(step_us))
            sequence = np.array(target.sequence, np.int64) - (target.first or 0)
            time_us = np.rint(sequence * step_us).astype(np.int64) + rtt_us
        order = np.argsort(time_us, kind="stable")
        given_us, rtt_us, ttl = time_us[order], rtt_us[order], np.array(target.ttl)[order]
        if self._timed:
            self._moved += int((np.diff(time_us) < 0).sum())
        since_us = int(given_us[0]) if flow.last_us is None else flow.last_us
        batch = flow.columns(np.maximum(given_us, since_us), rtt_us, np.zeros(len(rtt_us), np.bool_))
        batch["ttl"] = ttl.astype(np.uint8)
        batch["ended"] = np.array([flow.id] if end else [], np.uint32)
        self._samples += len(rtt_us)
        for held in (target.sequence, target.rtt_us, target.time_us, target.ttl):
            del held[:]
        yield from slices(batch, max_rows)
