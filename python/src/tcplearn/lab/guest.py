# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A run of a scenario as the script that the guest executes: plain `ip` and `tc`, to be read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from tcplearn.scenario import link_trace

from . import beside, handshakes
from .arm import LINEAR, NO_ESTIMATOR, NO_RACK, STOCK, Arm
from .scenario import Direction, Scenario, Traffic
from .workload import Setup

#: On the hop of the delay: no bottleneck, but with a rate netem keeps the order in spite of the jitter.
ORDERLY = "rate 10gbit"
KERNEL_MODULES = ("veth", "sch_netem", "sch_tbf", "sch_codel", "sch_pie", "tcp_vegas")
#: In the image too; loaded where a scenario names their congestion control.
MORE_MODULES = ("tcp_veno", "tcp_westwood", "tcp_bbr")

#: Around a hop, in a packet's order.
PLACES = ("before-queue", "after-queue", "after-delay")
#: Where packets are dropped, or go another way, for what they are.
NFT_MODULES = ("nf_tables", "nft_limit")


def arms(scenario: Scenario, run: int) -> list[Arm]:
    """Every algorithm once, interleaved: each run starts with the next one."""
    a = scenario.algorithms
    crossed = [
        Arm(c, e, t, startup=s, at=at)
        for t in a.tlp
        for c in a.congestion
        for at in a.at
        for e in a.of.get(c, a.estimators)
        for s in a.startups
        if s == STOCK or e != NO_ESTIMATOR  # the plain kernel has no policy of ours
        if at == a.at[0] or e not in (STOCK, NO_ESTIMATOR)  # nor an end
    ]
    judged = [Arm(c, STOCK, t, loss) for t in a.tlp for c in a.congestion for loss in a.loss]
    judged += [Arm(c, STOCK, t, rto_min_ms=ms) for t in a.tlp for c in a.congestion for ms in a.rto_min_ms]
    judged += [Arm(c, STOCK, s != NO_RACK, setting=s) for c in a.congestion for s in a.settings]
    judged += [
        Arm(c, e, t, resend=r) for t in a.tlp for c in a.congestion for r in a.resends for e in a.estimators
    ]
    every = (judged or crossed) + [Arm(c, NO_ESTIMATOR, t) for t in a.tlp for c in a.plain]
    turn = run % len(every)
    return every[turn:] + every[:turn]


