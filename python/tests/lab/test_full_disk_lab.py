# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the lab reports a full disk as such, whichever message the failing script prints."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tcplearn.errors import FullDiskError
from tcplearn.jobs import Job
from tcplearn.lab import kept, machine

#: As QEMU: what does not fit is dropped, and the script finds no archive. It removes its files at the end.
SILENT = """#!/bin/sh
work=$(mktemp -d)
cat /dev/zero >"$work/out.tar.gz" 2>/dev/null
sleep 1
rm -rf "$work"
echo "vm: the guest returned no output (log: $3/console.log)" >&2
exit 1
"""
LOUD = "#!/bin/sh\necho 'cat: write error: No space left on device' >&2\nexit 1\n"


@pytest.mark.parametrize("script", [SILENT, LOUD])
def test_a_full_disk_under_a_machine(
    small_disk: Path, tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, built, out = tmp_path / "lab", tmp_path / "built", tmp_path / "out"
    for folder in (lab / "guest", built, out):
        folder.mkdir(parents=True)
    (lab / "guest" / "lib.sh").touch()
    (lab / "vm.sh").write_text(script)
    (lab / "vm.sh").chmod(0o755)
    for name in machine.BUILT:
        (built / name).touch()
    monkeypatch.setattr(machine, "LAB", lab)
    monkeypatch.setenv("TMPDIR", str(small_disk))
    monkeypatch.setattr(tempfile, "tempdir", None)
    ready = machine.Machine(tmp_path, built, "fingerprint", "6.1")
    with pytest.raises(FullDiskError, match="no space left on device") as caught:
        machine.run(ready, "true", out, seed=1, limit_s=20)
    assert str(small_disk) in str(caught.value) and "handed" not in str(caught.value)


def test_a_full_disk_under_what_is_kept(small_disk: Path, tmp_path: Path) -> None:
    from tcplearn import jobs
    from tcplearn.jobs.pool import one_by_one

    folder = tmp_path / "left"
    folder.mkdir()
    (folder / "queue").write_bytes(bytes(100 << 10))
    job = Job("key", kept.packed, (folder,), "a run")
    store = kept.Folders(small_disk / "runs")
    store.path = lambda job, key="": store.folder / job.key  # type: ignore[method-assign]
    with pytest.raises(FullDiskError, match=f"no space left on device {small_disk}"):
        jobs.run([job], store, one_by_one)
    assert list(store.folder.iterdir()) == []
