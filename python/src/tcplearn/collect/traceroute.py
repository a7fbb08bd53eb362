# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Parse the output of traceroute and tcptraceroute into traces. A header of tcptraceroute (written to
standard error) may be missing or in another file; then the address of the last hop shows which host was
traced."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tcplearn.collect.printed import ANSWERED, NUMBER, Printed, Run, address_of
from tcplearn.collect.probe import Answer

#: traceroute's header, such as "traceroute to example.com (93.184.216.34), 30 hops max, 60 byte packets".
_TRACEROUTE = re.compile(
    r"traceroute6? to (\S+) \((\S+)\)(?: from \S+)?, (\d{1,3}) hops max(, \d+ byte packets)?"
)
#: tcptraceroute's: "Tracing the path to example.com (93.184.216.34) on TCP port 80 (http), 30 hops max".
_TRACING = re.compile(
    r"Tracing the path to (\S+)(?: \((\S+)\))? on TCP port (\d{1,5})(?: \(\S+\))?, (\d{1,3}) hops max"
    r"(?:, \d+ byte packets)?"
)
#: The line that traceroute's wrapper script named tcptraceroute prints before its header.
_WRAPPER = re.compile(r"\ttraceroute -T .*")
_WRAPPER_PORT = re.compile(r" -p (\d{1,5})\b")
#: A hop, such as " 9  93.184.216.34 [open]  10.123 ms  *  10.2 ms !X".
_HOP = re.compile(r" {0,3}(\d{1,3}) +(\S.*)")
_ADDRESS = r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*(?:%\w+)?"
_TOKEN = re.compile(
    rf"(?P<lost>\*)|(?P<ms>{NUMBER}) ms|(?P<error>!\S*)|F=\d+|'-\d+'|\[(?P<brackets>[^\]]*)\]"
    rf"|<(?P<angles>[^>]*)>|\S+ \((?P<named>{_ADDRESS})\)|(?P<address>{_ADDRESS})"
)
_STATES = {"open": Answer.open, "closed": Answer.closed, "syn": Answer.open, "rst": Answer.closed}
_TORN = re.compile(
    rf"traceroute6? to .* hops max|Tracing the path to|^ *\d+  .*{NUMBER} ?ms\b|^[ \d]*{NUMBER} ?ms\b"
)
_MIXED = "traces that ran side by side are mixed, or one is cut short; print each to a file of its own"


@dataclass(slots=True)
class _Header:
    printed: Printed
    at: int
    host: str
    address: str
    method: str
    most: int  # maximum number of hops
    port: int = 0


@dataclass(slots=True)
class _Hop:
    number: int
    # sender and RTT in ms; None: no answer
    probes: list[tuple[str, float | None]] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)  # state of the port by address
    failed: bool = False  # whether the line has !H or a similar mark

    def addresses(self) -> set[str]:
        return {address for address, rtt_ms in self.probes if rtt_ms is not None}


@dataclass(slots=True)
class _Trace:
    printed: Printed
    at: int
    hops: list[_Hop] = field(default_factory=list)
    header: _Header | None = None

    def reached(self, address: str) -> bool:
        return address in self.hops[-1].addresses()

    def run(self) -> Run:
        """Return the results (hops, state and RTTs) for the host in the trace's header."""
        header = self.header
        assert header
        run = Run(header.host, header.address, header.method, header.port)
        last = self.hops[-1]
        if not self.reached(header.address):
            if last.failed:
                run.state = Answer.unreachable.value
            elif last.number < header.most:
                self.printed.refuse(
                    self.at,
                    f"the trace to {header.host} ends at hop {last.number} of {header.most}: delete it",
                )
            return run
        first = next(hop for hop in self.hops if header.address in hop.addresses())
        # with traceroute -f the first hop printed may already be the host, whose distance is then unknown
        if first.number == 1 or first is not self.hops[0]:
            run.hops = first.number - 1
        run.state = last.states.get(header.address, ANSWERED)
        for address, rtt_ms in last.probes:
            if rtt_ms is not None and address == header.address:
                rtt_us = self.printed.microseconds(str(rtt_ms), self.at)
                run.rtts_us.append(max(1, rtt_us))
        run.samples = len(run.rtts_us)
        if last.addresses() == {header.address}:
            run.sent = len(last.probes)
        return run


