# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn watch` on an interface without other traffic, and `tcplearn replay` of pipes."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from samples import PEAK_MB, ROOT
from tcplearn.cli import main
from tcplearn.cli.common import Outputs
from tcplearn.cli.options import FormatName
from tcplearn.cli.refresh import on_terminal
from tcplearn.replay import replay

REPLAY, WATCH = ([sys.executable, "-m", "tcplearn", verb] for verb in ("replay", "watch"))
CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"
STATE = re.compile(r"(\d+) s, ([\d,]+) packets?(; no round trip yet)?; Ctrl-C ends and keeps the table")

#: Waits until this number of sockets capture packets.
CAPTURING = """
import sys, time
def bound():
    rows = [line.split() for line in open("/proc/net/packet").readlines()[1:]]
    return sum(row[4] != "0" and row[5] == "1" for row in rows)  # to an interface, and running
while bound() < int(sys.argv[2]):
    time.sleep(0.05)
time.sleep(0.5)  # from a socket that is bound to one that has its buffer
"""

#: A server and a client that exchange this number of requests and replies over lo.
TRAFFIC = f"""{CAPTURING}
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    peer, _ = server.accept()
    while peer.recv(4096):
        peer.sendall(b"r" * 3000)
threading.Thread(target=serve, daemon=True).start()
client = socket.create_connection(server.getsockname())
for _ in range(int(sys.argv[1])):
    client.sendall(b"q" * 100)
    left = 3000
    while left > 0:
        left -= len(client.recv(4096))
    time.sleep(0.003)
client.close()
time.sleep(0.5)
"""

#: Sends this number of frames of a capture over lo. With SO_TIMESTAMP (29) set on any socket, the kernel
#: stamps each of them once for all sockets that capture. (It stamps its own packets of TCP anew for each.)
RECORDED = f"""{CAPTURING}
import gzip, socket, struct
stamping = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stamping.setsockopt(socket.SOL_SOCKET, 29, 1)
time.sleep(0.5)  # the kernel begins to stamp
with gzip.open("{CAPTURE}") as capture, socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as lo:
    lo.bind(("lo", 0))
    capture.seek(24)
    for _ in range(int(sys.argv[1])):
        _, _, captured, _ = struct.unpack("<4I", capture.read(16))
        lo.send(capture.read(captured))
        time.sleep(0.001)
"""


