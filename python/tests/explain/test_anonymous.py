# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that anonymised output contains no address, file name or path of the captures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import thin
from scenes import SCENES
from talk import Talk, pcap_of

from tcplearn.cli import main
from tcplearn.explain import run

SECRETS = ("10.0.0.", "192.0.2.", "klonk", "quuxer", "/tmp", "zyzzy")
KINDS = (
    ("table", "summary"),
    ("json", "summary"),
    ("csv", "requests"),
    ("json", "stalls"),
    ("parquet", "connections"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two captures of three hosts, and a third capture that is cut short."""
    out = tmp_path / "klonk"
    out.mkdir()
    lossy, slow, third = Talk(port=40_000), Talk(port=40_001, server="10.0.0.9"), Talk(server="192.0.2.7")
    thin.traffic(lossy, 1, 300, 0.03)
    SCENES["slow_server"](slow)
    SCENES["request_lost"](third)
    (out / "quuxer.pcap").write_bytes(pcap_of(lossy, slow))
    (out / "quuxer-2.pcap").write_bytes(pcap_of(third))
    (out / "zyzzy.pcap").write_bytes(pcap_of(third)[:-3])
    return out


def leaks(data: bytes) -> list[str]:
    return [secret for secret in SECRETS if secret.encode() in data]


@pytest.mark.usefixtures("cache_with_script")
def test_nothing_of_names_is_left(
    folder: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["explain", str(folder), "--all", "--host", "0", "-q"]
    for kind, rows in KINDS:
        for hidden in ([], ["--anonymize"]):
            assert main([*words, *hidden, "--format", kind, "--rows", rows]) == 0
            wrote = capfdbinary.readouterr()
            found = leaks(wrote.out + wrote.err)
            assert bool(found) != bool(hidden), (kind, rows, hidden, found)
    assert b"capture-3: " in wrote.err
    assert main([*words, "--anonymize", "--report", "report.html", "--pictures", "pictures"]) == 0
    shared = [Path("report.html"), *Path("pictures").glob("*.svg")]
    assert [leaks(path.read_bytes()) for path in shared] == [[]] * 13
    assert "host-1" in Path("report.html").read_text()


def test_a_host_has_one_name_in_all_tables(folder: Path) -> None:
    files = [folder / "quuxer.pcap", folder / "quuxer-2.pcap"]
    plain, found = run(files), run(files, anonymize=True)
    assert found.sources == ["capture-1", "capture-2"]
    names: dict[str, set[str]] = {}
    for table in ("requests", "stalls", "connections"):
        for end in ("client", "server"):
            ends = (getattr(of, table)[end].to_list() for of in (plain, found))
            for old, new in zip(*ends, strict=True):
                names.setdefault(old, set()).add(new)
    assert all(len(new) == 1 for new in names.values())
    assert {old.split(":")[0] for old in names} == {"10.0.0.1", "10.0.0.2", "10.0.0.9", "192.0.2.7"}
    assert {next(iter(new)).split(":")[0] for new in names.values()} == {f"host-{n}" for n in range(1, 5)}
    ports = {(old.partition(":")[2], next(iter(new)).partition(":")[2]) for old, new in names.items()}
    assert all(old == new for old, new in ports)
    assert found.advice and plain.advice and found.advice.chosen == plain.advice.chosen
    assert found.requests["response_ms"].to_list() == plain.requests["response_ms"].to_list()


def test_python_too(folder: Path) -> None:
    found = run([folder], host="0", anonymize=True)
    assert not leaks(json.dumps([found.sources, found.warnings, found.made_by]).encode())
    assert any("capture-" in line for line in found.warnings)
