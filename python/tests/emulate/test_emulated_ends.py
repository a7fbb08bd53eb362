# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that `tcplearn emulate` prints one line with the reason whenever it fails, and leaves no process,
namespace or file in whatever way it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from emulate_command import ANY_LATENESS, missing, words_of

from tcplearn import debian
from tcplearn.cli import main

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="it gives up privileges of root")
_WAITS_S = 30.0


def run(*words: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    given = [*before, *words_of("-q", *words)]
    return subprocess.run(given, capture_output=True, text=True, check=False, timeout=_WAITS_S)


def refused(done: subprocess.CompletedProcess[str], code: int, line: str) -> bool:
    """Return whether `done` ended with the exit code `code` and one line that contains `line`, without
    running the command."""
    return (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1) and line in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["wirde", "--", "echo"], "wirde: no such file, and no path of this name; did you mean wired?"),
        (["wired"], "missing argument '-- COMMAND...'"),
        (["--wait-port", "80", "wired", "--", "echo"], "--wait-port is for the server; give --server too"),
        (["-o", "/nowhere/x", "wired", "--", "echo"], "/nowhere/x: cannot write"),
        (["CODEL", "--", "echo"], "hop.line.forward.queue: the emulator has a droptail queue, not codel"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    codel = tmp_path / "codel.toml"
    codel.write_text('[hop.line]\nrate_mbps = 3\nqueue = "codel"\n')
    assert main(["emulate", "-q", *(str(codel) if word == "CODEL" else word for word in words)]) == 2
    output, errors = capfd.readouterr()
    assert output == "" and errors.count("\n") == 1 and line in errors


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["wired", "--", "no-such-program"], 127, "no-such-program: not found"),
        (["wired", "--", "/etc/passwd"], 126, "/etc/passwd: Permission denied"),
        (
            ["--server", "exit 3", "--wait-port", 80, "wired", "--", "echo"],
            1,
            "the server ended with code 3 before it had opened port 80",
        ),
    ],
)
def test_what_cannot_be_run_is_one_line(words: list[object], code: int, line: str) -> None:
    done = run(*words)
    assert refused(done, code, line), done


@AS_ROOT
@pytest.mark.parametrize(
    ("before", "line"),
    [
        (
            ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"),
            "namespaces are not permitted here: unshare: operation not permitted",
        ),
        (
            ("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"),
            "no emulated link can be made here: /dev/net/tun: operation not permitted",
        ),
        (
            ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev/net && exec "$@"', "sh"),
            "no emulated link can be made here: /dev/net/tun: no such file or directory",
        ),
    ],
)
def test_without_privilege_or_device_it_is_one_line(before: tuple[str, ...], line: str) -> None:
    done = run("wired", "--", "echo", before=before)
    assert refused(done, 2, line), done


@AS_ROOT
def test_an_unprivileged_user_has_a_link_too() -> None:
    """Test that an unprivileged user can emulate a link in a user namespace. The one capability that the user
    keeps is needed to read this checkout."""
    drop = "--reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search "
    drop += "--ambient-caps=+dac_read_search --bounding-set=-all,+dac_read_search"
    if subprocess.run(["setpriv", *drop.split(), "unshare", "-rn", "true"], check=False).returncode:
        pytest.skip("unprivileged users have no namespaces here")
    if not Path("/dev/net/tun").stat().st_mode & stat.S_IWOTH:
        pytest.skip("only root may open /dev/net/tun here")
    done = run(
        *ANY_LATENESS,
        "data-centre",
        "--",
        "sh",
        "-c",
        "ping -qc 1 $TCPLEARN_SERVER",
        before=("setpriv", *drop.split()),
    )
    assert done.returncode == 0 and " 1 received" in done.stdout, done


