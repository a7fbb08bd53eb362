# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compiles the BPF programs for any kernel with BTF."""

import shutil
from pathlib import Path

from tcplearn.checkout import ROOT, output_of
from tcplearn.errors import UserError

SOURCES = ROOT / "linux" / "bpf"
HEADERS = Path("/usr/include/bpf/bpf_helpers.h")
_MORE_PATH = "/usr/sbin:/sbin"  # the folders in which Debian installs bpftool


def tool(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=_MORE_PATH)
    if not found:
        raise UserError(f"{name} is missing: apt-get install --no-install-recommends {name}, or make install")
    return found


def need_compiler() -> None:
    """Raise UserError if the compiler or libbpf's headers are missing."""
    if not HEADERS.exists():
        raise UserError("libbpf's headers are missing: apt-get install --no-install-recommends libbpf-dev")
    tool("clang")


def compiled(source: Path, out: Path) -> Path:
    """Compile `source` to the object file `out`; raise UserError or FailedError."""
    _clang(source, "-g", "-Wall", "-Werror", f"-ffile-prefix-map={ROOT}=.", "-c", "-o", out)
    return out


def preprocessed(source: Path) -> str:
    """Return the source without comments and paths, to identify a run. Raise UserError or FailedError."""
    return _clang(source, "-E", "-P")


def _clang(source: Path, *words: object) -> str:
    need_compiler()
    includes = (f"-I{ROOT}/core/include", "-I/usr/include/x86_64-linux-gnu")
    command = (tool("clang"), "-O2", "-target", "bpf", "-mcpu=v3", *includes, *words, source)
    return output_of([str(word) for word in command])
