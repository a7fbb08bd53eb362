# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads and extends an experiment's Parquet file of runs. A row has one result of one run (a number in
`value`, or a series of numbers in `values`), the columns that identify the run, and the version of the code
that made it. Rows are only appended. If a run was repeated, its latest rows are used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tcplearn.errors import UserError, printable
from tcplearn.output.files import make_directory, write_atomically

Floats = npt.NDArray[np.float64]
Key = TypeVar("Key")
#: Lab or ns-3, scenario, profile, algorithm, labels as JSON, number of the run.
Identity = tuple[str, str, str, str, str, int]

_IDENTIFYING = ("host", "scenario", "profile", "algorithm", "labels", "run", "seed")
_MAKING = ("parameters", "commit", "version", "host_version", "code")
#: The columns that have the same value in all rows of a run.
_HEAD = (*_IDENTIFYING, *_MAKING)


@dataclass(frozen=True)
class Run:
    """One run of one algorithm in the lab (Linux in virtual machines) or in ns-3, with the results that pages
    need."""

    host: str  # "lab" or "ns3"
    scenario: str
    profile: str
    algorithm: str
    run: int  # in the lab the number of the run, from 0; in ns-3 the seed
    seed: int
    labels: Mapping[str, Any] = field(default_factory=dict)  # settings that differ between runs of a scenario
    parameters: Mapping[str, Any] = field(default_factory=dict)  # the settings of the scenario file
    commit: str = ""
    version: str = ""
    host_version: str = ""  # the version of the kernel or of ns-3
    code: str = ""  # a hash of the guest image and the module, or of the C core and the ns-3 program
    metrics: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def identity(self) -> Identity:
        labels = json.dumps(self.labels, sort_keys=True)
        return self.host, self.scenario, self.profile, self.algorithm, labels, self.run


def select(runs: Iterable[Run], **columns: Any) -> list[Run]:
    """Returns the runs that have the given values. Each keyword is the name of an attribute of `Run` (as
    `scenario`) or of a label."""

    def value(run: Run, name: str) -> Any:
        return getattr(run, name) if hasattr(run, name) else run.labels.get(name)

    return [run for run in runs if all(value(run, name) == of for name, of in columns.items())]


def latest(runs: Iterable[Run]) -> list[Run]:
    """Returns the last run with each identity: host ("lab" or "ns3"), scenario, profile, algorithm, labels
    and number. The order is that in which the identities first appear."""
    return list({run.identity: run for run in runs}.values())


def read(file: Path) -> list[Run]:
    """Returns all runs in `file`. If a run was repeated, its older results come first. Returns [] if the file
    does not exist. Raises UserError if it is not a file of runs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not file.exists():
        return []
    try:
        table = pq.read_table(file)
        columns = {name: table[name].to_pylist() for name in (*_HEAD, "metric", "value")}
        values = table["values"].combine_chunks()
    except (OSError, KeyError, pa.ArrowException) as error:
        raise UserError(f"{printable(file)}: not a file of runs: {error}") from error
    numbers = values.values.to_numpy(zero_copy_only=False).astype(np.float64)
    ends = values.offsets.to_numpy()
    previous: tuple[Any, ...] | None = None
    metrics: dict[str, float] = {}
    series: dict[str, Floats] = {}
    parsed: dict[str, Any] = {}
    out: list[Run] = []
    for i, metric in enumerate(columns["metric"]):
        head = tuple(columns[name][i] for name in _HEAD)
        if head != previous or metric in metrics or metric in series:
            previous, metrics, series = head, {}, {}
            known = dict(zip(_HEAD, head, strict=True))
            for name in ("labels", "parameters"):
                if known[name] not in parsed:
                    parsed[known[name]] = json.loads(known[name])
                known[name] = parsed[known[name]]
            out.append(Run(**known, metrics=metrics, series=series))
        if columns["value"][i] is None:
            series[metric] = numbers[ends[i] : ends[i + 1]]
        else:
            metrics[metric] = columns["value"][i]
    return out


def grouped(runs: Iterable[Run], key: Callable[[Run], Key]) -> dict[Key, list[Run]]:
    """Returns a mapping from each value of `key(run)` to the list of the runs with this value, in the given
    order."""
    out: dict[Key, list[Run]] = {}
    for run in runs:
        out.setdefault(key(run), []).append(run)
    return out


def append(file: Path, runs: Sequence[Run]) -> None:
    """Appends rows for these `runs` to `file`, which is replaced atomically."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not runs:
        return
    table = _table(runs)
    if file.exists():
        table = pa.concat_tables([pq.read_table(file, schema=table.schema), table])
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=19,
        data_page_size=2**30,  # a column in one page, as runs are read whole: 2 % smaller
        use_dictionary=[name for name in table.column_names if name not in ("value", "values")],
        use_byte_stream_split=["values.list.element"],
    )
    make_directory(file.parent)
    write_atomically(file, sink.getvalue().to_pybytes())


def _table(runs: Sequence[Run]) -> Any:
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    for run in runs:
        head = {name: getattr(run, name) for name in _HEAD}
        head |= {name: json.dumps(head[name], sort_keys=True) for name in ("labels", "parameters")}
        rows += [{**head, "metric": name, "value": float(value)} for name, value in run.metrics.items()]
        rows += [
            {**head, "metric": name, "values": np.asarray(values, np.float64)}
            for name, values in run.series.items()
        ]
    types = {"run": pa.int64(), "seed": pa.int64(), "value": pa.float64()}
    types["values"] = pa.list_(pa.field("element", pa.float64()))
    columns = (*_HEAD, "metric", "value", "values")
    schema = pa.schema([(name, types.get(name, pa.string())) for name in columns])
    return pa.Table.from_pylist(rows, schema)


@dataclass(frozen=True)
class Version:
    """One version of the code, with the commits at which it made runs and the number of these runs."""

    code: str
    host: str
    host_version: str
    version: str
    commits: tuple[str, ...]
    runs: int  # in the lab, the algorithms that are measured one after the other count as one run


def versions(runs: Iterable[Run]) -> list[Version]:
    """Returns the versions of the code that made the `runs`."""
    found = grouped(runs, lambda run: (run.code, run.host, run.host_version, run.version))
    out = []
    for by, of in found.items():
        commits = tuple(dict.fromkeys(run.commit for run in of))
        each = {(r.scenario, r.profile, r.run) if r.host == "lab" else r.identity for r in of}
        out.append(Version(*by, commits, len(each)))
    return out
