# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replaces `tcplearn.replay` and `tcplearn.estimators`, so that tests of the command line need no native
module."""

from __future__ import annotations

import operator
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import tcplearn
import tcplearn.replay


@dataclass(frozen=True)
class Options:
    estimators: tuple[str, ...]
    arithmetic: str
    sender: str
    every_ack: bool
    min_samples: int
    min_rto_us: int
    flow: str
    miss: float | None
    seed: int
    unit: str = ""


@dataclass(frozen=True)
class Param:
    key: str
    default: float
    low: float
    high: float
    choices: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Info:
    name: str
    summary: str
    params: tuple[Param, ...] = ()
    learned: bool = True
    about: str = ""


KNOWN = [
    Info("last", "the last sample: the trivial baseline"),
    Info(
        "jacobson",
        "RFC 6298 without its 1 s floor",
        (
            Param("alpha", 0.125, 0, 1, (), "gain of SRTT"),
            Param("sampling", 0, 0, 1, ("every-ack", "one-per-rtt"), "which ACKs are timed"),
            Param("mine", 3, float("-inf"), float("inf"), (), "a user's own"),
        ),
    ),
    Info("jacobson/rfc6298", "RFC 6298 with its floor of 1 s"),
]


ALL = ("last", "jacobson")


class TraceError(ValueError):
    pass


@dataclass
class Engine:
    raises: BaseException | None = None
    replay: Any = None
    sleep_s: float = 0.0
    begun: str = ""
    calls: list[tuple[list[Path], Options]] = field(default_factory=list)

    def made(self) -> Any:
        if self.replay is None:
            import fake

            self.replay = fake.replay(2, 5, samples=300)
        return self.replay

    def run(
        self,
        paths: list[Path],
        options: Options,
        progress: Callable[[float, str], None] | None,
        _watch: object = None,
        sink: Callable[[list[Any]], None] | None = None,
        *,
        all_rows: bool = True,
    ) -> Any:
        assert not all_rows
        self.calls.append((paths, options))
        if progress:
            progress(0.5, paths[0].name)
        if self.begun:
            Path(self.begun).touch()
        time.sleep(self.sleep_s)
        if self.raises:
            raise self.raises
        if sink:
            sink(self.made().rows)
        return self.made()

    def install(self, setitem: Callable[..., None], setattribute: Callable[..., None]) -> None:
        replay, estimators = ModuleType("tcplearn.replay.replay"), ModuleType("tcplearn.estimators")
        vars(replay).update(run=self.run, Options=Options, made_by=lambda _: self.made().made_by)
        vars(estimators).update(
            ALL=ALL,
            DEFAULTS=ALL,
            installed=lambda: ([], []),
            available=lambda: KNOWN,
            learned=lambda text: text not in ("last", "jacobson"),
        )
        for package, name, module in (
            (tcplearn.replay, "replay", replay),
            (tcplearn, "estimators", estimators),
        ):
            setitem(sys.modules, module.__name__, module)
            setattribute(package, name, module)


def main() -> int:
    """Run the command line in a process of its own: `python stub.py SECONDS ARGUMENTS...`. A replay takes
    SECONDS; when it begins, the file named by the environment variable `STUB_BEGUN` is created."""
    sys.path.append(str(Path(__file__).parents[1] / "report"))
    Engine(sleep_s=float(sys.argv[1]), begun=os.environ.get("STUB_BEGUN", "")).install(
        operator.setitem, setattr
    )
    from tcplearn.cli import main as command

    return command(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