class TraceFile:
    """The traces in one file with the output of traceroute or tcptraceroute."""

    def __init__(self, printed: Printed) -> None:
        self._printed = printed
        self.headers: list[_Header] = []  # headers to which no hops have been assigned yet
        self.traces: list[_Trace] = []
        self._open: _Trace | None = None
        self._wrapper_port = 0

    @property
    def found(self) -> bool:
        return bool(self.headers or self.traces)

    def line(self, at: int, line: str) -> bool:
        """Read a line at the offset `at`, and return whether it is from traceroute or tcptraceroute."""
        if hop := self._hop(line):
            self._add(at, hop)
            return True
        self.finish()
        if found := _TRACEROUTE.fullmatch(line):
            if not found[4]:
                self._printed.refuse(
                    at, "inetutils-traceroute takes answers to other programs for its own; use traceroute"
                )
            self._begin(at, found[1], found[2], "traceroute", int(found[3]), self._wrapper_port)
            self._wrapper_port = 0
        elif found := _TRACING.fullmatch(line):
            self._begin(at, found[1], found[2] or found[1], "tcptraceroute", int(found[4]), int(found[3]))
        elif _WRAPPER.fullmatch(line):
            port = _WRAPPER_PORT.search(line)
            self._wrapper_port = int(port[1]) if port else 80
        elif _TORN.search(line):
            self._printed.refuse(at, f"a line of a traceroute that is torn or unknown: {_MIXED}")
        else:
            return False
        return True

    def _begin(self, at: int, host: str, address: str, method: str, most: int, port: int) -> None:
        self.headers.append(
            _Header(self._printed, at, host, self._printed.address(address, at), method, most, port)
        )

    def _hop(self, line: str) -> _Hop | None:
        """Return the hop in `line`, or None if the line does not have the form of a hop."""
        found = _HOP.fullmatch(line)
        if not found:
            return None
        hop, address = _Hop(int(found[1])), ""
        for token in _tokens(found[2]):
            if not token:
                return None
            if token["lost"]:
                hop.probes.append(("", None))
            elif token["ms"]:
                if not address:
                    return None
                hop.probes.append((address, float(token["ms"])))
            elif token["error"]:
                hop.failed = True
            elif token["brackets"] or token["angles"]:
                word = re.split(r"\W", token["brackets"] or token["angles"])[0].lower()
                if word in _STATES:
                    hop.states[address] = _STATES[word].value
            elif token["named"] or token["address"]:
                address = address_of((token["named"] or token["address"]).split("%")[0])
                if not address:
                    return None
        return hop if hop.probes else None

    def _add(self, at: int, hop: _Hop) -> None:
        if self._open and hop.number == self._open.hops[-1].number + 1:
            probes, others = len(hop.probes), len(self._open.hops[0].probes)
            if probes != others:
                self._printed.refuse(at, f"{probes} probes of this hop, {others} of other hops: {_MIXED}")
            self._open.hops.append(hop)
            return
        if self._open and hop.number > 1 and self._open.hops[-1].number >= hop.number:
            self._printed.refuse(at, f"hop {hop.number} after hop {self._open.hops[-1].number}: {_MIXED}")
        self.finish()
        self._open = _Trace(self._printed, at, [hop])

    def finish(self) -> None:
        """End the current trace, if any, and assign a header to it if only one header is possible."""
        trace, self._open = self._open, None
        if not trace:
            return
        fit = [header for header in self.headers if trace.reached(header.address)]
        if not fit and len(self.headers) == 1:
            fit = self.headers
        if fit and len({(header.address, header.port) for header in fit}) == 1:
            trace.header = fit[0]
            self.headers.remove(fit[0])
        self.traces.append(trace)


def _tokens(text: str) -> Iterator[re.Match[str] | None]:
    """Yield each token (address, RTT or mark) of `text`, a hop's line without the number of the hop. At other
    text, yield None and stop."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found or (found.end() < len(text) and text[found.end()] != " "):
            yield None
            return
        yield found
        at = found.end()
        while at < len(text) and text[at] == " ":
            at += 1


def runs_of(files: Sequence[TraceFile]) -> list[Run]:
    """Return the results of all traces in `files`. A trace and its header may be in different files."""
    _join(files)
    headers = [header for file in files for header in file.headers]
    traces = [trace for file in files for trace in file.traces]
    for trace in traces:
        if not trace.header:
            _find(trace, headers)
    unreached = [trace for trace in traces if not trace.header]
    if unreached or headers:
        _assign(unreached, headers)
    return [trace.run() for trace in traces]


def _join(files: Sequence[TraceFile]) -> None:
    """If one of `files` has headers but no hops, assign them, in order, to the traces of another file, if
    there are as many and each trace that reached a host reached the host in its header."""
    for heads in [file for file in files if file.headers and not file.traces]:
        for file in files:
            traces = [trace for trace in file.traces if not trace.header]
            pairs = list(zip(traces, heads.headers, strict=False))
            reached = [trace.reached(header.address) for trace, header in pairs]
            others = [trace.hops[-1].states for trace, header in pairs if not trace.reached(header.address)]
            if len(traces) != len(heads.headers) or not any(reached) or any(others):
                continue
            for trace, header in pairs:
                trace.header = header
            heads.headers = []
            break


def _find(trace: _Trace, headers: list[_Header]) -> None:
    """Assign to `trace` the one of `headers` whose host is the last hop of the trace. If there is no such
    header, but tcptraceroute marked a host as reached, make a header for this host."""
    fit = [header for header in headers if trace.reached(header.address)]
    if len({(header.address, header.port) for header in fit}) > 1:
        trace.printed.refuse(trace.at, f"hops that may belong to several traces: {_MIXED}")
    last = trace.hops[-1]
    if fit:
        trace.header = fit[0]
        headers.remove(fit[0])
    elif last.states:
        (address, *_) = last.states
        trace.header = _Header(trace.printed, trace.at, address, address, "tcptraceroute", last.number)


def _assign(traces: Sequence[_Trace], headers: Sequence[_Header]) -> None:
    """Assign the remaining `headers` to `traces`, which did not reach their hosts, in any order if their
    results are all the same. Raise UserError if their results differ, or if there are not as many headers as
    traces."""
    alike = {(trace.hops[-1].failed, trace.hops[-1].number) for trace in traces}
    failed = all(trace.hops[-1].failed for trace in traces)
    full = all(trace.hops[-1].number == header.most for trace in traces for header in headers)
    if len(traces) > len(headers):
        traces[0].printed.refuse(
            traces[0].at,
            "hops without the header, which tcptraceroute prints to standard error; import that too",
        )
    if len(traces) < len(headers):
        headers[0].printed.refuse(
            headers[0].at,
            f"the trace to {headers[0].host} has no hops; delete it, or import its standard output too",
        )
    if len(traces) > 1 and not (failed or (full and len(alike) == 1)):
        traces[0].printed.refuse(traces[0].at, f"hops that may belong to several traces: {_MIXED}")
    for trace, header in zip(traces, headers, strict=True):
        trace.header = header
