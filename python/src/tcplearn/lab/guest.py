# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes the shell script of `ip` and `tc` commands that the machine of `tcplearn lab` executes."""

import shlex
from collections.abc import Iterable, Iterator

from tcplearn import losses

from . import path
from .arm import BY_BPF, LINEAR, NO_ESTIMATOR, NO_FRIENDLY, NO_RACK, STOCK, Arm
from .scenario import Scenario, Traffic
from .workload import ROUTER, Setup

KERNEL_MODULES = ("veth", "sch_netem", "sch_tbf", "sch_codel", "sch_pie", "tcp_vegas")
MORE_MODULES = ("tcp_veno", "tcp_westwood", "tcp_bbr")  # loaded if a scenario names the congestion control

# where packets are captured around a hop, in the order in which a packet passes these places
PLACES = ("before-queue", "after-queue", "after-delay")
STORM_MODULES = ("tls", "aesni_intel")  # connections that the kernel encrypts
NFT_MODULES = ("nf_tables", "nft_limit")  # needed by rules that drop or route packets by their content
_SHELL = (
    "echo 'c0 is the sender: in_ns c0 COMMAND; ^D ends the machine'",
    "ENV=/scenario/lib.sh\nexport ENV",
    "setsid cttyhack sh -i || true",
)


def arms(scenario: Scenario, run: int) -> list[Arm]:
    """Return the algorithms that `scenario` compares, rotated by `run` so that none always comes first."""
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
    judged += [
        Arm(c, NO_ESTIMATOR if s in BY_BPF else STOCK, s != NO_RACK, setting=s)
        for c in a.congestion
        for s in a.settings
    ]
    judged += [
        Arm(c, e, t, resend=r) for t in a.tlp for c in a.congestion for r in a.resends for e in a.estimators
    ]
    every = (judged or crossed) + [Arm(c, NO_ESTIMATOR, t) for t in a.tlp for c in a.plain]
    turn = run % len(every)
    return every[turn:] + every[:turn]


def script(scenario: Scenario, run: int, *, pcap: bool = False, shell: bool = False) -> str:
    """Return the shell script that the virtual machine executes in run number `run`. With `pcap`, it captures
    packets at each hop; with `shell`, it starts a shell and makes no transfers."""
    work: Iterable[str] = _SHELL if shell else _transfers(scenario, run)
    head = f"# {scenario.name}, run {run}"
    return "\n".join((head, *_network(scenario), *_captures(scenario, pcap), *work, "exit 0")) + "\n"


def _network(scenario: Scenario) -> Iterator[str]:
    last = path.gateway(len(scenario.path.hop))
    yield ". /scenario/lib.sh"
    if scenario.with_programs:
        yield f". /scenario/programs.sh; receiver=c{last}"
    yield f"kernel_modules {' '.join((*KERNEL_MODULES, *(NFT_MODULES if scenario.with_nft else ())))}"
    if wanted := [name for name in MORE_MODULES if name.removeprefix("tcp_") in scenario.algorithms.plain]:
        yield f"kernel_modules {' '.join(wanted)}"
    yield "load"
    if scenario.algorithms.live:
        yield "live_ready"
    yield "namespaces " + " ".join(f"c{i}" for i in range(last + 1))
    yield from _links(last)
    yield from path.set_up(scenario.path)
    for k, traffic in enumerate(scenario.traffic):
        yield from _others(scenario, k, traffic)
    yield f"in_ns c{last} /scenario/transfer sink 5001 &"
    # resolve link-layer addresses first; otherwise the first handshake would wait for ARP
    yield f"until in_ns c0 ping -q -c 1 -W 60 {_address(last)} >/dev/null; do sleep 1; done"


def _captures(scenario: Scenario, pcap: bool) -> Iterator[str]:
    if pcap:
        yield "capture sender c0 r0"
        yield from _around_hops(scenario, "capture")
        yield "sleep 1"
    elif scenario.captures:
        yield "capture sender c0 r0"
        for i, hop in enumerate(scenario.path.hop):
            yield f"capture {hop} c{path.gateway(i) + 2} l{path.gateway(i) + 1}"
        yield "trace_resends"
        yield "sleep 1"
    elif scenario.truth:
        yield from _around_hops(scenario, "capture_data")
        yield "sleep 1"
        yield "in_ns c0 /scenario/transfer clocks >/out/clocks"