def test_the_exit_code_is_the_commands() -> None:
    assert run("wired", "--", "sh", "-c", "exit 7").returncode == 7
    assert run("wired", "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9


def test_a_late_run_is_to_be_discarded(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    ping = ("ping", "-q", "-c", 200, "-i", 0.002, "198.18.0.2")  # one of 400 is 1 us late
    done = run("--json", "-o", file, "--late-limit-us", 0, "far", "--", *ping)
    result = json.loads(file.read_text())
    late_us = result["late_us"]["max"]
    line = f"discard this run: a packet was {late_us} us late, more than 0 (--late-limit-us)"
    assert (done.returncode, done.stderr) == (1, f"tcplearn: {line}\n") and late_us > 0
    assert [f"discard this run: {why}" for why in result["unusable"]] == [line]


def test_a_server_that_ends_too_soon_makes_the_run_unusable() -> None:
    done = run(*ANY_LATENESS, "--server", "exit 4", "wired", "--", "sleep", 0.3)
    line = "discard this run: the server ended with code 4 before the command"
    assert (done.returncode, done.stderr) == (1, f"tcplearn: {line}\n")


def _running(mark: str) -> list[str]:
    """Return the processes, in any namespace, that have `mark` in their command line or environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if mark.encode() in text:
            found.append(process.name)
    return found


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + _WAITS_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    yield f"mark-{tmp_path.name}-{os.getpid()}"


@pytest.mark.parametrize(
    ("number", "waits", "code"),
    [
        (signal.SIGINT, False, 130),
        (signal.SIGTERM, False, 143),
        (signal.SIGHUP, False, 129),
        (signal.SIGKILL, False, -signal.SIGKILL),
        (signal.SIGINT, True, 130),
        (signal.SIGTERM, True, 130),
    ],
)
def test_nothing_is_left_when_it_is_stopped(
    number: int, code: int, waits: bool, mark: str, tmp_path: Path
) -> None:
    """Test that signal `number` leaves nothing behind. Ctrl-C reaches all processes of the terminal, other
    signals only the first one."""
    begun = tmp_path / "begun"
    server = ("--server", f"touch {begun}-server; sleep 600", *(("--wait-port", 80) if waits else ()))
    words = words_of("-q", "--json", "-o", tmp_path / "out.json", *server, "wired", "--")
    words += ["sh", "-c", f"touch {begun}; exec sleep 600"]
    process = subprocess.Popen(
        words, env={**os.environ, "MARK": mark}, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    _until(lambda: Path(f"{begun}-server" if waits else begun).exists())
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    errors = process.communicate(timeout=_WAITS_S)[1]
    _until(lambda: not _running(mark))
    assert process.returncode == code
    if number == signal.SIGKILL:
        return
    assert errors == ("tcplearn: interrupted before the command was started\n" if waits else "")
    # a command that has ended by a signal has a result; one that was not started has none
    assert sorted(file.name for file in tmp_path.glob("*.json*")) == ([] if waits else ["out.json"])


def test_a_signal_that_comes_before_the_command_is_handed_on_to_it() -> None:
    script = """
import os, signal, subprocess
from tcplearn.emulate.commands import HandedOn
signals = HandedOn([signal.SIGTERM])
os.kill(os.getpid(), signal.SIGTERM)
process = subprocess.Popen(["sleep", "600"])
signals.to(process.pid)
print(process.wait())
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=_WAITS_S)
    assert done.stdout == f"{-signal.SIGTERM}\n"


def test_the_holder_of_the_link_is_killed(mark: str, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    words = words_of("-q", "wired", "--", "sh", "-c", f"touch {begun}; exec sleep 600")
    process = subprocess.Popen(words, env={**os.environ, "MARK": mark}, stderr=subprocess.PIPE, text=True)
    _until(begun.exists)
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGKILL)
    errors = process.communicate(timeout=_WAITS_S)[1]
    assert (process.returncode, errors) == (
        1,
        "tcplearn: the emulating process ended before it gave a result\n",
    )
    _until(lambda: not _running(mark))


def test_ip_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(debian, "_MORE_PATH", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("ip") is None and main(["emulate", "wired", "--", "echo"]) == 2
    said = capsys.readouterr().err
    assert "apt-get install --no-install-recommends iproute2" in said and said.count("\n") == 1


def test_an_error_that_nobody_expects_ends_the_link_too() -> None:
    script = (
        "from tcplearn.emulate import path, trial\n"
        "from tcplearn.scenario import path as network_path\n"
        "described = network_path.load(network_path.found('wired'), 'emulate')\n"
        "trial.run(trial.Order(path.hops(described), 1, ['true', 'a\\0b']))"  # no argument may have a NUL
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=_WAITS_S
    )
    assert "FailedError: the emulating process ended before it gave a result" in done.stderr