def script(scenario: Scenario, run: int, *, pcap: bool = False, shell: bool = False) -> str:
    """The guest's script for one run."""
    last = _gateway(len(scenario.hop))
    lines = [
        f"# {scenario.name}, run {run}",
        ". /scenario/lib.sh",
        *([f". /scenario/programs.sh; receiver=c{last}"] if scenario.with_programs else []),
        f"kernel_modules {' '.join((*KERNEL_MODULES, *(NFT_MODULES if scenario.with_nft else ())))}",
        *_more_modules(scenario),
        "load",
        "namespaces " + " ".join(f"c{i}" for i in range(last + 1)),
        *_links(last),
        *(line for i, hop in enumerate(scenario.hop) for line in _hop(i, hop.forward, hop.back)),
        *(line for k, traffic in enumerate(scenario.traffic) for line in _others(scenario, k, traffic)),
        f"in_ns c{last} /scenario/transfer sink 5001 &",
        # addresses are resolved beforehand, or the first handshake would wait for ARP
        f"until in_ns c0 ping -q -c 1 -W 60 {_address(last)} >/dev/null; do sleep 1; done",
    ]
    if pcap:
        lines.append("capture sender c0 r0")
        for i, hop in enumerate(scenario.hop):
            lines += [
                f"capture {hop.name}-before-queue c{_gateway(i)} l{_gateway(i) - 1}",
                f"capture {hop.name}-after-queue c{_gateway(i) + 1} l{_gateway(i)}",
                f"capture {hop.name}-after-delay c{_gateway(i) + 2} l{_gateway(i) + 1}",
            ]
        lines.append("sleep 1")
    elif scenario.truth:
        lines += _truth(scenario)
    if shell:
        lines += ["echo 'c0 is the sender: in_ns c0 COMMAND; ^D ends the machine'", "ENV=/scenario/lib.sh"]
        return "\n".join([*lines, "export ENV", "setsid cttyhack sh -i || true", "exit 0"]) + "\n"
    setup, load, loads = _setup(scenario, run), scenario.transfer.workload, scenario.workloads
    lines += [line for one in loads for line in one.starts(setup)]
    lines += [*_traffic_starts(scenario), *_changes(scenario), *_follows(scenario)]
    for arm in arms(scenario, run):
        if scenario.algorithms.loss:
            lines.append(f"in_ns c0 sysctl -qw net.tcplearn.loss={arm.loss or 'none'}")
        if scenario.algorithms.settings:
            recovery, linear = int(arm.setting != NO_RACK), int(arm.setting == LINEAR)
            lines.append(
                f"in_ns c0 sysctl -qw net.ipv4.tcp_recovery={recovery} "
                f"net.ipv4.tcp_thin_linear_timeouts={linear}"
            )
        if scenario.algorithms.resends or scenario.algorithms.rto_min_ms:
            lines.append(f"in_ns c0 sysctl -qw net.tcplearn.resend={arm.resend or 'none'}")
            if load.inherits:  # each write forgets what was learned under the arm before
                lines.append("in_ns c0 sysctl -qw net.tcplearn.resend_places=1")
            floor = f" rto_min {arm.rto_min_ms}ms" if arm.rto_min_ms else ""
            lines.append(f"ip -n c0 route replace default via {_address(1)}{floor}")
        lines += beside.counters(scenario, arm.folder, "before")
        if scenario.algorithms.startups != [STOCK]:
            lines.append(f"startup {shlex.quote(arm.startup)}")
        if scenario.handshakes and not scenario.transfer.pages:
            lines.append(
                f"python3 /scenario/handshakes.py {handshakes.ROUTER} {scenario.handshakes.dropped()}"
            )
        lines += [line for one in loads for line in one.before(setup, arm)]
        function = load.function.format(by=setup.by)
        lines.append(
            f"transfer {arm.folder} {arm.kernel_name} {shlex.quote(arm.estimator)} {3 if arm.tlp else 0} "
            f"{int(scenario.algorithms.set_srtt)} {_address(last)} {scenario.transfer.bytes}"
            + (f" send_{function}" if function != "send" else "")
        )
        lines += [line for one in reversed(loads) for line in one.after(setup, arm)]
        lines += beside.counters(scenario, arm.folder, "after")
    lines += [
        f"in_ns c{_gateway(i)} tc -s qdisc show dev r{_gateway(i)} >/out/queue-{hop.name}"
        for i, hop in enumerate(scenario.hop)
    ]
    lines += ["finish", "exit 0"]
    return "\n".join(lines) + "\n"


def _setup(scenario: Scenario, run: int) -> Setup:
    return Setup(
        by=scenario.transfer.by,
        bytes=scenario.transfer.bytes,
        seed=scenario.runs.seed + run,
        last=_gateway(len(scenario.hop)),
        congestion=list(scenario.algorithms.congestion),
        handshakes=scenario.handshakes,
        fading=_fading(scenario) if scenario.fades else ("", "", ""),
    )


def _more_modules(scenario: Scenario) -> Iterator[str]:
    if wanted := [name for name in MORE_MODULES if name.removeprefix("tcp_") in scenario.algorithms.plain]:
        yield f"kernel_modules {' '.join(wanted)}"


def _truth(scenario: Scenario) -> Iterator[str]:
    """Captures of the transfers' data where each hop begins, behind its queue and behind its delay."""
    for i, hop in enumerate(scenario.hop):
        for k, place in enumerate(PLACES):
            node = _gateway(i) + k
            yield f"capture_data {hop.name}-{place} c{node} l{node - 1}"
    yield "sleep 1"
    yield "in_ns c0 /scenario/transfer clocks >/out/clocks"


