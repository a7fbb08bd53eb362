# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the lab gets its packages from the archive that the machine's own package sources name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from samples import ROOT

SCRIPT = """
die() { echo "$*" >&2; exit 1; }
. "$1"
machine_apt() { APT_CONFIG=$machine apt-get "$@"; }
machine=$2
release_apt "$3" "$4"
cat "$3/apt-$4/sources.list"
"""

pytestmark = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt here")


class Machine:
    """Simulates the apt of a machine with package sources of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("parts", "lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        self.config = folder / "apt.conf"
        self.config.write_text(
            f'Dir::Etc::SourceList "{folder}/sources.list"; Dir::Etc::SourceParts "{folder}/parts";\n'
            f'Dir::State "{folder}"; Dir::State::status "{folder}/status"; Dir::Cache "{folder}/cache";\n'
            f'APT::Sandbox::User "root"; APT::Architecture "amd64"; APT::Architectures {{ "amd64"; }};\n'
        )

    def archive(self, name: str, suite: str, origin: str, label: str) -> str:
        """Return the address of a new archive that has no packages."""
        index = self.folder / name / "dists" / suite
        (index / "main" / "binary-amd64").mkdir(parents=True)
        (index / "main" / "binary-amd64" / "Packages").touch()
        (index / "Release").write_text(f"Origin: {origin}\nLabel: {label}\nCodename: {suite}\nSHA256:\n")
        return f"file:{self.folder / name}"

    def sources(self, release: str) -> list[str]:
        """Return the addresses and suites that the lab's script lists for `release`."""
        environment = {**os.environ, "APT_CONFIG": str(self.config)}
        subprocess.run(["apt-get", "update", "-qq"], env=environment, check=True)
        words = [
            str(ROOT / "linux" / "lab" / "packages.sh"),
            str(self.config),
            str(self.folder / "lab"),
            release,
        ]
        done = subprocess.run(["bash", "-euc", SCRIPT, "bash", *words], capture_output=True, text=True)
        if done.returncode:
            return [done.stderr.strip()]
        return [" ".join(line.split()[2:4]) for line in done.stdout.splitlines()]


@pytest.fixture
def computer(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_lines_without_security(computer: Machine) -> None:
    """Test source lines without a security archive, as on a new Debian 13. An archive of another origin comes
    first, and the path is that of a mirror."""
    other = computer.archive("other", "trixie", "Other", "Debian")
    ours = computer.archive("mirror/pub/debian", "trixie", "Debian", "Debian")
    later = computer.archive("later", "trixie-backports", "Debian", "Debian Backports")
    (computer.folder / "sources.list").write_text(
        f"deb [trusted=yes] {other} trixie main\n"
        f"# deb http://commented.example/debian trixie main\n"
        f"deb [trusted=yes] {later} trixie-backports main\ndeb [trusted=yes] {ours}/ trixie main\n"
    )
    assert computer.sources("bookworm") == [
        f"{ours}/ bookworm",
        f"{ours}/ bookworm-updates",
        f"{ours}-security bookworm-security",
    ]
    assert computer.sources("trixie") == [f"{ours}/ trixie", f"{ours}/ trixie-backports"]


def test_stanzas_with_security(computer: Machine) -> None:
    ours = computer.archive("debian", "bookworm", "Debian", "Debian")
    security = computer.archive("elsewhere", "bookworm-security", "Debian", "Debian-Security")
    (computer.folder / "parts" / "debian.sources").write_text(
        f"Types: deb\nURIs: {security}\nSuites: bookworm-security\nComponents: main\nTrusted: yes\n\n"
        f"Types: deb\nURIs: {ours}\nSuites: bookworm\nComponents: main\nTrusted: yes\n"
    )
    assert computer.sources("bookworm") == [
        f"{ours}/ bookworm",
        f"{ours}/ bookworm-updates",
        f"{security}/ bookworm-security",
    ]


def test_no_archive_of_debian_is_one_line(computer: Machine) -> None:
    (computer.folder / "sources.list").touch()
    assert computer.sources("bookworm") == ["apt knows no archive of Debian: run apt-get update"]
