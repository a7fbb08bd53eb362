# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The lab's runs behind docs/latency.md, kept with it in bench/latency-runs: a file each, of what the page is
made of; the guest's log of segments is left out, and of requests, where it has no use, when they began."""

from __future__ import annotations

import functools
import io
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
#: Unpacked.
FOLDER = ROOT / "build" / "latency-runs"
SUFFIX = ".tar.xz"
#: In a run's folder, and in that of each algorithm.
OF_RUN = (kept.COMPLETE, "kernel")
OF_ALGORITHM = ("info", "*.nstat", "*.queue", "*.x[0-9]", fades.TIMES)
REQUESTS = "requests"


@functools.cache
def fingerprint(programs: bool) -> str:
    """Of the guest and module of the page's runs; the one with programs is another."""
    of = tomllib.loads((RUNS / "fingerprints.toml").read_text())
    return str(of["programs" if programs else "plain"])


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
    return b"".join(line.split()[0] + b"\n" for line in path.read_bytes().splitlines() if line)


def packed(files: dict[str, bytes]) -> bytes:
    """The same bytes for the same files. Files of one kind lie side by side: it is half as long."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz", preset=9) as tar:
        for name in sorted(files, key=lambda name: (name.rpartition("/")[2], name)):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            tar.addfile(member, io.BytesIO(files[name]))
    return out.getvalue()


def _lay(files: dict[str, bytes], folder: Path) -> None:
    """All of them or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    try:
        for name, content in files.items():
            (partial / name).parent.mkdir(exist_ok=True)
            (partial / name).write_bytes(content)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _unpacked(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {m.name: content.read() for m in tar if (content := tar.extractfile(m))}


@functools.cache
def folder() -> Path:
    """With a folder for each run that is kept here or was done on this machine, by `tcplearn lab run` too."""
    for path in RUNS.glob(f"*{SUFFIX}"):
        if not (at := FOLDER / path.name.removesuffix(SUFFIX)).exists():
            _lay(_unpacked(path), at)
    done = machine.cache_folder() / "runs"
    names = {path.name for path in done.glob("*") if (path / kept.COMPLETE).exists()}
    for name in sorted(names):
        if not (FOLDER / name).exists() and any((done / name).glob(f"*/{REQUESTS}")):
            _lay(slim(done / name), FOLDER / name)
    return FOLDER


def runs(chosen: Scenario, of: str = "", earlier: tuple[str, ...] = ()) -> list[Path]:
    """Of a scenario, from the first on; `of`: another fingerprint than the page's."""
    options = run.Options(out=folder(), earlier=earlier)
    return run.kept_folders(chosen, options, of or fingerprint(chosen.with_programs))


def keep(found: Iterator[Path]) -> int:
    """How many of these are new in bench/latency-runs."""
    new = [path for path in found if not (RUNS / f"{path.name}{SUFFIX}").exists()]
    RUNS.mkdir(exist_ok=True)
    for path in new:
        files = {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
        partial = RUNS / f".{path.name}"
        partial.write_bytes(packed(files))
        partial.rename(RUNS / f"{path.name}{SUFFIX}")
    return len(new)