def _gateway(hop: int) -> int:
    """The node where a hop begins. The sender stands before the first: a drop by its own device is no
    loss to TCP, which learns of it at once."""
    return 2 * hop + 1


def _address(node: int) -> str:
    """Of a node, on the link to its left."""
    return f"10.0.{node - 1}.2"


def _links(last: int) -> Iterator[str]:
    for i in range(last):
        yield f"link c{i} r{i} 10.0.{i}.1 c{i + 1} l{i} 10.0.{i}.2"
    for i in range(last):
        yield f"route c{i} default 10.0.{i}.2"
        for j in range(i - 1):
            yield f"route c{i} 10.0.{j}.0/24 10.0.{i - 1}.1"
    for j in range(last - 1):
        yield f"route c{last} 10.0.{j}.0/24 10.0.{last - 1}.1"


def _hop(i: int, forward: Direction, back: Direction) -> Iterator[str]:
    """A queue where a hop begins, delay and loss in its middle: each on a device of its own."""
    left = _gateway(i)
    middle, right = left + 1, left + 2
    yield from _queue(f"c{left} r{left}", forward)
    yield from _path(f"c{middle} r{middle}", forward)
    yield from _queue(f"c{right} l{middle}", back)
    yield from _path(f"c{middle} l{left}", back)


def _changes(scenario: Scenario) -> Iterator[str]:
    names = [hop.name for hop in scenario.hop]
    for change in scenario.change:
        left = _gateway(names.index(change.hop))
        devices = ((change.forward, f"c{left} r{left}", f"c{left + 1} r{left + 1}"),
                   (change.back, f"c{left + 2} l{left + 1}", f"c{left + 1} l{left}"))  # fmt: skip
        commands = []
        for direction, queue, path in devices:
            if direction is not None:
                commands += [*_queue(queue, direction), *_path(path, direction)]
        step = "; ".join(_change(command) for command in commands)
        if change.every_s is not None:
            step = f"while :; do {step}; sleep {change.every_s:g}; done"
        yield f"(sleep {change.at_s:g}; {step}) &"


def _fading(scenario: Scenario) -> tuple[str, str, str]:
    """Where the fades' hop has its delay forward, and its commands in a fade and out of one."""
    assert scenario.fades
    i = [hop.name for hop in scenario.hop].index(scenario.fades.hop)
    forward, middle = scenario.hop[i].forward, _gateway(i) + 1
    device = f"c{middle} r{middle}"
    lost = forward.model_copy(update={"loss_percent": 100})
    (fading,), (clear,) = _path(device, lost), _path(device, forward)
    # tc runs in the namespace already
    in_tc = [f"qdisc change dev r{middle} {line.split(' ', 3)[3]}" for line in (fading, clear)]
    return f"c{middle}", in_tc[0], in_tc[1]


def _change(command: str) -> str:
    """Of "qdisc NS DEVICE ...", which adds, the same as a change."""
    _, ns, device, rest = command.split(" ", 3)
    return f"in_ns {ns} tc qdisc change dev {device} {rest}"


def _follows(scenario: Scenario) -> Iterator[str]:
    """Traced links: one tc for each, that is given a rate at its time."""
    for i, hop in enumerate(scenario.hop):
        left = _gateway(i)
        ends = (
            (hop.forward, left, f"r{left}", f"10.0.{left}.2"),
            (hop.back, left + 2, f"l{left + 1}", f"10.0.{left + 1}.1"),
        )
        for direction, ns, device, peer in ends:
            if not direction.trace:
                continue
            trace = direction.followed()
            yield f"cat >/tmp/{device} <<END"
            yield from (
                f"{step.at_ms} qdisc change dev {device} {_bucket(step.rate, limit=direction.queue_packets)}"
                for step in trace.steps
            )
            yield "END"
            pace = f"in_ns c{ns} /scenario/transfer pace {trace.period_ms} /tmp/{device}"
            yield f"({pace} | in_ns c{ns} tc -batch -) &"
            # a bucket that waits looks at its new rate when the next packet comes: one each 64 ms, 7 kbit/s
            yield f"in_ns c{ns} /scenario/transfer udp {peer} 9 2 16 86400 &"