def _around_hops(scenario: Scenario, function: str) -> Iterator[str]:
    for i, hop in enumerate(scenario.path.hop):
        for node, place in enumerate(PLACES, path.gateway(i)):
            yield f"{function} {hop}-{place} c{node} l{node - 1}"


def _transfers(scenario: Scenario, run: int) -> Iterator[str]:
    setup = Setup(
        by=scenario.transfer.by,
        bytes=scenario.transfer.bytes,
        seed=scenario.runs.seed + run,
        last=path.gateway(len(scenario.path.hop)),
        congestion=list(scenario.algorithms.congestion),
        handshakes=scenario.handshakes,
        drawn_fades=scenario.path.drawn_fades,
        fading=path.fading(scenario.path) if scenario.path.drawn_fades else ("", "", ""),
    )
    for load in scenario.workloads:
        yield from load.starts(setup)
    yield from _traffic_starts(scenario)
    yield from path.changes(scenario.path)
    yield from path.follows(scenario.path)
    for arm in arms(scenario, run):
        yield from _transfer(scenario, setup, arm)
    for i, hop in enumerate(scenario.path.hop):
        yield f"in_ns c{path.gateway(i)} tc -s qdisc show dev r{path.gateway(i)} >/out/queue-{hop}"
    yield "finish"


def _transfer(scenario: Scenario, setup: Setup, arm: Arm) -> Iterator[str]:
    a, load = scenario.algorithms, scenario.transfer.workload
    if a.loss:
        it = losses.chosen(arm.loss) if arm.loss else losses.Chosen("none")
        if it.weights:  # written at once, which sysctl of busybox would not do
            yield f"echo '{it.weights}' >/model"
            yield "in_ns c0 dd if=/model of=/proc/sys/net/tcplearn/loss_model bs=65536 2>/dev/null"
        yield f"in_ns c0 sysctl -qw net.tcplearn.loss={it.spec}"
    if a.settings:
        recovery, linear = int(arm.setting != NO_RACK), int(arm.setting == LINEAR)
        thin = f"net.ipv4.tcp_thin_linear_timeouts={linear}"
        yield f"in_ns c0 sysctl -qw net.ipv4.tcp_recovery={recovery} {thin}"
    if NO_FRIENDLY in a.settings:
        on = int(arm.setting != NO_FRIENDLY)
        yield f"echo {on} >/sys/module/tcp_cubic/parameters/tcp_friendliness"
    if a.resends or a.rto_min_ms:
        yield f"in_ns c0 sysctl -qw net.tcplearn.resend={arm.resend or 'none'}"
        if scenario.transfer.inherits:  # this discards what the resend policy learned under the previous arm
            yield "in_ns c0 sysctl -qw net.tcplearn.resend_places=1"
        floor = f" rto_min {arm.rto_min_ms}ms" if arm.rto_min_ms else ""
        yield f"ip -n c0 route replace default via {_address(1)}{floor}"
    yield from _counters_beside(scenario, arm.folder, "before")
    if a.startups != [STOCK]:
        yield f"startup {shlex.quote(arm.startup)}"
    if scenario.handshakes and not scenario.transfer.pages:
        yield f"python3 /scenario/handshakes.py {ROUTER} {scenario.handshakes.dropped()}"
    for one in scenario.workloads:
        yield from one.before(setup, arm)
    if arm.setting in BY_BPF:
        yield f"live_on {arm.setting}"
    function = load.function.format(by=setup.by)
    yield (
        f"transfer {arm.folder} {arm.kernel_name} {shlex.quote(arm.estimator)} {3 if arm.tlp else 0} "
        f"{int(a.set_srtt)} {_address(setup.last)} {setup.bytes}"
        + (f" send_{function}" if function != "send" else "")
    )
    if arm.setting in BY_BPF:
        yield f"live_off /out/{arm.folder}"
    for one in reversed(scenario.workloads):
        yield from one.after(setup, arm)
    yield from _counters_beside(scenario, arm.folder, "after")


def _counters_beside(scenario: Scenario, folder: str, when: str) -> Iterator[str]:
    if senders := scenario.counted_senders:
        yield f"mkdir -p /out/{folder}"
        yield from (f"in_ns x{k} cat /proc/net/netstat >/out/{folder}/{when}.x{k}" for k in senders)


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
