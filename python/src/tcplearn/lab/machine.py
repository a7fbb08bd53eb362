# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Builds the virtual machine of `tcplearn lab` and the kernel module, and runs scripts in the machine."""

import contextlib
import fcntl
import hashlib
import itertools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tcplearn import debian
from tcplearn.checkout import LAB, ROOT, last_line, output_of
from tcplearn.errors import FailedError, UserError
from tcplearn.jobs import children
from tcplearn.output import temporary
from tcplearn.output.files import cache_folder as users_cache
from tcplearn.output.files import full_disk

from .guest import KERNEL_MODULES, MORE_MODULES, NFT_MODULES, STORM_MODULES
from .guest import script as guest_script
from .scenario import KERNELS, Scenario

# a scenario loads what it needs
IMAGE_MODULES = (*KERNEL_MODULES, *MORE_MODULES, "tun", *NFT_MODULES, *STORM_MODULES)
BUILT = ("tcplearn.ko", "tcplearn_vectors.ko", "transfer", "syns")
PACKAGES = {  # as debian.need takes them
    "qemu-system-x86": "qemu-system-x86_64",
    "gcc-12": "gcc-12",
    "make": "make",
    "libelf-dev": "/usr/lib/*/libelf.so.1",
    "xz-utils": "xz",
}
TICKS_PER_SECOND = 250  # CONFIG_HZ of Debian's kernels
FAILING = "tcplearn_failing.ko"  # the build in which a check makes allocations fail
GUESTS_PER_PROCESSOR = 8  # further virtual machines are not pinned but left to the scheduler
_LOOK_EVERY_S = 0.25  # a full disk stays full until the script ends, so no look can miss it
_FULL_BYTES = 4096  # less free space than this, at most a block of a file system, means: full
_NO_SPACE = ("No space left on device", "Disk quota exceeded")


def cache_folder() -> Path:
    return users_cache("lab")


@dataclass(frozen=True)
class Machine:
    """A virtual machine and the kernel module for it, both built."""

    image: Path
    built: Path
    fingerprint: str  # a hash of the contents; a script gives the same result if it is the same
    kernel: str
    programs: Path | None = None  # the archive with Python, curl, nginx and iperf3
    versions: dict[str, str] = field(default_factory=dict)  # by package in `programs`


def guest_files(programs: bool) -> list[Path]:
    endings = (".sh", ".py") if programs else (".sh",)
    return [path for path in sorted((LAB / "guest").iterdir()) if path.suffix in endings]


@dataclass(frozen=True, slots=True)
class Boot:
    append: str = ""  # appended to the kernel's command line
    processors: int = 0  # several: no virtual time, and runs do not repeat exactly
    settings: tuple[str, ...] = ()  # NAME=VALUE, added to the script's environment


ORDINARY = Boot()


def prepare(folder: Path, programs: bool = False, kernel: str = "6.1") -> Machine:
    """Return the virtual machine, with Python, curl, nginx and iperf3 if `programs` is true. Parts whose
    sources have not changed are taken from the cache `folder`. Raise UserError or FailedError."""
    if kernel not in KERNELS:
        raise UserError(f"no kernel {kernel!r}; there are {', '.join(KERNELS)}")
    debian.need("tcplearn lab", PACKAGES)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        image = _image(folder, os.environ.get("TCPLEARN_KERNEL") or KERNELS[kernel])
        built = _module(folder, image)
        more = _programs(folder, image) if programs else None
    version = output_of(["qemu-system-x86_64", "--version"]).splitlines()[0]
    package = (image / "versions").read_text().split("\n", 1)[0]
    fingerprint = _hash(
        version.encode(),
        *(path.read_bytes() for path in (image / "versions", LAB / "vm.sh", LAB / "guest-init")),
        *((built / name).read_bytes() for name in BUILT),
        *map(Path.read_bytes, guest_files(False)),
    )
    machine = Machine(image, built, fingerprint, package.removeprefix("linux-image-"))
    if more is None:
        return machine
    versions = (more / "versions").read_text()
    return replace(
        machine,
        programs=more / "programs.cpio",
        versions=dict(line.split(" ", 1) for line in versions.splitlines()),
        fingerprint=_hash(fingerprint.encode(), versions.encode(), *map(Path.read_bytes, guest_files(True))),
    )


def prepared(fingerprint: str, programs: bool, kernel: str = "6.1") -> Machine:
    """Return the virtual machine; raise FailedError if the hash of its contents is not `fingerprint`."""
    ready = prepare(cache_folder(), programs, kernel)
    if ready.fingerprint != fingerprint:
        raise FailedError(
            "the virtual machine, module or QEMU of this machine differs from that of the sweep: use the "
            "same commit and Debian packages"
        )
    return ready


def hex_words(settings: bytes) -> str:
    """Return the settings of a BPF program in the form in which the machine's scripts read them."""
    return " ".join(f"{byte:#04x}" for byte in settings)


