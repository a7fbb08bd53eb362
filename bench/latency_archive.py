# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The lab's runs behind docs/latency.md, kept with it in bench/latency-runs: a file each, of what the page is
made of; the guest's log of segments is left out, and of requests, where it has no use, when they began."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import shutil
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tcplearn.lab import fades, kept, machine, run
from tcplearn.lab.scenario import Scenario

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "bench" / "latency-runs"
#: Where they are unpacked.
FOLDER = ROOT / "build" / "latency-runs"
SUFFIX = ".tar.xz"
#: What is kept of a run's folder, and of that of each algorithm.
OF_RUN = (kept.COMPLETE, "kernel")
OF_ALGORITHM = ("info", "*.nstat", "*.queue", "*.x[0-9]", fades.TIMES)
REQUESTS = "requests"

#: By name, the runs that were asked for and found since this program began.
_used: dict[str, Path] = {}


@functools.cache
def fingerprint(programs: bool) -> str:
    """Of the guest and module that the page is of; the guest with programs has another."""
    of = tomllib.loads((RUNS / "fingerprints.toml").read_text())
    return str(of["programs" if programs else "plain"])


def find(chosen: Scenario, number: int, earlier: tuple[str, ...] = ()) -> Path | None:
    """A run of the page's module, else of the first of `earlier` (fingerprints) that has it: from
    bench/latency-runs, else from what `tcplearn lab run` has left on this machine."""
    for name in _names(chosen, number, earlier):
        if found := _kept_here(name) or _done_here(name):
            return _used.setdefault(name, found)
    return None


def runs(chosen: Scenario, earlier: tuple[str, ...] = ()) -> list[Path]:
    """Of a scenario: all up to the first that there is not."""
    found = (find(chosen, n, earlier) for n in range(chosen.runs.count))
    return list(itertools.takewhile(lambda path: path is not None, found))  # type: ignore[arg-type]


def names(chosen: Scenario, earlier: tuple[str, ...]) -> Iterator[str]:
    """Of its runs, by the page's module and by earlier ones."""
    for number in range(chosen.runs.count):
        yield from _names(chosen, number, earlier)


def _names(chosen: Scenario, number: int, earlier: tuple[str, ...]) -> list[str]:
    job = run.job(chosen, number, fingerprint(chosen.with_programs), run.Options(earlier=earlier))
    folders = kept.Folders(FOLDER)
    return [folders.path(job, key).name for key in (job.key, *job.earlier)]


def _kept_here(name: str) -> Path | None:
    archived = RUNS / f"{name}{SUFFIX}"
    if not archived.exists():
        return None
    at = archived.stat()
    folder = FOLDER / f"{name}-{at.st_size}-{at.st_mtime_ns}"  # another file of this name, another folder
    if not folder.exists():
        _unpack(archived, folder)
    return folder


def _unpack(archived: Path, folder: Path) -> None:
    """The folder is there whole, or not at all."""
    partial = _temporary()
    try:
        kept.unpack(archived.read_bytes(), partial)
        partial.chmod(0o755)
        with contextlib.suppress(OSError):  # another process has put it there meanwhile
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _temporary() -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=".", dir=FOLDER))


def _done_here(name: str) -> Path | None:
    folder = machine.cache_folder() / "runs" / name
    return folder if (folder / kept.COMPLETE).exists() else None


def keep() -> int:
    """Add the runs that were used and are not in bench/latency-runs; return how many."""
    new = {name: folder for name, folder in _used.items() if not (RUNS / f"{name}{SUFFIX}").exists()}
    for name, folder in new.items():
        partial = _temporary()
        try:
            (partial / name).write_bytes(packed(slim(folder)))
            (partial / name).replace(RUNS / f"{name}{SUFFIX}")
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return len(new)


def slim(folder: Path) -> dict[str, bytes]:
    """Of a whole run: what is kept, by its place below the folder."""
    out = {name: (folder / name).read_bytes() for name in OF_RUN}
    for requests in sorted(folder.glob(f"*/{REQUESTS}")):
        of = requests.parent
        found = sorted(path for pattern in OF_ALGORITHM for path in of.glob(pattern))
        out |= {f"{of.name}/{path.name}": path.read_bytes() for path in found}
        began = (of / fades.TIMES).exists() or any(of.glob("*.queue"))
        out[f"{of.name}/{REQUESTS}"] = requests.read_bytes() if began else _first_column(requests)
    return out


def _first_column(path: Path) -> bytes:
    return b"".join(line.split()[0] + b"\n" for line in path.read_bytes().splitlines() if line.strip())


def packed(files: dict[str, bytes]) -> bytes:
    """Files of one kind lie side by side: it is half as long."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as tar:
        for name in sorted(files, key=lambda name: (name.rpartition("/")[2], name)):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            tar.addfile(member, io.BytesIO(files[name]))
    return out.getvalue()