def _bucket(rate: int, burst: int = link_trace.BURST_BYTES, limit: int = 100_000_000) -> str:
    """Its limit is also set on a fifo below it, in the fifo's own unit."""
    return f"root handle 1: tbf rate {rate}bit burst {burst} limit {limit}"


def _queue(device: str, d: Direction) -> Iterator[str]:
    if d.trace:
        yield f"qdisc {device} {_bucket(d.followed().steps[0].rate, limit=d.queue_packets)}"
        yield f"qdisc {device} parent 1: handle 10: pfifo limit {d.queue_packets}"
    if d.rate is None:
        return
    if d.queue == "fifo":
        yield f"qdisc {device} root netem rate {d.rate}bit limit {d.queue_packets}"
        return
    burst = max(3028, d.rate // 8 // 250)  # a packet or two, or what a timer tick lets through
    yield f"qdisc {device} {_bucket(d.rate, burst)}"
    yield f"qdisc {device} parent 1: handle 10: {d.queue} limit {d.queue_packets}"


def _path(device: str, d: Direction) -> Iterator[str]:
    words: list[str] = []
    if d.delay_ms:
        words.append(f"delay {d.delay_ms:g}ms")
        if d.jitter_ms:
            words.append(f"{d.jitter_ms:g}ms")
            if d.correlation_percent:
                words.append(f"{d.correlation_percent:g}%")
            words.append(f"distribution {d.distribution}")
    if d.loss_percent:
        words.append(f"loss {d.loss_percent:g}%")
    if d.bursts:
        b = d.bursts
        words.append(f"loss gemodel {b.p:g}% {b.r:g}% {b.loss_in_bad:g}% {b.loss_in_good:g}%")
    if d.slot_ms:
        words.append(f"slot {d.slot_ms[0]:g}ms {d.slot_ms[1]:g}ms")
    if words:
        orderly = "" if d.reorder or not d.jitter_ms else f" {ORDERLY}"
        yield f"qdisc {device} root netem limit 100000{orderly} {' '.join(words)}"


def _ends(scenario: Scenario, t: Traffic) -> tuple[int, int]:
    """Nodes where others' traffic enters and leaves."""
    names = [hop.name for hop in scenario.hop]
    return _gateway(names.index(t.enters)), _gateway(names.index(t.leaves or t.enters) + 1)


def _others(scenario: Scenario, k: int, t: Traffic) -> Iterator[str]:
    start, end = _ends(scenario, t)
    yield f"namespaces x{k}"
    yield f"link x{k} eth0 10.1.{k}.1 c{start} x{k} 10.1.{k}.2"
    yield f"route x{k} default 10.1.{k}.2"
    for node in range(start + 1, end + 1):
        yield f"route c{node} 10.1.{k}.0/24 10.0.{node - 1}.1"
    if t.kind == "tcp":
        yield f"in_ns c{end} /scenario/transfer sink {6000 + k} &"
    yield f"until in_ns x{k} ping -q -c 1 -W 60 {_address(end)} >/dev/null; do sleep 1; done"


def _traffic_starts(scenario: Scenario) -> Iterator[str]:
    for k, t in enumerate(scenario.traffic):
        to = _address(_ends(scenario, t)[1])
        send = f"in_ns x{k} /scenario/transfer"
        if t.kind == "tcp":
            step = f"{send} send {to} {6000 + k} {t.bytes} cubic >/dev/null || true; sleep {t.pause_s:g}"
            yield f"(sleep {t.start_s:g}; while :; do {step}; done) &"
        else:
            yield f"(sleep {t.start_s:g}; {send} udp {to} 9 {t.rate // 1000} {t.packet_bytes} 86400) &"
