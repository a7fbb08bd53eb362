# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the commands that `tcplearn module` would run, and what it refuses, on a simulated root file
system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.errors import FailedError, UserError
from tcplearn.lab import install

KERNEL = "6.1.0-56-amd64"
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


class Machine:
    """Simulates a root file system with three supported kernels and one that is not supported. `ran` has the
    commands that were run."""

    def __init__(self, root: Path) -> None:
        self.root, self.ran, self.fails = root, list[str](), ""
        for kernel in (KERNEL, "6.12.117+deb12-amd64", "6.18.0-amd64", "7.3.4+deb13-amd64"):
            (root / "lib/modules" / kernel / "build").mkdir(parents=True)
        self.write("proc/modules", "veth 1 0 - Live")
        self.write("sys/kernel/security/lockdown", "[none] integrity confidentiality")
        self.system = install.System(root, self.run, KERNEL, True, lambda name: f"/usr/sbin/{name}")

    def write(self, path: str, content: str | bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(content if isinstance(content, bytes) else content.encode())

    def run(self, command: Sequence[str]) -> str:
        line = " ".join(command)
        self.ran.append(line)
        if line.startswith("make"):
            self.write(f"usr/src/tcplearn-{install.version()}/dkms.conf", "")
        if "dkms install" in line:
            (self.root / "var/lib/dkms/tcplearn" / install.version()).mkdir(parents=True, exist_ok=True)
        if self.fails and self.fails in line:
            raise FailedError("it does not build")
        return ""

    @property
    def tree(self) -> Path:
        return self.root / "usr/src" / f"tcplearn-{install.version()}"


@pytest.fixture
def box(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_is_built_for_each_supported_kernel(box: Machine) -> None:
    install.install(box.system)
    name = f"tcplearn/{install.version()}"
    assert box.ran[1:] == [
        f"dkms install {name} -k {KERNEL}",
        f"dkms install {name} -k 6.12.117+deb12-amd64",
        f"dkms install {name} -k 7.3.4+deb13-amd64",
        "modprobe tcplearn",
    ]
    assert box.tree.exists()


def test_a_build_that_fails_leaves_nothing(box: Machine) -> None:
    box.fails = "dkms install"
    with pytest.raises(FailedError, match="does not build"):
        install.install(box.system)
    assert box.ran[-1] == f"dkms remove tcplearn/{install.version()} --all" and not box.tree.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda b: b.write(SECURE_BOOT, b"\6\0\0\0\1"), "Secure Boot is on"),
        (lambda b: b.write("sys/kernel/security/lockdown", "none [integrity]"), "locked down"),
        (lambda b: b.write("proc/sys/kernel/modules_disabled", "1"), "modules_disabled"),
        (lambda b: (b.root / "proc/modules").unlink(), "takes no modules"),
        (lambda b: (b.root / "lib/modules" / KERNEL / "build").rmdir(), f"linux-headers-{KERNEL}"),
        (lambda b: setattr(b.system, "kernel", "6.18.0-amd64"), "6.18.0-amd64 is not supported"),
        (lambda b: setattr(b.system, "is_root", False), "sudo tcplearn module install"),
        (lambda b: setattr(b.system, "which", lambda _: None), "apt-get install dkms"),
        (lambda b: b.write("proc/modules", "tcplearn 1 0 - Live"), "the module is loaded"),
        (lambda b: b.write("var/lib/dpkg/info/tcplearn-dkms.list", ""), "package tcplearn-dkms builds"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_done(
    box: Machine, change: Callable[[Machine], object], said: str
) -> None:
    change(box)
    with pytest.raises(UserError, match=said) as error:
        install.install(box.system)
    assert box.ran == [] and "\n" not in str(error.value)


def test_it_is_removed_when_nobody_uses_it(box: Machine) -> None:
    install.install(box.system)
    box.write("proc/modules", "tcplearn 1 2 - Live")
    box.write("proc/sys/net/ipv4/tcp_congestion_control", "tl-cubic")
    with pytest.raises(FailedError, match=r"in use .2 references"):
        install.remove(box.system)
    assert box.ran[-1] == "sysctl -qw net.ipv4.tcp_congestion_control=cubic" and box.tree.exists()
    box.write("proc/modules", "tcplearn 1 0 - Live")
    install.remove(box.system)
    assert box.ran[-2:] == ["rmmod tcplearn", f"dkms remove tcplearn/{install.version()} --all"]
    assert not box.tree.exists()


def test_a_package_s_module_is_unloaded_and_its_files_stay(box: Machine) -> None:
    box.write("var/lib/dpkg/info/tcplearn-dkms.list", "")
    box.write(f"usr/src/tcplearn-{install.version()}/dkms.conf", "")
    box.write("proc/modules", "tcplearn 1 0 - Live")
    assert install.remove(box.system) == ["not loaded; apt-get remove tcplearn-dkms removes its files"]
    assert box.ran == ["rmmod tcplearn"] and box.tree.exists()


def test_status_of_a_loaded_module(box: Machine) -> None:
    assert install.status(box.system) == ["loaded: no", "built for: no kernel"]
    box.write("proc/modules", "tcplearn 1 3 - Live")
    box.write(f"lib/modules/{KERNEL}/updates/dkms/tcplearn.ko.xz", "")
    box.write("proc/sys/net/tcplearn/estimator", "tracking")
    box.write("proc/sys/net/tcplearn/resend", "priced/spaced")
    lines = install.status(box.system)
    assert lines[:2] == ["loaded: yes, 3 references", f"built for: {KERNEL}"]
    assert {"net.tcplearn.estimator: tracking", "net.tcplearn.resend: priced/spaced"} <= set(lines)


def test_a_model_of_ones_own_is_given_to_the_module(box: Machine) -> None:
    model = ROOT / "core" / "models" / "loss_hwang2018.json"
    with pytest.raises(UserError, match="the module is not loaded"):
        install.choose_loss(box.system, "mlp")
    box.write("proc/modules", "tcplearn 200704 0 - Live")
    box.write("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n")
    box.write("proc/sys/net/tcplearn/loss", "")
    with pytest.raises(UserError, match=r"has no net\.tcplearn\.loss_model: install this version"):
        install.choose_loss(box.system, f"mlp:model={model}")
    box.write("proc/sys/net/tcplearn/loss_model", "")
    said = install.choose_loss(box.system, f"mlp:threshold=0.5,model={model}")
    settings = box.root / "proc/sys/net/tcplearn"
    assert (settings / "loss").read_text() == "mlp:threshold=0.5,model=own\n"
    assert (settings / "loss_model").read_text().startswith("tcplearn-mlp-1 hwang2018 2 ")
    assert said[0] == "net.tcplearn.loss: mlp:threshold=0.5,model=own"
    assert "tcp_congestion_control=tl-cubic" in said[-1]


def test_a_wrong_model_changes_nothing(box: Machine, tmp_path: Path) -> None:
    box.write("proc/modules", "tcplearn 200704 0 - Live")
    for name in ("loss", "loss_model"):
        box.write(f"proc/sys/net/tcplearn/{name}", "none")
    (tmp_path / "bad.json").write_text("{}")
    for spec in ("mlp:model=absent.json", f"mlp:model={tmp_path / 'bad.json'}", "mlp:model=own", "mpl"):
        with pytest.raises(UserError):
            install.choose_loss(box.system, spec)
    assert (box.root / "proc/sys/net/tcplearn/loss").read_text() == "none"
