# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scenario files: what is allowed in them, and errors that say so in one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from tcplearn.errors import UserError, did_you_mean, printable
from tcplearn.scenario import toml_file

from . import link_trace

_UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_SIZES = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}
LOWEST_RATE, HIGHEST_RATE = 8_000, 10**10
NO_ESTIMATOR, STOCK = "none", "stock"
#: Lines of kernels that the module is tested on, and what image.sh calls them.
KERNELS = {"6.1": "", "6.12": "6.12"}


def _rate(value: object) -> object:
    """Bits per second of "10mbit"."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(bit|kbit|mbit|gbit)", value.lower())
    if not found:
        raise ValueError(f"{value!r} is no rate; write it as 512kbit, 10mbit or 1gbit")
    rate = round(float(found[1]) * _UNITS[found[2]])
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise ValueError(f"{value} is out of range; 8kbit to 10gbit can be emulated")
    return rate


def _bytes(value: object) -> object:
    """Bytes of "16MB"."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(|kb|mb|gb)", value.lower().replace(" ", ""))
    if not found:
        raise ValueError(f"{value!r} is no size; write it as 500kB, 16MB or a number of bytes")
    return round(float(found[1]) * _SIZES[found[2]])


Rate = Annotated[int, BeforeValidator(_rate), Field(ge=LOWEST_RATE, le=HIGHEST_RATE)]
Bytes = Annotated[int, BeforeValidator(_bytes), Field(ge=1, le=10**10)]
Percent = Annotated[float, Field(ge=0, le=100)]
Milliseconds = Annotated[float, Field(ge=0, le=60_000)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Bursts(_Strict):
    """Gilbert and Elliott's chain, in percent, as netem's `loss gemodel` takes it."""

    p: Percent
    r: Percent
    loss_in_bad: Percent = 100
    loss_in_good: Percent = 0


class Direction(_Strict):
    """One direction of a hop: a queue that drains at `rate`, then delay and loss."""

    rate: Rate | None = None
    trace: str | None = None  # a Mahimahi link trace in place of a rate, beside the scenario's file
    trace_step_ms: Annotated[int, Field(ge=10, le=10_000)] = 100  # for so long its rate holds
    queue: Literal["fifo", "codel", "fq_codel", "pie"] = "fifo"
    queue_packets: Annotated[int, Field(ge=1, le=100_000)] = 100
    delay_ms: Milliseconds = 0
    jitter_ms: Milliseconds = 0
    distribution: Literal["uniform", "normal", "pareto", "paretonormal"] = "normal"
    correlation_percent: Percent = 0
    reorder: bool = False
    loss_percent: Percent = 0
    bursts: Bursts | None = None

    @field_validator("trace")
    @classmethod
    def _beside(cls, value: str | None, info: ValidationInfo) -> str | None:
        return value and str(info.context / value if info.context else value)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.trace:
            if self.rate is not None or self.queue != "fifo":
                raise ValueError("a traced link has its rate from the trace, and queue fifo only")
            self.followed()
        if self.loss_percent and self.bursts:
            raise ValueError("loss_percent and bursts are two loss models; give one")
        if self.jitter_ms and not self.delay_ms:
            raise ValueError("jitter_ms needs a delay_ms to vary")
        if self.queue != "fifo" and self.rate is None:
            raise ValueError(f"queue {self.queue} needs a rate: nothing waits without one")
        return self

    def followed(self) -> link_trace.LinkTrace:
        """The trace's rates. Raise ValueError."""
        return link_trace.read(Path(self.trace or ""), self.trace_step_ms)

    @property
    def shape(self) -> tuple[object, ...]:
        """Which queueing disciplines it needs: what cannot change under way."""
        path = bool(self.delay_ms or self.loss_percent or self.bursts)
        return self.rate is not None, self.trace, self.queue, path


class Hop(_Strict):
    name: Name
    forward: Direction = Direction()
    back: Direction = Direction()


class Traffic(_Strict):
    """Others' traffic over some of the hops, all through the run."""

    kind: Literal["tcp", "udp"] = "tcp"
    enters: Name
    leaves: Name | None = None  # the last hop that it uses; the first one unless told
    start_s: Annotated[float, Field(ge=0, le=3600)] = 0
    bytes: Bytes = 1_000_000  # tcp: of each transfer
    pause_s: Annotated[float, Field(ge=0, le=3600)] = 1  # tcp: between two
    rate: Rate = 1_000_000  # udp
    packet_bytes: Annotated[int, Field(ge=16, le=1400)] = 1000  # udp


class Change(_Strict):
    """From `at_s` on (and again every `every_s`) a hop is as given here; times from the first transfer."""

    at_s: Annotated[float, Field(ge=0, le=86_400)]
    every_s: Annotated[float, Field(gt=0, le=86_400)] | None = None
    hop: Name
    forward: Direction | None = None
    back: Direction | None = None


class Repeat(_Strict):
    """The transfer again and again on one connection, each timed: in a rhythm, then after pauses."""

    count: Annotated[int, Field(ge=1, le=100_000)] = 40
    every_ms: Annotated[int, Field(ge=1, le=3_600_000)] = 150  # from a burst's start to the next one's
    pauses_ms: list[Annotated[int, Field(ge=1, le=3_600_000)]] = Field(default=[1000], min_length=1)


class Transfer(_Strict):
    bytes: Bytes = 16_000_000
    repeat: Repeat | None = None  # by `send` only
    by: Literal["send", "nginx", "iperf3"] = "send"  # the lab's own program, nginx to curl, or iperf3

    @model_validator(mode="after")
    def _repeats(self) -> Self:
        if self.repeat and self.by != "send":
            raise ValueError(f"repeat is for the lab's own program; {self.by} transfers once")
        return self


class Algorithms(_Strict):
    congestion: list[Literal["reno", "cubic", "vegas"]] = Field(default=["reno"], min_length=1)
    estimators: list[str] = Field(default=[STOCK], min_length=1)
    tlp: list[bool] = Field(default=[True], min_length=1)
    set_srtt: bool = False

    @model_validator(mode="after")
    def _known(self) -> Self:
        from tcplearn import estimators

        known = [STOCK, NO_ESTIMATOR, *(info.name for info in estimators.available() if info.core)]
        for name in self.estimators:
            if name not in known:
                hint = did_you_mean(name, known, "`tcplearn estimators` lists them, and stock and none")
                raise ValueError(f"the kernel module has no estimator {name!r}; {hint}")
        return self


class Runs(_Strict):
    count: Annotated[int, Field(ge=1, le=10_000)] = 1
    seed: Annotated[int, Field(ge=0, le=10**8)] = 1
    limit_s: Annotated[int, Field(ge=10, le=86_400)] = 900  # of this machine, for one run


class Scenario(_Strict):
    name: Name
    title: str = ""
    paper: str = ""
    hop: list[Hop] = Field(min_length=1, max_length=8)
    traffic: list[Traffic] = Field(default=[], max_length=16)
    change: list[Change] = Field(default=[], max_length=1000)
    transfer: Transfer = Transfer()
    algorithms: Algorithms = Algorithms()
    runs: Runs = Runs()
    kernel: Literal["6.1", "6.12"] = "6.1"  # of KERNELS
    programs: bool = False  # Python, curl, nginx and iperf3 in the guest, as for lab shell

    @property
    def with_programs(self) -> bool:
        return self.programs or self.transfer.by != "send"

    @model_validator(mode="after")
    def _hops(self) -> Self:
        names = [hop.name for hop in self.hop]
        if len(set(names)) != len(names):
            raise ValueError("two hops have one name")
        for traffic in self.traffic:
            for name in filter(None, (traffic.enters, traffic.leaves)):
                if name not in names:
                    raise ValueError(f"traffic names the hop {name!r}; there are {', '.join(names)}")
            if traffic.leaves and names.index(traffic.leaves) < names.index(traffic.enters):
                raise ValueError("traffic leaves before it enters")
        for change in self.change:
            if change.hop not in names:
                raise ValueError(f"a change names the hop {change.hop!r}; there are {', '.join(names)}")
            hop = self.hop[names.index(change.hop)]
            for now, then in ((hop.forward, change.forward), (hop.back, change.back)):
                if then is not None and then.shape != now.shape:
                    raise ValueError(
                        f"a change of the hop {change.hop!r} gives its queue, delay and loss other values; "
                        "it can neither add nor take one away"
                    )
        return self


def with_kernel(scenario: Scenario, kernel: str) -> Scenario:
    """The scenario on another kernel. Raise UserError for one that is not known."""
    if kernel not in KERNELS:
        raise UserError(f"no kernel {kernel!r}; there are {', '.join(KERNELS)}")
    return scenario.model_copy(update={"kernel": kernel})


def load(path: Path, profile: str = "") -> Scenario:
    """Read a scenario, with a profile's values laid over it. Raise UserError: file, key, what is allowed."""
    where = printable(path)
    data = toml_file.read(path)
    profiles = data.pop("profile", {})
    if not isinstance(profiles, dict):
        raise UserError(f"{where}: profile: a table of tables, as [profile.smoke]")
    if profile:
        if profile not in profiles:
            raise UserError(f"{where}: no profile {profile!r}; {_known_profiles(profiles)}")
        data = _overlay(data, profiles[profile])
    try:
        return Scenario.model_validate(data, context=path.parent)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        if first["type"] == "extra_forbidden":
            raise UserError(f"{where}: {key}: no such key; {_allowed(first['loc'])}") from None
        reason = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
        raise UserError(f"{where}: {key}: {printable(reason)}") from None


def _known_profiles(profiles: dict[str, Any]) -> str:
    return f"it has {', '.join(profiles)}" if profiles else "it has none"


def _overlay(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` in place of `base`, table by table; a list replaces a list."""
    out = dict(base)
    for key, value in over.items():
        below = out.get(key)
        out[key] = _overlay(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return out


_TABLES: dict[str, type[BaseModel]] = {
    "hop": Hop,
    "forward": Direction,
    "back": Direction,
    "bursts": Bursts,
    "traffic": Traffic,
    "change": Change,
    "transfer": Transfer,
    "repeat": Repeat,
    "algorithms": Algorithms,
    "runs": Runs,
}


def _allowed(location: tuple[int | str, ...]) -> str:
    table = next((_TABLES[p] for p in reversed(location[:-1]) if p in _TABLES), Scenario)
    return did_you_mean(str(location[-1]), table.model_fields, f"it has {', '.join(table.model_fields)}")
