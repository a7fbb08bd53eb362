# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Scores tools that find the causes of stalls (times in which a connection waits) in a capture.
python -m experiments.stalls.captures           scores `tcplearn explain` and tshark
python -m experiments.stalls.captures SAID.csv  scores another tool's stalls; README.md has the columns
python -m experiments.stalls.captures make      makes the captures from finished lab runs in the cache"""

from __future__ import annotations

import csv
import gzip
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from experiments.lib.pages import csv_rows
from experiments.stalls import score
from experiments.stalls.causes import FILE, conditions
from experiments.stalls.packets import begins_us
from experiments.stalls.score import CAPTURES, NONE
from experiments.stalls.truth import Stall, merged
from tcplearn.output.markdown import table_of

HERE = Path(__file__).parent
FOLDER = HERE / "captures"
#: The length of each capture in packets; true stalls must end `MARGIN_US` before the last packet.
MOST_PACKETS, MARGIN_US = 3000, 1_000_000
#: Groups of causes, for scoring tools that do not distinguish all causes.
GROUPS = {
    "handshake": ("syn_lost", "syn_ack_lost", "handshake_lost"),
    "lost, timer or probe": ("tail_timer", "tail_probe", "resend_lost", "path_silent"),
    "lost, fast retransmit": ("lost_fast",),
    "spurious": ("spurious",),
    "window closed": ("window_closed",),
    "host, ACK or path was late": ("server", "client", "delayed_ack", "slow_path", "unknown"),
    NONE: (NONE,),
}
GROUP_OF = {cause: group for group, causes in GROUPS.items() for cause in causes}
#: tshark's flags of a packet and the causes that they stand for; the first flag that is set counts.
_NOTES = {
    "tcp.analysis.spurious_retransmission": "spurious",
    "tcp.analysis.fast_retransmission": "lost_fast",
    "tcp.analysis.retransmission": "tail_timer",
    "tcp.analysis.zero_window": "window_closed",
    "tcp.analysis.window_update": "",
}
_FIELDS = ("ip.src", "tcp.srcport", "ip.dst", "tcp.dstport", "tcp.flags.syn", "tcp.analysis.rto", *_NOTES)
_PORT = "5002"

Said = Callable[[str, Path], list[Stall]]


def tshark(_: str, file: Path) -> list[Stall]:
    """Returns the stalls that follow from tshark's flags: each lasts from a segment to its retransmission, or
    as long as the window is closed."""
    shown = [word for field in ("frame.time_epoch", *_FIELDS) for word in ("-e", field)]
    command = ["tshark", "-r", str(file), "-Y", "tcp.analysis.flags", "-T", "fields", *shown]
    found: dict[tuple[str, str], list[Stall]] = {}
    closed: dict[str, int] = {}
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        time, source, sport, destination, dport, syn, after_s, *notes = line.split("\t")
        at_us = round(1e6 * float(time))
        by = "server" if sport == _PORT else "client"
        name = f"{destination}:{dport}" if by == "server" else f"{source}:{sport}"
        cause = next((c for c, note in zip(_NOTES.values(), notes, strict=True) if note), "")
        if cause == "window_closed":
            closed.setdefault(name, at_us)
        elif notes[-1] and name in closed:
            found.setdefault((name, "window"), []).append(
                Stall(name, "client", frozenset({"window_closed"}), closed.pop(name), at_us)
            )
        elif cause:
            cause = "handshake_lost" if syn in ("1", "True") else cause
            start_us = at_us - round(1e6 * float(after_s or 0))
            found.setdefault((name, by), []).append(Stall(name, by, frozenset({cause}), start_us, at_us))
    return [stall for own in found.values() for stall in merged(own)]


def from_table(file: Path) -> Said:
    rows = csv_rows(file)
    return lambda name, _: [_stall(row) for row in rows if row["capture"] == name]


def _stall(row: Mapping[str, str]) -> Stall:
    start_us = round(1e6 * float(row["start_s"]))
    end_us = start_us + round(1e3 * float(row["duration_ms"]))
    causes = frozenset(row["cause"].split("|"))
    traced = frozenset(row.get("traced", "").split())
    slack_us = round(1e3 * float(row.get("slack_ms") or 0))
    return Stall(row["connection"], row["by"], causes, start_us, end_us, traced=traced, slack_us=slack_us)


def scored(tools: Mapping[str, Said]) -> str:
    """Returns a table, by tool and capture point, of the shares of stalls for which the tool names the
    correct cause, or a cause of the correct group. `tools` has, for each tool, a function that returns the
    stalls that it finds in a capture."""
    rows = []
    for tool, said_of in tools.items():
        for place in CAPTURES:
            count = right = grouped = 0
            for v in _verdicts(said_of, place):
                count += 1
                right += v.true == v.said
                grouped += GROUP_OF[v.true] == GROUP_OF[v.said]
            shares = [f"{100 * n / count:.1f} %" if count else "-" for n in (right, grouped)]
            rows.append([tool, place, str(count), *shares])
    return table_of(["tool", "capture at the", "stalls and rows", "cause right", "group right"], rows)


def _verdicts(said_of: Said, place: str) -> Iterator[score.Verdict]:
    for file in sorted(FOLDER.glob("*.csv")):
        true = [_stall(row) for row in csv_rows(file)]
        until_us = max((s.end_us for s in true), default=0)
        name = f"{file.stem}-{place}"
        said = [s for s in said_of(name, FOLDER / f"{name}.pcap.gz") if s.start_us < until_us]
        yield from (v for v in score.verdicts(true, said, place) if v.counts)


def make() -> None:
    """Writes the captures and the true stalls of the benchmark from finished lab runs of all conditions."""
    from tcplearn.lab import kept, machine, run, scenario

    FOLDER.mkdir(exist_ok=True)
    folders = kept.Folders(machine.cache_folder() / "runs")
    for name in conditions(HERE):
        chosen = scenario.load(HERE / FILE, name)
        ready = machine.prepare(machine.cache_folder(), chosen.with_programs, chosen.kernel)
        folder = folders.get(run.job(chosen, 0, ready.fingerprint, run.Options()))
        if name == "smoke" or folder is None or chosen.transfer.talks is None:
            continue
        true = score.true_of(folder, chosen.transfer.bytes, chosen.transfer.talks.answer_bytes)
        until_us = min(_cut(score.capture_of(folder, p), FOLDER / f"{name}-{p}.pcap.gz") for p in CAPTURES)
        with (FOLDER / f"{name}.csv").open("w", newline="") as opened:
            writer = csv.writer(opened)
            writer.writerow(["connection", "by", "cause", "start_s", "duration_ms", "traced", "slack_ms"])
            for s in true:
                if s.end_us < until_us - MARGIN_US:
                    causes, traced = "|".join(sorted(s.causes)), " ".join(sorted(s.traced))
                    times = (f"{s.start_us / 1e6:.6f}", s.duration_us / 1e3)
                    writer.writerow([s.connection, s.by, causes, *times, traced, s.slack_us / 1e3])


def _cut(file: Path, target: Path) -> int:
    """Writes the first `MOST_PACKETS` packets of the capture `file` to `target`, compressed; returns the time
    of the last of them in us."""
    data, at, us = file.read_bytes(), 24, 0
    for _ in range(MOST_PACKETS):
        if at + 16 > len(data):
            break
        seconds, micros, size, _ = struct.unpack_from("<4I", data, at)
        us, at = seconds * 1_000_000 + micros, at + 16 + size
    target.write_bytes(gzip.compress(data[:at], 9, mtime=0))
    return us


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make"]:
            make()
        case [name]:
            print(scored({name: from_table(Path(name))}))
        case _:
            tools: dict[str, Said] = {
                "tcplearn explain": lambda _, file: score.said_of(file, begins_us(file))
            }
            print(scored({**tools, "tshark": tshark} if shutil.which("tshark") else tools))
