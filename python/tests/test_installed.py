# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the files that the wheel installs beside the package, and that an installed package finds them without
a checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nanobind
import pytest

import tcplearn
from tcplearn import _native
from tcplearn.errors import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

#: Prints the file of sources or the folder that each verb starts from.
FOUND = """
from tcplearn.checkout import IS_CHECKOUT, LAB, ROOT
from tcplearn.lab import check, first_rto, install, machine, sock_ops
from tcplearn.simulate import engine
assert not IS_CHECKOUT
print(engine.folder())
for path in (ROOT / "ns3/CMakeLists.txt", ROOT / "core/CMakeLists.txt", engine.WEIGHTS, LAB / "vm.sh",
             LAB / "scenarios", check.CHECKS, first_rto.GUEST, install.SOURCES / "dkms.conf",
             sock_ops.SOURCE, ROOT / "vectors/specs.tsv", ROOT / "core/models/rtt_rfc6298.json",
             ROOT / "paths/wifi.toml", ROOT / "experiments/nunes2014/links/cellular.trace"):
    print(path)
"""


def output_of(*command: str | Path, cwd: Path = ROOT, path: str = "") -> str:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cwd / "cache"), "PYTHONPATH": path}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as pip makes it from the wheel: the package, and its data as the build installs it."""
    folder = tmp_path_factory.mktemp("installed")
    site, build = folder / "site", folder / "build"
    options = {
        "SKBUILD_STATE": "wheel",
        "SKBUILD_DATA_DIR": folder / "data",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
    }
    defined = (f"-D{name}={value}" for name, value in options.items())
    output_of("cmake", "-S", ROOT / "python", "-B", build, "-G", "Ninja", *defined)
    output_of("cmake", "--build", build, "--target", "bpf")
    output_of("cmake", "--install", build, "--component", "data", "--prefix", site)
    shutil.copytree(ROOT / "python/src/tcplearn", site / "tcplearn", dirs_exist_ok=True)
    shutil.copy(_native.__file__, site / "tcplearn")
    # in place of the finder of an editable installation, which would find the checkout
    (site / "sitecustomize.py").write_text(
        "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in type(f).__module__]\n"
    )
    return site


def test_each_verb_finds_its_sources(site: Path, tmp_path: Path) -> None:
    cache, *found = output_of(sys.executable, "-P", "-c", FOUND, cwd=tmp_path, path=str(site)).splitlines()
    assert cache.startswith(f"{tmp_path}/cache/tcplearn/ns3/")
    assert len(found) > 10 and all(Path(line).is_relative_to(site / "tcplearn/data") for line in found)
    assert [line for line in found if not Path(line).exists()] == []
    assert os.access(site / "tcplearn/data/linux/lab/vm.sh", os.X_OK)


def test_a_shipped_capture_is_explained_from_an_empty_folder(site: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-P", "-m", "tcplearn")
    files = Path(output_of(*command, "--files", cwd=tmp_path, path=str(site)).strip())
    capture = files / "examples/captures/requests.pcap.gz"
    said = output_of(*command, "explain", str(capture), cwd=tmp_path, path=str(site))
    assert "1,200 requests" in said


def test_debian_s_program_starts_processes(site: Path, tmp_path: Path) -> None:
    program = ROOT / "packaging/debian/launcher.py"
    captures = site / "tcplearn/data/examples/captures"
    words = ("suite", str(captures), "--jobs", "2", "-e", "last", "--format", "csv")
    said = output_of(sys.executable, program, *words, cwd=tmp_path, path=str(site))
    assert "access-link.pcap.gz" in said and "requests.pcap.gz" in said


def test_shells_and_man_find_their_files(site: Path) -> None:
    share = site.parent / "data/share"
    files = ("bash-completion/completions/tcplearn", "zsh/site-functions/_tcplearn")
    assert all((share / file).is_file() for file in (*files, "fish/vendor_completions.d/tcplearn.fish"))
    completed = {"re": ["replay", "resend"], "replay -e eif": ["eifel"], "algorithms lo": ["loss"]}
    program = site.parent / "tcplearn"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} -P -m tcplearn "$@"\n')
    program.chmod(0o755)
    for words, answers in completed.items():
        asked = f". {share / files[0]}; COMP_WORDS=(tcplearn {words}) COMP_CWORD={words.count(' ') + 1}"
        line = f'PATH={site.parent}:$PATH; {asked}; _tcplearn tcplearn; echo "${{COMPREPLY[@]}}"'
        assert output_of("bash", "-c", line).split() == answers


def test_nothing_is_installed_that_was_built_or_run(site: Path) -> None:
    data = site / "tcplearn/data"
    names = [
        path.name for path in data.rglob("*") if path.is_file() and path.parent != data / "linux/bpf/built"
    ]
    assert len(names) > 300
    assert [n for n in names if n.endswith((".o", ".ko", ".pyc", ".so", "runs.parquet")) or n == "gen"] == []


def test_bpf_programs_are_compiled(site: Path, tmp_path: Path) -> None:
    """Test that the BPF programs are compiled in advance, as PATH has no compiler here, so that `tcplearn
    live` needs none."""
    made = "from tcplearn.bpf import build; from pathlib import Path; build.need_compiler()\n" + "".join(
        f"build.compiled(build.SOURCES / '{name}.bpf.c', Path('{name}.o'))\n"
        for name in ("live", "live_connections", "first_rto")
    )
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(site)}
    subprocess.run([sys.executable, "-P", "-c", made], cwd=tmp_path, env=environment, check=True)
    objects = [file.read_bytes()[:4] for file in tmp_path.glob("*.o")]
    assert objects == 3 * [b"\x7fELF"]


def test_one_version_in_all_packages() -> None:
    def found(path: str, pattern: str) -> str:
        return re.findall(pattern, (ROOT / path).read_text(), re.MULTILINE)[0]

    assert {
        PROJECT["version"],
        found("packaging/debian/changelog", r"^tcplearn \((.*?)\)"),
        found("linux/module/dkms.conf", r'^PACKAGE_VERSION="(.*)"'),
        found("core/CMakeLists.txt", r"^project\(tcplearn VERSION (\S+)"),
    } == {tcplearn.__version__}


def test_a_missing_extra_is_named_and_exists(site: Path, tmp_path: Path) -> None:
    assert set(EXTRAS) < set(PROJECT["optional-dependencies"])
    capture = site / "tcplearn/data/examples/captures/requests.pcap.gz"
    hide = (
        "import sys; sys.modules['vl_convert'] = None; from tcplearn.__main__ import main; sys.exit(main())"
    )
    command = (sys.executable, "-P", "-c", hide, "explain", str(capture), "--report", "out.html")
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "tcplearn: --report needs more Python packages; run: pip install 'tcplearn[pictures]'"
    ]