@pytest.fixture(scope="module")
def alone() -> list[str]:
    """Return the first words of a command that runs in a network namespace of its own, with lo up."""
    within = [
        "unshare",
        "-n" if os.geteuid() == 0 else "-rn",
        "sh",
        "-c",
        'ip link set lo up && exec "$@"',
        "sh",
    ]
    raw = "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))"
    try:
        subprocess.run([*within, sys.executable, "-c", raw], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", b"") or str(error).encode()
        pytest.skip(f"no network namespace to capture in: {detail.decode().strip()[-80:]}")
    return within


def beside_traffic(requests: int, command: str) -> list[str]:
    """Return a command that runs the shell command `command` while a client sends `requests` requests."""
    script = f'"{sys.executable}" -c "$0" {requests} 1 & {command}; code=$?; wait; exit $code'
    return ["sh", "-c", script, TRAFFIC, *WATCH]


class Terminal:
    """Runs a program on a terminal of 100 columns and stores its output."""

    def __init__(self, command: list[str], stdin: int | None = None) -> None:
        leader, follower = pty.openpty()
        env = os.environ | {"COLUMNS": "100", "LINES": "60", "TERM": "xterm"}
        self.run = subprocess.Popen(command, stdin=stdin, stdout=follower, stderr=follower, env=env)
        os.close(follower)
        self.text = ""
        self._reader = threading.Thread(target=self._read, args=(leader,), daemon=True)
        self._reader.start()

    def _read(self, leader: int) -> None:
        with os.fdopen(leader, "rb", buffering=0) as file:
            while True:
                try:
                    self.text += file.read(65536).decode(errors="replace")
                except OSError:  # the other end is closed
                    return

    def wait_for(self, found: Callable[[str], object], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not found(self.text):
            assert time.monotonic() < end, self.text
            time.sleep(0.05)

    def result(self) -> str:
        """Wait until the program ends, and return what it printed after it last erased a line."""
        assert self.run.wait(60) == 0, self.text
        self._reader.join(10)
        return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", self.text.rpartition("\x1b[2K")[2])


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    made: list[Terminal] = []

    def make(*words: object, stdin: int | None = None) -> Terminal:
        made.append(Terminal([str(word) for word in words], stdin))
        return made[-1]

    yield make
    for each in made:
        each.run.kill()
        each.run.wait()


def test_an_interface_in_a_pipe_gives_the_final_result_only(alone: list[str]) -> None:
    command = beside_traffic(500, '"$@" lo --for 4s --sender both')
    run = subprocess.run([*alone, *command], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
    assert not STATE.search(run.stdout) and "\x1b" not in run.stdout
    assert run.stdout.count("estimator ") == 1 and "of samples" not in run.stdout


def test_an_interface_without_traffic_says_so(alone: list[str]) -> None:
    run = subprocess.run([*alone, *WATCH, "lo", "--for", "1s"], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (2, "tcplearn: lo: no packet came\n")


@pytest.mark.skipif(not shutil.which("dumpcap"), reason="dumpcap is not installed")
def test_an_interface_gives_what_its_capture_gives(alone: list[str], tmp_path: Path) -> None:
    """Test that `watch` of an interface gives what `replay` of a capture of the same packets gives."""
    capture, seen = tmp_path / "lo.pcapng", tmp_path / "live.json"
    words = "--sender both --every-ack --format json -q"
    # both are ended once the traffic is over and they have had time to read it
    script = f"""
dumpcap -q -i lo -w {capture} &
dumpcap=$!
"$@" lo {words} -o {seen} &
"{sys.executable}" -c "$0" 2000 2 && sleep 3
kill -TERM $dumpcap $! && wait $dumpcap && wait $!
"""
    command = [*alone, "sh", "-c", script, RECORDED, *WATCH]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    of_file = subprocess.run([*REPLAY, capture, *words.split()], capture_output=True, timeout=60, check=True)
    live, filed = json.loads(seen.read_text()), json.loads(of_file.stdout)
    assert max(row["samples"] for row in live) > 200
    assert live == [row | {"source": "lo"} for row in filed]


def connected_alone(pid: int) -> bool:
    """Return whether process `pid` is in another network namespace in which a connection is established."""
    theirs = Path(f"/proc/{pid}")
    if (theirs / "ns" / "net").readlink() == Path("/proc/self/ns/net").readlink():
        return False
    return any(line.split()[3] == "01" for line in (theirs / "net" / "tcp").read_text().splitlines()[1:])


def test_an_interface_on_a_terminal_refreshes_until_ctrl_c(
    alone: list[str], terminal: Callable[..., Terminal]
) -> None:
    traffic = subprocess.Popen([*alone, sys.executable, "-c", TRAFFIC, "10000", "0"])
    try:
        user = [] if os.geteuid() == 0 else ["-U", "--preserve-credentials"]
        inside = ["nsenter", *user, "-n", "-t", str(traffic.pid)]
        while not connected_alone(traffic.pid):
            assert traffic.poll() is None
            time.sleep(0.05)
        screen = terminal(*inside, *WATCH, "lo", "--sender", "both")
        screen.wait_for(lambda text: len(STATE.findall(text)) >= 4)
        states = STATE.findall(screen.text)
        packets = [int(count.replace(",", "")) for _, count, _ in states]
        assert packets == sorted(set(packets)) and packets[-1] > 100
        assert "in 1 flow" not in screen.text and screen.text.count("jacobson/rfc6298") >= 3
        screen.run.send_signal(signal.SIGINT)
        final = screen.result()
        assert not STATE.search(final) and final.count("estimator ") == 1 and "Next: " in final
    finally:
        traffic.kill()
        traffic.wait()


def test_a_pipe_on_a_terminal_refreshes(
    tmp_path: Path, unpacked: bytes, terminal: Callable[..., Terminal]
) -> None:
    reading, writing = os.pipe()
    screen = terminal(*REPLAY, "-", stdin=reading)
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        half = len(unpacked) // 2  # inside a packet
        pipe.write(unpacked[:half])
        screen.wait_for(lambda text: len(STATE.findall(text)) >= 2)
        assert screen.text.count("jacobson/rfc6298") >= 1
        pipe.write(unpacked[half:])
    final = screen.result()
    path = tmp_path / "stdin"
    path.write_bytes(unpacked)
    screen = terminal(*REPLAY, path)
    assert final == screen.result()


@pytest.mark.parametrize(
    ("format_", "output", "quiet", "grows"),
    [
        (FormatName.table, None, False, True),
        (FormatName.json, None, False, False),
        (FormatName.table, Path("rows.txt"), False, False),
        (FormatName.table, None, True, False),
    ],
)
def test_only_a_table_on_the_terminal_refreshes(
    format_: FormatName, output: Path | None, quiet: bool, grows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert on_terminal(Outputs(format_, output, quiet=quiet)) is grows


@pytest.fixture(scope="module")
def unpacked() -> bytes:
    import gzip

    return gzip.decompress(CAPTURE.read_bytes())


def test_looking_at_the_result_so_far_changes_nothing(tmp_path: Path, unpacked: bytes) -> None:
    fifo, path = tmp_path / "fifo", tmp_path / "file"
    os.mkfifo(fifo)
    path.write_bytes(unpacked)
    seen: list[tuple[int, int]] = []

    def look(trace: object, so_far: Callable[[], replay.Replay | None]) -> None:
        result = so_far()
        seen.append((trace.packets, result.totals[0].samples if result else 0))  # type: ignore[attr-defined]

    def write() -> None:
        with fifo.open("wb", buffering=0) as pipe:
            for at in range(0, len(unpacked), 1 << 20):
                pipe.write(unpacked[at : at + (1 << 20)])
                time.sleep(0.3)  # so that it is looked at in between

    threading.Thread(target=write, daemon=True).start()
    live = replay.run([fifo], replay.Options(), None, look)
    filed = replay.run([path], replay.Options())
    assert len(seen) > 1 and seen == sorted(seen)
    assert [row.values for row in live.rows] == [row.values for row in filed.rows]
    assert [row.values for row in live.totals] == [row.values for row in filed.totals]
    assert [note.partition(": ")[2] for note in live.notes] == [n.partition(": ")[2] for n in filed.notes]


def test_a_time_ends_a_pipe_that_goes_on(unpacked: bytes) -> None:
    run = subprocess.Popen(
        [*REPLAY, "-", "--for", "1s", "--format", "json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert run.stdin and run.stdout
    run.stdin.write(unpacked)
    run.stdin.flush()
    assert run.wait(60) == 0  # stdin is open
    assert json.loads(run.stdout.read())


LONG = (
    PEAK_MB
    + """
import sys
sys.path.append(sys.argv[2])
from pathlib import Path
from wire import Wire
from tcplearn.replay import replay
import os, threading
reading, writing = os.pipe()
def write():
    with os.fdopen(writing, "wb") as pipe:
        for part in range(int(sys.argv[1])):
            wire = Wire()
            wire.start_us += part * 10_000_000
            for i in range(2000):
                n = part * 2000 + i
                wire.send(i * 5000, wire.client, 1 + n * 100, 100, ack=1, snap=60)
                wire.send(i * 5000 + 3000, wire.server, 1, ack=1 + (n + 1) * 100)
            data = wire.pcap()
            pipe.write(data[24 * (part > 0) :])
threading.Thread(target=write, daemon=True).start()
def look(trace, so_far):
    so_far()
result = replay.run([Path(f"/proc/self/fd/{reading}")], replay.Options(sender="both"), None, look)
print(result.totals[0].samples, peak_mb())
"""
)


def test_memory_of_a_long_stream_is_bounded() -> None:
    where = str(Path(__file__).parents[1] / "traces")
    peaks = []
    for parts in (5, 40):
        run = subprocess.run(
            [sys.executable, "-c", LONG, str(parts), where], capture_output=True, text=True, check=True
        )
        samples, peak = map(int, run.stdout.split())
        assert samples == parts * 2000
        peaks.append(peak)
    assert peaks[1] < 1.3 * peaks[0], peaks


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["replay", CAPTURE, "--for", "3s"],
            "--for: no pipe is read; leave it out, or see `tcplearn watch --help`",
        ),
        (["watch", "lo", "--for", "soon"], "--for soon: not a time; give it as 30s, 5m or 1h"),
        (["watch", "lo", "--for", "0s"], "--for 0s: not a time; give it as 30s, 5m or 1h"),
        (
            ["watch", "lo", "x.pcap"],
            "got unexpected extra argument(s) (x.pcap); see `tcplearn watch --help`",
        ),
        (["watch", "lo", "--unit", "ms"], "no such option: --unit"),
        (["watch"], "missing argument 'IFACE'; see `tcplearn watch --help`"),
    ],
)
def test_what_cannot_be(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*map(str, words)]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1) and error.startswith(f"tcplearn: {problem}")


def test_interfaces_that_cannot_be_read(alone: list[str]) -> None:
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    root = "capturing needs root or CAP_NET_RAW; run it with sudo, or send `sudo tcpdump -U -w - -i"
    for beginning, interface, problem in (
        ([], "none0", "none0: no such interface; `ip link` lists them, `any` is all of them"),
        (bare, "lo", f"lo: {root} lo` into the same command with - in place of -i"),
    ):
        command = [*alone, *beginning, *WATCH, interface, "--for", "1s"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stdout, run.stderr) == (2, "", f"tcplearn: {problem}\n")
