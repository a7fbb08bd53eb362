# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes the shell script of plain `ip` and `tc` commands that the lab's virtual machine executes."""

import shlex
from collections.abc import Iterator

from . import beside, handshakes, path
from .arm import LINEAR, NO_ESTIMATOR, NO_RACK, STOCK, Arm
from .scenario import Scenario, Traffic
from .workload import Setup

KERNEL_MODULES = ("veth", "sch_netem", "sch_tbf", "sch_codel", "sch_pie", "tcp_vegas")
MORE_MODULES = ("tcp_veno", "tcp_westwood", "tcp_bbr")  # loaded if a scenario names the congestion control

PLACES = ("before-queue", "after-queue", "after-delay")  # in the order in which a packet passes them
NFT_MODULES = ("nf_tables", "nft_limit")  # for rules that drop or route packets by their content


def arms(scenario: Scenario, run: int) -> list[Arm]:
    """Return the algorithms of `scenario`, rotated by one for each run so that none always comes first."""
    a = scenario.algorithms
    crossed = [
        Arm(c, e, t, startup=s, at=at)
        for t in a.tlp
        for c in a.congestion
        for at in a.at
        for e in a.of.get(c, a.estimators)
        for s in a.startups
        if s == STOCK or e != NO_ESTIMATOR  # a startup policy needs the module
        if at == a.at[0] or e not in (STOCK, NO_ESTIMATOR)  # the kernel's own timer is the same at either end
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
    """Return the script of run number `run`. `pcap`: capture at each hop; `shell`: a shell, no transfers."""
    last = path.gateway(len(scenario.path.hop))
    lines = [
        f"# {scenario.name}, run {run}",
        ". /scenario/lib.sh",
        *([f". /scenario/programs.sh; receiver=c{last}"] if scenario.with_programs else []),
        f"kernel_modules {' '.join((*KERNEL_MODULES, *(NFT_MODULES if scenario.with_nft else ())))}",
        *_more_modules(scenario),
        "load",
        "namespaces " + " ".join(f"c{i}" for i in range(last + 1)),
        *_links(last),
        *path.set_up(scenario.path),
        *(line for k, traffic in enumerate(scenario.traffic) for line in _others(scenario, k, traffic)),
        f"in_ns c{last} /scenario/transfer sink 5001 &",
        # resolve link-layer addresses first; otherwise the first handshake would wait for ARP
        f"until in_ns c0 ping -q -c 1 -W 60 {_address(last)} >/dev/null; do sleep 1; done",
    ]
    if pcap:
        lines.append("capture sender c0 r0")
        for i, hop in enumerate(scenario.path.hops):
            lines += [
                f"capture {hop.name}-before-queue c{path.gateway(i)} l{path.gateway(i) - 1}",
                f"capture {hop.name}-after-queue c{path.gateway(i) + 1} l{path.gateway(i)}",
                f"capture {hop.name}-after-delay c{path.gateway(i) + 2} l{path.gateway(i) + 1}",
            ]
        lines.append("sleep 1")
    elif scenario.captures:
        lines += _captures(scenario)
    elif scenario.truth:
        lines += _truth(scenario)
    if shell:
        lines += ["echo 'c0 is the sender: in_ns c0 COMMAND; ^D ends the machine'", "ENV=/scenario/lib.sh"]
        return "\n".join([*lines, "export ENV", "setsid cttyhack sh -i || true", "exit 0"]) + "\n"
    setup, load, loads = _setup(scenario, run), scenario.transfer.workload, scenario.workloads
    lines += [line for one in loads for line in one.starts(setup)]
    lines += [*_traffic_starts(scenario), *path.changes(scenario.path), *path.follows(scenario.path)]
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
            if load.inherits:  # this discards what the resend policy learned under the previous arm
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
        f"in_ns c{path.gateway(i)} tc -s qdisc show dev r{path.gateway(i)} >/out/queue-{hop.name}"
        for i, hop in enumerate(scenario.path.hops)
    ]
    lines += ["finish", "exit 0"]
    return "\n".join(lines) + "\n"


def _setup(scenario: Scenario, run: int) -> Setup:
    return Setup(
        by=scenario.transfer.by,
        bytes=scenario.transfer.bytes,
        seed=scenario.runs.seed + run,
        last=path.gateway(len(scenario.path.hop)),
        congestion=list(scenario.algorithms.congestion),
        handshakes=scenario.handshakes,
        drawn_fades=scenario.path.drawn_fades,
        fading=path.fading(scenario.path) if scenario.path.drawn_fades else ("", "", ""),
    )


def _more_modules(scenario: Scenario) -> Iterator[str]:
    if wanted := [name for name in MORE_MODULES if name.removeprefix("tcp_") in scenario.algorithms.plain]:
        yield f"kernel_modules {' '.join(wanted)}"


def _truth(scenario: Scenario) -> Iterator[str]:
    for i, hop in enumerate(scenario.path.hops):
        for k, place in enumerate(PLACES):
            node = path.gateway(i) + k
            yield f"capture_data {hop.name}-{place} c{node} l{node - 1}"
    yield "sleep 1"
    yield "in_ns c0 /scenario/transfer clocks >/out/clocks"


def _captures(scenario: Scenario) -> Iterator[str]:
    yield "capture sender c0 r0"
    for i, hop in enumerate(scenario.path.hops):
        yield f"capture {hop.name} c{path.gateway(i) + 2} l{path.gateway(i) + 1}"
    yield "trace_resends"
    yield "sleep 1"


def _address(node: int) -> str:
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


def _ends(scenario: Scenario, t: Traffic) -> tuple[int, int]:
    names = list(scenario.path.hop)
    return path.gateway(names.index(t.enters)), path.gateway(names.index(t.leaves or t.enters) + 1)


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
