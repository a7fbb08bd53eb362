# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines, as types, the keys and values of a scenario file of `tcplearn lab`."""

import re
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from tcplearn import algorithms, losses
from tcplearn.scenario import check, tree
from tcplearn.scenario import path as network_path
from tcplearn.scenario.check import Table
from tcplearn.scenario.path import Name, NetworkPath

from . import path as to_netem
from .arm import BY_BPF, End
from .arm import NO_ESTIMATOR as NO_ESTIMATOR
from .arm import STOCK as STOCK
from .downloads import Downloads
from .fades import Fades
from .pages import Pages
from .requests import Repeat, Requests, Talks, Visits
from .workload import Handshakes, Workload

_UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_SIZES = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
LOWEST_RATE, HIGHEST_RATE = 8_000, 10**10
MOST_BYTES = 10**10
KERNELS = {"6.1": "", "6.12": "6.12", "7.3": "7.3"}  # versions with their names in the script image.sh


def _rate(value: object) -> object:
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(bit|kbit|mbit|gbit)", value.lower())
    if not found:
        raise ValueError(f"{value[:40]!r} is no rate; write it as 512kbit, 10mbit or 1gbit")
    rate = float(found[1]) * _UNITS[found[2]]  # infinite if it has hundreds of digits
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise ValueError(f"{value[:40]} is out of range; 8kbit to 10gbit can be emulated")
    return round(rate)


def _bytes(value: object) -> object:
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(|kb|mb|gb)", value.lower().replace(" ", ""))
    if not found:
        raise ValueError(f"{value[:40]!r} is no size; write it as 500kB, 16MB or a number of bytes")
    size = float(found[1]) * _SIZES[found[2]]
    if not 1 <= size <= MOST_BYTES:
        raise ValueError(f"{value[:40]} is out of range; 1 to 10GB can be transferred")
    return round(size)


Rate = Annotated[int, BeforeValidator(_rate), Field(ge=LOWEST_RATE, le=HIGHEST_RATE)]
Bytes = Annotated[int, BeforeValidator(_bytes), Field(ge=1, le=MOST_BYTES)]


class Traffic(Table):
    """Other traffic on the path, beside the transfers that are measured."""

    kind: Literal["tcp", "udp"] = "tcp"
    enters: Name
    leaves: Name | None = None  # the last hop that it crosses; default: the hop where it enters
    start_s: Annotated[float, Field(ge=0, le=3600)] = 0
    bytes: Bytes = 1_000_000  # tcp only: the size of each transfer
    pause_s: Annotated[float, Field(ge=0, le=3600)] = 1  # tcp only: the pause between two transfers
    rate: Rate = 1_000_000  # udp
    packet_bytes: Annotated[int, Field(ge=16, le=1400)] = 1000  # udp
    counted: bool = False  # tcp only: whether each transfer reports its goodput and Jain's index


class Transfer(Downloads):
    bytes: Bytes = 16_000_000
    by: Literal["send", "nginx", "iperf3", "echo"] = "send"  # the sending program; "send" is the lab's own
    repeat: Repeat | None = None  # at most one of these tables replaces the transfer of one file
    requests: Requests | None = None
    visits: Visits | None = None
    pages: Pages | None = None
    talks: Talks | None = None

    @property
    def workload(self) -> Workload:
        return self.repeat or self.requests or self.visits or self.pages or self.talks or self

    @property
    def inherits(self) -> bool:
        return self.requests is not None and self.requests.inherit

    @model_validator(mode="after")
    def _one_workload(self) -> Self:
        given = [name for name in ("repeat", "requests", "visits", "pages", "talks") if getattr(self, name)]
        given += [name for name in ("pings", "places", "captured") if getattr(self, name)][:1]
        if len(given) > 1:
            raise ValueError(f"{given[0]} and {given[1]} are two ways to use a connection; give one")
        programs = ("nginx",) if self.is_download else self.workload.programs
        if self.by not in programs:
            what = given[0] if given else "one file"
            raise ValueError(f"{what}: by {' or '.join(programs)}, not {self.by}")
        return self


Setting = Literal["linear", "no-rack", "no-friendly-region", "live", "live-bounded"]


