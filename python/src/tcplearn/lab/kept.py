# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stores finished runs of `tcplearn lab`, each in a folder that is complete or absent."""

import io
import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import Any

import tcplearn
from tcplearn import provenance
from tcplearn.errors import FailedError
from tcplearn.jobs import Job, Kept
from tcplearn.output import temporary

COMPLETE = "complete"  # two lines: the commit and the version of tcplearn that made the run


def packed(folder: Path) -> bytes:
    """Return a tar archive of the files in `folder`, with paths relative to `folder`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            tar.add(path, str(path.relative_to(folder)))
    return out.getvalue()


def unpack(data: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            content = tar.extractfile(member) if member.isfile() else None
            if content is None or name.is_absolute() or ".." in name.parts:
                raise FailedError(f"{member.name}: not a file of a run")
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())


class Folders(Kept):
    """Stores the result of each job, a tar archive, as a folder with the files of the archive."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        temporary.clear(folder)

    def path(self, job: Job) -> Path:
        (document,) = job.arguments
        return self.folder / f"{document['name']}-{job.key}"

    def get(self, job: Job) -> Path | None:
        path = self.path(job)
        with self._reading(path):
            if (path / COMPLETE).exists():
                if job.check:
                    job.check(path)
                return path
        return None

    def put(self, job: Job, result: Any) -> Path:
        path = self.path(job)
        with temporary.folder(self.folder) as partial:
            unpack(result, partial)
            partial.chmod(0o755)
            (partial / COMPLETE).write_text(f"{provenance.commit()}\n{tcplearn.__version__}\n")
            if path.exists():
                shutil.rmtree(path)
            partial.rename(path)
        return path


def made_by(folder: Path) -> tuple[str, str]:
    """Return the commit and the version of tcplearn that made the run in `folder`."""
    commit, version, *_ = [*(folder / COMPLETE).read_text(errors="replace").split("\n"), ""]
    return commit, version
