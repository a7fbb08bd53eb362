# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that temporary folders are removed on every signal that a process can catch, and otherwise at the next
start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tcplearn
from tcplearn import interrupts
from tcplearn.lab import kept
from tcplearn.output import files, temporary

NAME = "tcplearn-1-abcdefgh"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the system's temporary folder to an empty one and return it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def left_by_a_killed_process(where: Path, name: str = NAME) -> Path:
    left = where / name
    (left / "a" / "b").mkdir(parents=True, mode=0o700)
    left.chmod(0o700)
    (left / "a" / "b" / "run.json").write_text("{}")
    return left


def test_one_that_is_used_stays_and_one_that_was_left_goes(folder: Path) -> None:
    left = left_by_a_killed_process(folder)
    with temporary.folder() as used:
        (used / "file").write_text("in use")
        temporary.clear()
        assert (used / "file").read_text() == "in use" and used.parent == folder and not left.exists()
        assert used.stat().st_mode & 0o777 == 0o700
    assert list(folder.iterdir()) == []


def test_what_a_left_folder_links_to_stays(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    victim = tmp_path_factory.mktemp("victim")
    (victim / "file").write_text("mine")
    left = left_by_a_killed_process(folder)
    (left / "link").symlink_to(victim)
    (left / "a" / "link").symlink_to(victim)
    temporary.clear()
    assert not left.exists() and (victim / "file").read_text() == "mine"


@pytest.mark.parametrize(
    "what", ["link", "file", "pipe", "of another user", "writable by others", "other name"]
)
def test_what_somebody_else_may_have_put_there_is_not_touched(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, what: str
) -> None:
    victim = tmp_path_factory.mktemp("victim")
    (victim / "file").write_text("mine")
    place = folder / NAME
    if what == "link":
        place.symlink_to(victim)
    elif what == "file":
        place.write_text("mine")
    elif what == "pipe":
        os.mkfifo(place)
    else:
        place = left_by_a_killed_process(folder, "tcplearn-abcdefgh" if what == "other name" else NAME)
    if what == "of another user":
        if os.geteuid() != 0:
            pytest.skip("needs root")
        os.chown(place, 65534, 65534)
    if what == "writable by others":
        place.chmod(0o770)
    before = place.lstat()
    temporary.clear()
    assert place.lstat() == before and (victim / "file").read_text() == "mine"
    assert not place.is_dir() or what == "link" or (place / "a" / "b" / "run.json").exists()


@contextmanager
def copying(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that is copying a pipe, which nobody closes, into a temporary folder for `tcplearn
    study`."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "tcplearn", "study", "experts", str(pipe), "-q"]
    # under nohup a hang-up is ignored, also by what is started
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    process = subprocess.Popen(words, stderr=subprocess.PIPE)
    signal.signal(signal.SIGHUP, before)
    try:
        with pipe.open("wb"):
            deadline = time.monotonic() + 30
            while not list(folder.glob("tcplearn-*")):
                assert process.poll() is None and time.monotonic() < deadline, "nothing is copied"
                time.sleep(0.01)
            # Python sees a signal that comes just before a read() when that returns, which here is never
            while "pipe_read" not in Path(f"/proc/{process.pid}/wchan").read_text():
                assert process.poll() is None and time.monotonic() < deadline, "the pipe is not read"
                time.sleep(0.01)
            yield process
    finally:
        process.kill()
        process.wait()
        pipe.unlink()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_after(number: signal.Signals, folder: Path) -> None:
    with copying(folder) as process:
        process.send_signal(number)
        assert process.wait(10) == 130
        assert process.stderr is not None and process.stderr.read() == b"tcplearn: stopped\n"
        assert list(folder.glob("tcplearn-*")) == []


def test_what_kill_9_leaves_goes_at_the_next_start(folder: Path) -> None:
    trace = folder / "trace.csv"
    trace.write_text("t_s,rtt_ms\n" + "".join(f"{k / 10},{50 + k % 7}\n" for k in range(50)))
    with copying(folder) as process:
        process.kill()
        process.wait()
        (left,) = folder.glob("tcplearn-*")
    with copying(folder) as another:  # what it uses stays
        assert not left.exists()
        words = [sys.executable, "-m", "tcplearn", "replay", str(trace), "-e", "last", "-q"]
        assert subprocess.run(words, capture_output=True, check=True).stdout
        assert len(list(folder.glob("tcplearn-*"))) == 1 and another.poll() is None


def test_a_process_without_a_terminal_goes_on_after_it_hangs_up() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
    try:
        with interrupts.as_on_interrupt():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_two_signals_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test a second signal that arrives before the first one is handled."""
    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    both = {signal.SIGHUP, signal.SIGTERM}
    before = {number: signal.signal(number, signal.SIG_DFL) for number in both}
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.as_on_interrupt():
            signal.pthread_sigmask(signal.SIG_BLOCK, both)
            for number in both:  # to this thread: another one may take a process's signal, and later
                signal.pthread_kill(threading.get_ident(), number)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
            time.sleep(5)
        assert not said
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("second", [signal.SIGHUP, signal.SIGTERM])
def test_a_terminal_and_its_shell_both_hang_up(second: signal.Signals) -> None:
    """Test two signals in sequence: a terminal and its shell both send SIGHUP, and a service manager may send
    SIGTERM and SIGHUP."""
    cleaned = False
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # where the tests run under nohup too
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.as_on_interrupt():
            try:
                os.kill(os.getpid(), signal.SIGHUP)
                time.sleep(5)
            finally:
                os.kill(os.getpid(), second)
                time.sleep(0.01)
                cleaned = True
        assert cleaned and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_of_the_lab_that_was_being_put_in_its_place(tmp_path: Path) -> None:
    left_by_a_killed_process(tmp_path, f".{NAME}")
    kept.Folders(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_results_on_their_way_to_standard_output_have_no_name(folder: Path) -> None:
    with files.Pending(None) as pending:
        pending.write("a row\n")
        assert list(folder.iterdir()) == []


def test_no_other_temporary_folders_are_made() -> None:
    """Test that only temporary.py makes temporary folders, because a signal would leave others behind."""
    sources = Path(tcplearn.__file__).parent.rglob("*.py")
    makers = re.compile(r"mkdtemp|TemporaryDirectory")
    assert [p.name for p in sources if makers.search(p.read_text())] == ["temporary.py"]
