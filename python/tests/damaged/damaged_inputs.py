#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Damages every kind of file that tcplearn reads, and the values of its options, and runs the command on
them:

    python damaged_inputs.py [--count N] [--seed N] [--keep DIR]     damaged inputs, drawn by the seed
    python damaged_inputs.py --captures DIR                          every file of a folder, as it is

A run is accepted if it ends with exit code 0, or with 2, one line that says what to do and no file of
results, within a minute and 600 MB. The program prints each run that is not accepted, and how many runs
ended in which way. With --keep DIR the inputs that were not accepted are stored."""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MOST_S, MOST_KB = 60, 600_000
FILE, OUT = "FILE", "OUT"  # in the words of a command: the damaged file, and where results go
NUMBERS = ("-1", "0", "nan", "inf", "1e400", "9" * 30, "0.5", "1e-30", "", "x", "[]", "{}", "true", "1_0")
LINES_OF_WARNINGS = "warning: "


@dataclass(frozen=True)
class Case:
    name: str
    words: tuple[str, ...]
    data: bytes
    suffix: str = ""


def captures() -> Iterator[Case]:
    sys.path[:0] = [str(ROOT / "python" / "tests"), str(ROOT / "python" / "tests" / "traces")]
    import make_captures

    given = {name: make() for name, make in make_captures.GIVEN.items()}
    for file in sorted((ROOT / "experiments" / "stalls" / "captures").glob("*.pcap.gz"))[:3]:
        given[file.name.removesuffix(".gz")] = gzip.decompress(file.read_bytes())[:300_000]
    for name, data in given.items():
        for words in (("explain", FILE, "-o", OUT, "--format", "json"), ("replay", FILE), ("causes", FILE)):
            yield Case(name, words, data, Path(name).suffix)


def texts() -> Iterator[Case]:
    import fuzz_text

    for kind, seeds in fuzz_text.seeds().items():
        for data in seeds if kind != "any" else ():
            yield Case(kind, ("replay", FILE, "-o", OUT, "--format", "csv"), data)
            yield Case(kind, ("resend", FILE, "--requests", "1000", "--losses", "iid1"), data)


def settings() -> Iterator[Case]:
    """Yield cases for scenarios, paths, models and results."""
    for file in sorted((ROOT / "linux" / "lab" / "scenarios").glob("*.toml")):
        yield Case(file.name, ("lab", "script", FILE), _beside(file), ".toml")
    for file in sorted((ROOT / "experiments").glob("*/*.toml")):
        yield Case(file.name, ("simulate", FILE, "--plan"), _beside(file), ".toml")
    for file in sorted((ROOT / "core" / "models").glob("rtt_*.json")):
        yield Case(file.name, ("first-rto", "load", FILE, "--cgroup", "/nowhere"), file.read_bytes(), ".json")
    capture = str(ROOT / "examples" / "captures" / "access-link.pcap.gz")
    for spec in ("jacobson:alpha=0.1", "tracking:share=past", "conformal:miss=0.01", "experts/fitted:n=5"):
        yield Case(spec, ("replay", capture, "-e", FILE), spec.encode(), "spec")
    table = b"host,time_us,rtt_us,ttl,hops\n" + b"".join(b"h%d,%d,900,60,4\n" % (i, i) for i in range(40))
    yield Case("table of hosts", ("train", "rtt", FILE, "-o", OUT), table, ".csv")


def _beside(file: Path) -> bytes:
    """Return the text of `file` with the absolute paths of other files in place of relative ones."""
    text = file.read_text()
    for key in ("extends", "path"):
        head = f'{key} = "'
        for at in [i for i in range(len(text)) if text.startswith(head, i)]:
            name = text[at + len(head) :].split('"')[0]
            if (file.parent / name).is_file():
                text = text.replace(f'{head}{name}"', f'{head}{(file.parent / name).resolve()}"')
    return text.encode()


def damaged(data: bytes, draw: random.Random, is_text: bool) -> bytes:
    """Return `data` with one to four changes: of bits, bytes or lengths, or by removing, repeating or moving
    a piece, or by cutting off the end."""
    out = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(out) + 1)
        size = draw.choice((1, 1, 2, 4, 16, 200))
        kind = draw.randrange(8)
        if kind == 0 and out:
            out[at % len(out)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            out[at : at + size] = draw.randbytes(size)
        elif kind == 2:
            out[at : at + size] = draw.choice((b"\0", b"\xff")) * size
        elif kind == 3:
            del out[at : at + size]
        elif kind == 4:
            out[at:at] = out[at : at + size] * draw.choice((1, 2, 50))
        elif kind == 5:
            other = draw.randrange(len(out) + 1)
            out[at : at + size] = out[other : other + size]
        elif kind == 6 and draw.random() < 0.3:
            del out[at:]
        elif is_text:
            _number(out, draw)
    return bytes(out)


def _number(out: bytearray, draw: random.Random) -> None:
    """Replace one number in `out` by another value."""
    digits = [out[i : i + 1].isdigit() for i in range(len(out))]
    starts = [i for i, one in enumerate(digits) if one and not (i and digits[i - 1])]
    if starts:
        at = draw.choice(starts)
        end = at
        while out[end : end + 1].isdigit() or out[end : end + 1] == b".":
            end += 1
        out[at:end] = draw.choice(NUMBERS).encode()


def fault(case: Case, folder: Path) -> tuple[str, str]:
    """Run the case; return the reason why the result is not accepted ("" if it is), and how the run ended."""
    file, out = folder / f"input{case.suffix}", folder / "out"
    if case.suffix == "spec":
        given = case.data.decode(errors="replace").replace("\0", "")
    else:
        file.write_bytes(case.data)
        given = str(file)
    words = [{FILE: given, OUT: str(out)}.get(word, word) for word in case.words]
    errors = folder / "errors"
    with errors.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "tcplearn", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=sink,
            cwd=folder,
            env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")},
            preexec_fn=lambda: signal.alarm(MOST_S) and None,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    said = [line for line in errors.read_text(errors="replace").splitlines() if line.strip()]
    return judged(code, said, used.ru_maxrss, out), f"exit {code}"


def judged(code: int, said: list[str], kb: int, out: Path) -> str:
    """Return the reason why a run with these results is not accepted, or "" if it is accepted."""
    text = " | ".join(said)[-600:]
    if code < 0:
        return f"ended by signal {-code}: {text}"
    if code not in (0, 2) or "Traceback" in text:
        return f"exit code {code}: {text}"
    if kb > MOST_KB:
        return f"{kb / 1000:.0f} MB"
    if code == 0:
        return ""
    errors = [line for line in said if LINES_OF_WARNINGS not in line]
    if len(errors) != 1:
        return f"{len(errors)} lines: {text}"
    return "it left a file" if out.exists() else ""


def drawn(count: int, seed: int) -> Iterator[Case]:
    draw = random.Random(f"hostile/{seed}")
    groups = [[*captures()], [*texts()], [*settings()]]
    for number in range(count):
        case = draw.choice(groups[number % len(groups)])
        is_text = number % len(groups) > 0
        yield Case(case.name, case.words, damaged(case.data, draw, is_text), case.suffix)


def whole(folder: Path) -> Iterator[Case]:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            for verb in ("explain", "replay"):
                yield Case(str(file), (verb, FILE), file.read_bytes(), "".join(file.suffixes[-1:]))


def run(cases: Iterator[Case], keep: Path | None = None) -> tuple[Counter[str], list[str]]:
    """Run all cases; return the number of runs by how they ended, and the runs that are not accepted."""

    def one(case: Case) -> tuple[Case, str, str]:
        with tempfile.TemporaryDirectory() as folder:
            return case, *fault(case, Path(folder))

    ends: Counter[str] = Counter()
    faults = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, wrong, end in pool.map(one, cases):
            ends[end] += 1
            if wrong:
                faults.append(f"{' '.join(case.words)} on {case.name}: {wrong}")
                if keep:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{len(faults)}{case.suffix}").write_bytes(case.data)
            if sum(ends.values()) % 100 == 0:
                print(f"{sum(ends.values())} runs, {len(faults)} not accepted", file=sys.stderr, flush=True)
    return ends, faults


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=2000)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--keep", type=Path)
    ask.add_argument("--captures", type=Path)
    asked = ask.parse_args()
    if asked.keep:
        shutil.rmtree(asked.keep, ignore_errors=True)
    cases = whole(asked.captures) if asked.captures else drawn(asked.count, asked.seed)
    ends, faults = run(cases, asked.keep)
    print(*faults, sep="\n")
    print(", ".join(f"{end}: {count}" for end, count in sorted(ends.items())))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
