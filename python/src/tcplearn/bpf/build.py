# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compile tcplearn's BPF programs so that they run on any kernel with type information (BTF). The build of a
package compiles them in advance by

python -m tcplearn.bpf.build FOLDER"""

import platform
import shutil
import sys
from pathlib import Path

from tcplearn import debian
from tcplearn.checkout import ROOT, output_of
from tcplearn.errors import UserError

SOURCES = ROOT / "linux" / "bpf"
#: The object files that python/CMakeLists.txt has compiled for a package; a checkout has none.
BUILT = SOURCES / "built"
PACKAGES = {"clang": "clang", "libbpf-dev": "/usr/include/bpf/bpf_helpers.h"}


def tool(name: str) -> str:
    found = debian.program(name)
    if not found:
        raise UserError(f"{name} is missing: {debian.command([name])}")
    return found


def need_compiler() -> None:
    """Raise UserError if the compiler or libbpf's headers are missing. An installed package needs neither,
    because it contains compiled programs."""
    if not BUILT.is_dir():
        debian.need("its BPF program", PACKAGES)


def compiled(source: Path, out: Path) -> Path:
    """Compile the BPF program `source` to the object file `out`, or copy the object file of an installed
    package; return `out`. Raise UserError or FailedError."""
    built = BUILT / source.name.replace(".bpf.c", ".o")
    if built.exists():
        shutil.copyfile(built, out)
        return out
    _clang(source, "-g", "-Wall", "-Werror", f"-ffile-prefix-map={ROOT}=.", "-c", "-o", out)
    return out


def preprocessed(source: Path) -> str:
    """Return the text of the BPF program `source` without comments and paths, by which `tcplearn lab` knows
    whether a stored result can be used again. Raise UserError or FailedError."""
    return _clang(source, "-E", "-P")


def _clang(source: Path, *words: object) -> str:
    debian.need("its BPF program", PACKAGES)
    includes = (f"-I{ROOT}/core/include", f"-I/usr/include/{platform.machine()}-linux-gnu")
    command = (tool("clang"), "-O2", "-target", "bpf", "-mcpu=v3", *includes, *words, source)
    return output_of([str(word) for word in command])


if __name__ == "__main__":
    for one in ("live", "live_connections", "first_rto"):
        compiled(SOURCES / f"{one}.bpf.c", Path(sys.argv[1]) / f"{one}.o")