def _hash(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()


def _made(folder: Path, parts: Sequence[bytes], command: Sequence[str | Path], **environment: str) -> Path:
    """Run `command`, which makes the content of `folder` from `parts`, unless `folder` was made from equal
    parts before. Return `folder`. Raise FailedError."""
    made_of, stamp = _hash(*parts), folder / "made-of"
    if not (stamp.exists() and stamp.read_text() == made_of):
        _step(command, **environment)
        stamp.write_text(made_of)
    return folder


def _image(folder: Path, kernel: str) -> Path:
    image = folder / (f"image-{kernel}" if kernel else "image")
    metapackage = f"linux-image-{kernel}-cloud-amd64" if kernel else "linux-image-cloud-amd64"
    wanted = ""
    if shutil.which("apt-cache"):
        asked = ["apt-cache", "depends", metapackage]
        wanted = subprocess.run(asked, capture_output=True, text=True).stdout
    scripts = [(LAB / name).read_bytes() for name in ("image.sh", "packages.sh", "later.sh", "guest-init")]
    parts = [*scripts, " ".join(IMAGE_MODULES).encode(), (kernel + wanted).encode()]
    return _made(image, parts, [LAB / "image.sh", image, *IMAGE_MODULES], TCPLEARN_KERNEL=kernel)


def _programs(folder: Path, image: Path) -> Path:
    programs = folder / f"programs{image.name.removeprefix('image')}"
    parts = [path.read_bytes() for path in (LAB / "programs.sh", LAB / "packages.sh", image / "versions")]
    return _made(programs, parts, [LAB / "programs.sh", image, programs])


def _module(folder: Path, image: Path) -> Path:
    sources = [*(ROOT / "linux" / "module").glob("*"), *(ROOT / "core" / "include").rglob("*.h")]
    sources += [LAB / name for name in ("module.sh", "packages.sh", "later.sh")]
    sources += [*(LAB / "guest").glob("*.[ch]"), image / "versions"]
    parts = [
        part
        for path in sorted(sources)
        if path.is_file() and (path.suffix in (".c", ".h", ".sh") or path.name in ("Kbuild", "versions"))
        for part in (path.name.encode(), path.read_bytes())
    ]
    built = folder / "module" / _hash(*parts)[:16]
    if not all((built / name).exists() for name in (*BUILT, FAILING)):
        with temporary.folder() as work:
            _step([LAB / "module.sh", image, built], TMPDIR=str(work))
    return built


def _step(command: Sequence[str | Path], **environment: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise FailedError(last_line(done.stderr) or "no reason given")


@contextlib.contextmanager
def _inputs(
    machine: Machine, script: str, files: Sequence[Path] = ()
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the folder that the virtual machine sees as /scenario, with `script` and `files` in it, and the
    environment variables of vm.sh, which starts the machine."""
    with temporary.folder() as folder, temporary.folder() as work:
        for path in (*guest_files(machine.programs is not None), *(machine.built / n for n in BUILT), *files):
            shutil.copyfile(path, folder / path.name)
        (folder / "run").write_text(script)
        programs = str(machine.programs or "")
        yield str(folder), {**os.environ, "VM_PROGRAMS": programs, "TMPDIR": str(work)}


def shell(machine: Machine, scenario: Scenario) -> None:
    script = guest_script(scenario, 0, shell=True)
    with _inputs(machine, script) as (name, environment):
        command = [str(LAB / "vm.sh"), str(machine.image), name, name, f"SEED={scenario.runs.seed}"]
        subprocess.run(command, env={**environment, "VM_CONSOLE": "stdio"}, check=False)


@contextlib.contextmanager
def _on_one_processor(wanted: bool) -> Iterator[list[str]]:
    """Yield the words to put before a command to pin it to the processor with the fewest virtual machines.
    Yield an empty list if `wanted` is false, or if all processors have too many. QEMU's two threads switch
    thousands of times a second, and between two processors the switches would take longer than the work
    itself."""
    places = itertools.product(range(GUESTS_PER_PROCESSOR), sorted(os.sched_getaffinity(0)))
    with contextlib.ExitStack() as held:
        for turn, processor in places if wanted else ():
            lock = held.enter_context((cache_folder() / f"processor-{processor}-{turn}").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield ["taskset", "--cpu-list", str(processor)]
            return
        yield []


@contextlib.contextmanager
def _watched_disk() -> Iterator[Callable[[str], None]]:
    """Yield a function of a script's error output. It raises FullDiskError if the output says that the disk
    is full, or if the disk was full within this context: QEMU silently drops what does not fit."""
    folder = Path(tempfile.gettempdir())
    was_full, ended = threading.Event(), threading.Event()

    def watch() -> None:
        while not (was_full.is_set() or ended.wait(_LOOK_EVERY_S)):
            with contextlib.suppress(OSError):
                if shutil.disk_usage(folder).free < _FULL_BYTES:
                    was_full.set()

    def refuse(complaint: str) -> None:
        if was_full.is_set() or any(text in complaint for text in _NO_SPACE):
            raise full_disk(folder)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield refuse
    finally:
        ended.set()
        watcher.join()


def run(
    machine: Machine,
    script: str,
    out: Path,
    *,
    seed: int,
    limit_s: int,
    files: Sequence[Path] = (),
    boot: Boot = ORDINARY,
) -> None:
    """Run `script` in a new virtual machine, for at most `limit_s` seconds of real time, and copy its output
    to the folder `out`. The machine sees `files` in /scenario. Raise FailedError."""
    with _inputs(machine, script, files) as (name, environment):
        command = [str(LAB / "vm.sh"), str(machine.image), name, str(out), f"SEED={seed}", *boot.settings]
        environment |= {"VM_APPEND": boot.append, "VM_TIME_LIMIT": str(limit_s)}
        if boot.processors:
            environment["VM_PROCESSORS"] = str(boot.processors)
        with _watched_disk() as refuse_full, _on_one_processor(not boot.processors) as pinned:
            # vm.sh ends QEMU and removes its temporary files when it gets SIGTERM
            done = children.run([*pinned, *children.with_parent(command, "TERM")], env=environment)
        if done.returncode:
            refuse_full(done.stderr)
            raise FailedError(last_line(done.stderr) or "vm: no reason given")
