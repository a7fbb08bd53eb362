# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures handshakes in virtual machines; a sock_ops program sets learned first RTOs at either end."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn import jobs
from tcplearn.bpf import build
from tcplearn.checkout import LAB
from tcplearn.errors import FailedError
from tcplearn.jobs import Job
from tcplearn.jobs import Place as Where
from tcplearn.output import temporary

from . import handshake_waits, machine, sock_ops
from .handshake_waits import CLIENTS_ABOVE
from .kept import Folders, packed
from .machine import TICKS_PER_SECOND as TICKS_PER_SECOND
from .machine import Machine

Json = dict[str, Any]

GUEST = LAB / "guest" / "first_rto.py"
PORT = 7000
FIRST_HOST, MOST_PLACES = 64, 60  # x of the first server's address 10.x.0.1; the most servers
LIMIT_S = 3600


@dataclass(frozen=True, slots=True)
class Place:
    """A destination: the round trip of the path to a server."""

    rtt_ms: float
    jitter_ms: float  # netem's jitter in each direction


@dataclass(frozen=True, slots=True)
class Trial:
    """The settings of the BPF program under which a virtual machine makes the connections of a network."""

    name: str
    client: bytes | None = None  # settings of the BPF program; None: the kernel's first RTO
    server: bytes | None = None
    fresh: bool = False  # whether each connection uses new addresses, of which nothing is known


@dataclass(frozen=True, slots=True)
class Network:
    """A client and the servers to which it connects, over paths that lose packets."""

    places: tuple[Place, ...]
    loss_percent: float = 10.0  # of the packets in each direction
    count: int = 50  # connections to each destination, in sequence
    seed: int = 1


def run(
    network: Network,
    trials: Sequence[Trial],
    where: Where,
    out: Path | None = None,
    progress: jobs.Progress | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, list[handshake_waits.Connection]]:
    """Run each trial (connections with the same BPF settings) in its own virtual machine, on the computers
    that `where` names; return the measured connections, by the trial's name. Finished runs are stored in
    `out` (None: the cache). Raise UserError or FailedError."""
    kept = Folders(out or machine.cache_folder() / "runs")
    if progress:
        progress(0.0, "guest and program")
    ready = machine.prepare(machine.cache_folder(), True)
    with temporary.folder() as folder:
        program = build.compiled(sock_ops.SOURCE, folder / "first_rto.o").read_bytes()
    programs = (program, build.preprocessed(sock_ops.SOURCE))
    work = {trial.name: _job(network, trial, ready, programs) for trial in trials}
    done = jobs.run(list(work.values()), kept, where.pool(kept.folder / "slurm"), progress=progress, say=say)
    if done.failures:
        raise FailedError(f"{len(done.failures)} runs failed: {done.failures[0]}")
    return {name: handshake_waits.read(done.results[job.key]) for name, job in work.items()}


def _job(network: Network, trial: Trial, ready: Machine, programs: tuple[bytes, str]) -> Job:
    program, code = programs if trial.client or trial.server else (b"", "")
    ends = (("client", trial.client), ("server", trial.server))
    document = {
        "name": f"first-rto-{network.seed:03d}",
        "script": script(network, trial),
        "settings": {end: settings.hex() for end, settings in ends if settings is not None},
        "program": program.hex(),
        "seed": network.seed,
        "fingerprint": ready.fingerprint,
    }
    parts = [document[name] for name in ("fingerprint", "script", "settings", "seed")]
    key = hashlib.sha256(repr([*parts, code, GUEST.read_text()]).encode()).hexdigest()[:20]
    return Job(key, boot, (document,), f"first RTO, {trial.name}", check=handshake_waits.read)


def boot(document: Json) -> bytes:
    """Run the job `document` in a virtual machine; return a tar archive of the output. Raise FailedError."""
    ready = machine.prepared(document["fingerprint"], True)
    with temporary.folder() as work:
        folder, out = work / "in", work / "out"
        folder.mkdir()
        (folder / "first_rto.o").write_bytes(bytes.fromhex(document["program"]))
        for end, settings in document["settings"].items():
            (folder / f"{end}.settings").write_text(machine.hex_words(bytes.fromhex(settings)))
        files = [*folder.iterdir()]
        machine.run(ready, document["script"], out, seed=document["seed"], limit_s=LIMIT_S, files=files)
        handshake_waits.reduce(out)
        return packed(out)


def script(network: Network, trial: Trial) -> str:
    """Return the shell script of `trial`. The script makes the network namespaces c (client), m and n
    (routers, with a link between them for each destination of `network`) and s (servers), and then the
    connections."""
    return "\n".join(_lines(network, trial)) + "\n"


def _lines(network: Network, trial: Trial) -> Iterator[str]:
    hosts = range(FIRST_HOST, FIRST_HOST + len(network.places))
    yield f"# first RTO: {trial.name}"
    yield ". /scenario/lib.sh\n. /scenario/programs.sh\nkernel_modules veth sch_netem\nnamespaces c m n s"
    yield "link c r0 10.0.0.1 m l0 10.0.0.2\nlink n r2 10.0.2.1 s l2 10.0.2.2"
    yield "route c default 10.0.0.2\nroute s default 10.0.2.1"
    for host, place in zip(hosts, network.places, strict=True):
        yield f"link m d{host} 10.1.{host}.1 n u{host} 10.1.{host}.2"
        servers, clients = f"10.{host}.0.0/16", f"10.{host + CLIENTS_ABOVE}.0.0/16"
        yield f"route m {servers} 10.1.{host}.2\nroute n {servers} 10.0.2.2"
        yield f"route n {clients} 10.1.{host}.1\nroute m {clients} 10.0.0.1"
        yield f"ip -n s route add local {servers} dev lo\nip -n c route add local {clients} dev lo"
        yield from (f"qdisc {ns} {device} {_path(place)}" for ns, device in _ends(host))
    yield "mkdir -p /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount -t bpf bpf /sys/fs/bpf"
    for end in ("client", "server"):
        yield f"mkdir /sys/fs/cgroup/{end}"
        if getattr(trial, end) is not None:
            yield f"first_rto_load {end}"
    yield f"in_cgroup server s python3 /scenario/first_rto.py serve {PORT} &"
    for host in hosts:  # resolve link-layer addresses before packets are lost
        there, back = f"10.{host}.0.1", f"10.{host + CLIENTS_ABOVE}.0.1"
        yield f"in_ns c ping -q -c 1 -W 60 -I {back} {there} >/dev/null"
    connect = f"in_cgroup client c python3 /scenario/first_rto.py connect {PORT}"
    to_all = f"{int(trial.fresh)} {' '.join(map(str, hosts))}"
    yield f"{connect} 0 1 {to_all} >/out/history"
    for host, place in zip(hosts, network.places, strict=True):
        for ns, device in _ends(host):
            yield f"in_ns {ns} tc qdisc change dev {device} {_path(place)} loss {network.loss_percent:g}%"
    yield "capture_handshakes client c r0\ncapture_handshakes server s l2\nsleep 1"
    yield f"{connect} 1 {network.count} {to_all} >/out/connections"
    yield "sleep 1\nfinish\nexit 0"


def _ends(host: int) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("m", f"d{host}"), ("n", f"u{host}")


def _path(place: Place) -> str:
    jitter = f" {place.jitter_ms:g}ms distribution paretonormal" if place.jitter_ms else ""
    return f"root netem limit 10000 rate 10gbit delay {place.rtt_ms / 2:g}ms{jitter}"
