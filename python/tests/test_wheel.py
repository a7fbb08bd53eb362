# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the wheel that `make wheel` builds, installed by pip in a new environment and run from an empty
folder."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_MB = 320  # as `du -sm` counts
MOST_MS = {("tcplearn", "--version"): 80, ("python", "-c", "import tcplearn"): 150}

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("wheel")]


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    left_out = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment["XDG_CACHE_HOME"] = str(cwd / "cache")
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def bytes_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty folder beside the new environment `env`."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(["make", "-C", ROOT, "wheel"], check=True, capture_output=True)
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    wheel = max((ROOT / "dist").glob("*.whl"), key=lambda path: (tag in path.name, path.stat().st_mtime))
    venv.create(folder / "env", with_pip=True)
    before = bytes_of(folder / "env")
    done = run(folder / "env/bin/pip", "install", "-q", wheel, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert bytes_of(folder / "env") - before < MOST_MB << 20
    (folder / "empty").mkdir()
    return folder / "empty"


def tcplearn(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(place.parent / "env/bin/tcplearn", *words, cwd=place)


@pytest.mark.parametrize(
    "words",
    [
        "--version",
        "algorithms",
        "explain FILES/examples/captures/requests.pcap.gz --format csv",
        "replay FILES/examples/captures/access-link.pcap.gz --format parquet -o rows.parquet",
        "suite FILES/examples/captures",
        "resend FILES/examples/captures/access-link.pcap.gz --requests 1000",
        "study experts FILES/examples/captures/access-link.pcap.gz --n 10 --eta 2 --alpha 0.08",
        "simulate FILES/experiments/nunes2014/scenario-5.toml --profile smoke",
        "lab script FILES/experiments/nunes2014/live-2.toml --profile smoke",
        "lab run FILES/experiments/nunes2014/live-2.toml --profile smoke",
        "module status",
        "first-rto status",
    ],
)
def test_a_verb_works_without_a_checkout(place: Path, words: str) -> None:
    files = tcplearn(place, "--files").stdout.strip()
    assert Path(files).is_relative_to(place.parent / "env")
    done = tcplearn(place, *words.replace("FILES", files).split())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [("replay FILE --report out.html", "pictures"), ("train rtt FILE -o out", "training")],
)
def test_what_an_extra_is_for_names_it(place: Path, words: str, extra: str) -> None:
    done = tcplearn(place, *words.replace("FILE", str(ROOT / "examples/hosts/emulated.parquet")).split())
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"pip install 'tcplearn[{extra}]'" in done.stderr


@pytest.mark.parametrize("command", MOST_MS, ids=" ".join)
def test_it_starts_at_once(place: Path, command: tuple[str, ...]) -> None:
    """Test the processor time of the fastest of ten starts, so that other load on the machine does not
    count."""
    program, *words = command

    def seconds() -> float:
        before = os.times()
        assert run(place.parent / "env/bin" / program, *words, cwd=place).returncode == 0
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    assert min(seconds() for _ in range(10)) * 1000 < MOST_MS[command]