class Algorithms(Table):
    congestion: list[Literal["reno", "cubic", "vegas"]] = Field(default=["reno"], min_length=1)
    estimators: list[str] = Field(default=[STOCK], min_length=1)
    of: dict[Literal["reno", "cubic", "vegas"], list[str]] = Field(default={})  # instead of `estimators`
    at: list[End] = Field(default=["sender"], min_length=1)  # the kernel's own timer runs at one end only
    tlp: list[bool] = Field(default=[True], min_length=1)
    startups: list[str] = Field(default=[STOCK], min_length=1)
    set_srtt: bool = False
    loss: list[str] = Field(default=[])  # loss classifiers, as the sysctl net.tcplearn.loss takes them
    resends: list[str] = Field(default=[])  # resend policies, as the sysctl net.tcplearn.resend takes them
    #: additional runs: the kernel's own timer with this rto_min of the route, in ms (0: the default)
    rto_min_ms: list[Annotated[int, Field(ge=0, le=60_000)]] = Field(default=[])
    settings: list[Setting] = Field(default=[])  # additional runs of the kernel's own timer with this setting
    #: additional runs: congestion controls without the module
    plain: list[Literal["reno", "cubic", "vegas", "veno", "westwood", "bbr"]] = Field(default=[])

    @property
    def live(self) -> bool:
        """Return whether the BPF program of `tcplearn live` runs under one of the algorithms."""
        return not set(BY_BPF).isdisjoint(self.settings)

    @model_validator(mode="after")
    def _known(self) -> Self:
        for kind, specs in (
            (algorithms.LOSS, self.loss),
            (algorithms.RESEND, self.resends),
            (algorithms.STARTUP, self.startups),
            (algorithms.ESTIMATOR, [*self.estimators, *(spec for of in self.of.values() for spec in of)]),
        ):
            for spec in specs:
                if kind == algorithms.LOSS:
                    losses.checked(spec)
                elif spec not in (STOCK, NO_ESTIMATOR):
                    algorithms.checked(kind, spec)
        if self.loss and (self.resends or self.rto_min_ms or self.settings):
            raise ValueError("loss and resends are two sets of algorithms; give one")
        if self.loss and "vegas" in self.congestion:
            raise ValueError("a loss classifier works with reno and cubic only, not with vegas")
        return self


class Runs(Table):
    count: Annotated[int, Field(ge=1, le=10_000)] = 1
    seed: Annotated[int, Field(ge=0, le=10**8)] = 1
    limit_s: Annotated[int, Field(ge=10, le=86_400)] = 900  # the most real time that one run may take


class Scenario(Table):
    name: Name
    title: str = ""
    paper: str = ""
    tick_ms: Annotated[float, Field(gt=0, le=10_000)] | None = None  # the clock tick of errors in ticks
    path: Annotated[NetworkPath, BeforeValidator(partial(network_path.expanded, host="lab"))]
    traffic: list[Traffic] = Field(default=[], max_length=16)
    fades: Fades | None = None  # the number of fades, if the path draws fades at random
    transfer: Transfer = Transfer()
    handshakes: Handshakes | None = None
    algorithms: Algorithms = Algorithms()
    runs: Runs = Runs()
    kernel: Literal["6.1", "6.12", "7.3"] = "6.1"  # a key of KERNELS
    truth: bool = False  # whether captures around each hop show where packets were dropped
    captures: bool = False  # whether captures at each hop, and the reasons for retransmissions, are kept
    programs: bool = False  # whether the guest has Python, curl, nginx and iperf3

    @property
    def with_programs(self) -> bool:
        return self.programs or self.with_nft or self.transfer.by != "send" or self.algorithms.live

    @property
    def workloads(self) -> list[Workload]:
        fades = [self.fades or Fades()] if self.path.drawn_fades else []
        return [self.transfer.workload, *fades]

    @property
    def counted_senders(self) -> list[int]:
        """Return the indices in `traffic` of the TCP senders whose goodput is a metric."""
        of = enumerate(self.traffic)
        return [k for k, traffic in of if traffic.kind == "tcp" and (self.truth or traffic.counted)]

    @property
    def with_nft(self) -> bool:
        return self.handshakes is not None or self.transfer.workload.with_nft

    @model_validator(mode="after")
    def _tables(self) -> Self:
        pages, requests, a = self.transfer.pages, self.transfer.requests, self.algorithms
        if self.handshakes and self.handshakes.percent < 100 and pages is None:
            raise ValueError("handshakes.percent below 100 is for pages (transfer.pages) only")
        arms = len(a.congestion) * len(a.estimators) * len(a.tlp) * len(a.startups)
        if pages and arms > pages.most_arms:
            raise ValueError(f"{arms} algorithms need more ports than there are, {pages.most_arms} at most")
        if a.at != ["sender"] and not self.transfer.is_download:
            downloads = "transfer.pings, transfer.places or transfer.captured"
            raise ValueError(f"algorithms.at is for downloads: {downloads}")
        if self.fades and not self.path.drawn_fades:
            raise ValueError("fades is the number of fades; it needs a path with drawn_fades")
        if self.path.drawn_fades and not (requests and requests.on == "kept"):
            raise ValueError("a path with drawn_fades is for requests on a kept connection, one at a time")
        return self

    @model_validator(mode="after")
    def _hops(self) -> Self:
        to_netem.check(self.path)
        names = list(self.path.hop)
        for traffic in self.traffic:
            for name in filter(None, (traffic.enters, traffic.leaves)):
                if name not in names:
                    raise ValueError(f"traffic names the hop {name!r}; there are {', '.join(names)}")
            if traffic.leaves and names.index(traffic.leaves) < names.index(traffic.enters):
                raise ValueError("traffic leaves at a hop before the one where it enters")
        return self


def load(path: Path, profile: str = tree.FULL) -> Scenario:
    """Return the scenario in the file `path`, with the file's overrides named `profile`. Raise UserError."""
    return check.checked(Scenario, tree.read(path, profile, ("scenario", "simulate")), path)
