# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the inputs of the commands on the pages: links to files of the tree, and small inputs with the names
that the pages use."""

from __future__ import annotations

import gzip
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pages import shown

from samples import ROOT, series

TESTS = ROOT / "python" / "tests"
sys.path[:0] = [str(TESTS / name) for name in ("cli", "collect", "learn", "traces")]

_LINKED = (
    "bench",
    "core",
    "docs",
    "experiments",
    "examples",
    "linux",
    "ns3",
    "paths",
    "python",
    "vectors",
)


def _capture(path: Path) -> None:
    path.write_bytes(gzip.decompress((ROOT / "examples/captures/access-link.pcap.gz").read_bytes()))


def _rtts(path: Path, seed: int = 1) -> None:
    rows = (f"{i / 20},{us / 1000}\n" for i, us in enumerate(series(seed, 600).tolist()))
    path.write_text("t_s,rtt_ms\n" + "".join(rows))


def _lists(path: Path) -> None:
    path.mkdir()
    for seed in (1, 2):
        _rtts(path / f"{seed}.csv", seed)


def _settings(path: Path) -> None:
    """Write the scenario settings-KEY.toml, which has every value of net.tcplearn.KEY that a page sets."""
    key = path.stem.partition("-")[2]
    found = {v for one in shown() for v in re.findall(rf"net\.tcplearn\.{key}=(\S+)", one.command)}
    algorithms = {"estimators": ["stock"]}
    algorithms[{"estimator": "estimators", "resend": "resends"}.get(key, key)] = sorted(found - {"none"})
    path.write_text(
        f'extends = "{ROOT}/experiments/nunes2014/live-1.toml"\nname = "settings"\nruns = {{ count = 1 }}\n'
        'transfer = { bytes = "20kB" }\n[algorithms]\ntlp = [true]\n'
        + "".join(f"{name} = {values}\n" for name, values in algorithms.items())
    )


def _scenarios(path: Path) -> None:
    """Write small ns-3 scenarios of requests on three paths and of an overloaded queue, with two seeds
    each."""
    folder = path / "ns3" / "scenarios"
    folder.mkdir(parents=True)
    for name, less in (
        ("thin", 'variants = ["wired", "fades", "data-centre"]\n[grid.set]\n"load.count" = 400\n'),
        ("overload", 'variants = ["50-short"]\n[grid.set]\n"load.flows" = 5\n'),
    ):
        (folder / f"{name}.toml").write_text(
            f'extends = "{ROOT}/ns3/scenarios/{name}.toml"\n[grid]\nseeds = 2\n{less}'
        )


def _of(module: str) -> Any:
    """Import and return `module`, which belongs to other tests. This happens late, after pytest has collected
    them."""
    return importlib.import_module(module)


MADE: dict[str, Callable[[Path], object]] = {
    "capture.pcap": _capture,
    "rtts.csv": _rtts,
    "lists/": _lists,
    **{f"settings-{key}.toml": _settings for key in ("estimator", "loss", "resend")},
    "scenarios/ns3": lambda path: _scenarios(path.parent),
    "hosts.txt": lambda path: path.write_text("127.0.0.1:9\n"),
    "hping.log": lambda path: path.write_text(_of("test_collect").HPING),
    "trace.log": lambda path: path.write_text(_of("test_collect").TRACEROUTE),
    "log0": lambda path: path.write_bytes(b"".join(_of("test_trace_tlog").a_log())),
    "losses.parquet": lambda path: _of("losses_made_up").table(scenarios=4).write_parquet(path),
    "traffic.py": lambda path: path.write_text(_of("test_watch").TRAFFIC),
    **{
        f"{name}.parquet": lambda path: _of("rtts_made_up").table(hosts=12).write_parquet(path)
        for name in ("hosts", "monday", "tuesday")
    },
}


def prepare(folder: Path, command: str) -> None:
    """Put links to the tree, and the inputs that `command` names, into `folder`."""
    for name in _LINKED:
        (folder / name).symlink_to(ROOT / name)
    for name, make in MADE.items():
        if re.search(rf"(?<![\w/]){re.escape(name)}", command):
            make(folder / name)
