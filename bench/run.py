# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures the time and memory of tcplearn and other programs (`make bench`), and writes out/bench.json.
python bench/run.py             takes a quarter of an hour; nothing else should run on the machine
python bench/run.py --small     checks in seconds, on tiny inputs, that everything works; its measurements, in
                                out/bench-small.json, mean nothing"""

import json
import math
import os
import platform
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measured import best, run

from tcplearn import _native, algorithms, provenance

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "bench"

#: A program that counts a capture's RTT samples. Like tcplearn's command line, it gives NumPy one thread.
EXTRACT = """
import os, sys
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from tcplearn.traces import open_trace
trace = open_trace(sys.argv[1])
print(sum(int((b["rtt_us"] >= 0).sum()) for b in trace.batches()))
"""

#: A program that finds requests and stalls as `tcplearn explain` does, but makes no forecasts.
CAUSES = """
import sys
from pathlib import Path
from tcplearn.explain import read
print(read.capture(Path(sys.argv[1]), policies=()).tables["stalls"].height)
"""


@dataclass(frozen=True)
class Sizes:
    packets: int = 1_000_000
    flows: tuple[int, int] = (20_000, 200_000)
    times: int = 3
    core_s: float = 0.2  # how long each benchmark of an estimator's update in C runs
    numpy_s: float = 1.0


SMALL = Sizes(packets=5_000, flows=(50, 100), times=1, core_s=1e-6, numpy_s=0.01)


#: The largest peak memory allowed for a capture of many short connections, in MB.
MOST_SHORT = {"explain": 300.0}
#: Limits for one capture: time as a multiple of `tcpdump -r FILE -w /dev/null`, and peak memory in MB.
MOST = {
    "extraction": (2.5, None),
    "whole default replay": (10.0, 80.0),
    "explain, causes alone": (12.0, 150.0),
    "explain": (25.0, 150.0),
}


def captures(sizes: Sizes) -> dict[str, object]:
    """Measure, print and return how long tcplearn and other programs take to read one large capture."""
    packets = sizes.packets
    path = made("make_capture", f"bulk-{packets}.pcap", "--packets", packets)
    file, ours = str(path), [sys.executable, "-m", "tcplearn"]
    fields = ["-e", "tcp.stream", "-e", "tcp.analysis.ack_rtt"]
    commands = {
        "tcpdump -r FILE -w /dev/null": ["tcpdump", "-r", file, "-w", "/dev/null"],
        "tcptrace": ["tcptrace", file],
        "tcptrace -l": ["tcptrace", "-l", file],
        "extraction": [sys.executable, "-c", EXTRACT, file],
        "whole default replay": [*ours, "replay", file, "--format", "json", "--quiet"],
        "explain, causes alone": [sys.executable, "-c", CAUSES, file],
        "explain": [*ours, "explain", file, "--quiet"],
        "tshark -q -z expert": ["tshark", "-r", file, "-q", "-z", "expert"],
        "tshark -T fields": ["tshark", "-r", file, "-T", "fields", *fields],
    }
    measured = {
        name: run(command) if name.startswith("tshark") else best(command, sizes.times)
        for name, command in commands.items()
    }
    theirs = sum(1 for line in measured["tshark -T fields"].output.splitlines() if not line.endswith("\t"))
    samples = int(measured["extraction"].output)
    size_mb = path.stat().st_size / 1e6
    print(f"\n{packets:,} packets, {size_mb:.0f} MB; samples: tshark {theirs:,}, ours {samples:,}")
    print(f"{'':32}{'wall s':>8}{'cpu s':>8}{'MB':>8}{'of tcpdump':>14}{'of tcptrace':>14}  criterion")
    tcpdump, tcptrace = measured["tcpdump -r FILE -w /dev/null"], measured["tcptrace"]
    rows = {}
    for name, m in measured.items():
        of = {"tcpdump": m.wall_s / tcpdump.wall_s, "tcptrace": m.wall_s / tcptrace.wall_s}
        times, most_mb = MOST.get(name, (None, None))
        criterion = f"at most {times:g} x tcpdump" if times else ""
        criterion += f", {most_mb:g} MB" if most_mb else ""
        print(
            f"{name:32}{m.wall_s:8.2f}{m.cpu_s:8.2f}{m.peak_mb:8.0f}{of['tcpdump']:12.1f} x"
            f"{of['tcptrace']:12.1f} x  {criterion}"
        )
        rows[name] = {"wall_s": m.wall_s, "cpu_s": m.cpu_s, "peak_mb": m.peak_mb, "over": of}
    return {"packets": packets, "samples_tshark": theirs, "samples": samples, "runs": rows}


def short_flows(sizes: Sizes) -> dict[str, object]:
    """Measure, print and return the peak memory in MB of `tcplearn replay` and `tcplearn explain`, for
    captures of few and of many short flows."""
    peaks: dict[str, dict[int, float]] = {}
    heads = (f"{flows:,} MB" for flows in sizes.flows)
    print(f"\n{'short flows':32}" + "".join(f"{head:>12}" for head in heads) + f"{'wall s':>16}")
    for output in ("table", "json", "report", "explain"):
        out = BUILD / ("short.html" if output == "report" else f"short.{output}")
        verb, written = ("explain", "json") if output == "explain" else ("replay", output)
        more = ["--report", str(out)] if output == "report" else ["--format", written, "-o", str(out)]
        wall_s = []
        for flows in sizes.flows:
            path = made("make_short_flows", f"short-{flows}.pcap", "--flows", flows)
            m = run([sys.executable, "-m", "tcplearn", verb, str(path), "--quiet", *more])
            out.unlink()
            peaks.setdefault(output, {})[flows] = m.peak_mb
            wall_s.append(m.wall_s)
        few, many = peaks[output].values()
        print(
            f"{output:32}{few:12.0f}{many:12.0f}{wall_s[0]:8.1f}{wall_s[1]:8.1f}  {many / few:.2f} x"
            + (f"  at most {MOST_SHORT[output]:g} MB" if output in MOST_SHORT else "")
        )
    return {"peak_mb": peaks}


def made(script: str, name: str, option: str, size: int) -> Path:
    """Return the path of the capture `name`. If it does not exist, bench/`script`.py makes it; this script is
    called with the option `option` and its value `size`."""
    path = BUILD / name
    if not path.exists():
        partial = path.with_suffix(".partial")
        maker = [sys.executable, str(ROOT / "bench" / f"{script}.py"), str(partial), option, str(size)]
        subprocess.run(maker, check=True, stdout=subprocess.DEVNULL)
        partial.replace(path)
    return path


def numpy_update_ns(seconds: float) -> float:
    """Time Algorithm 1 of Nunes et al. 2014 (100 experts) in NumPy for `seconds`; return ns per update."""
    n, eta, alpha = 100, 2.0, 0.08
    x = 1 + 128 * 2 ** ((np.arange(1, n + 1) - n) / 4)
    w = np.full(n, 1 / n)
    rtts = np.random.default_rng(1).lognormal(math.log(0.1), 0.2, 4096)
    prediction, updates = 0.0, 0
    start = time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        for y in rtts[:512]:
            prediction = float(w @ x / w.sum())
            loss = np.where(x >= y, (x - y) ** 2, 2 * y)
            w = w * np.exp(-eta * loss)
            w = (1 - alpha) * w + alpha * w.sum() / n
            w /= w.sum()
            updates += 1
    assert prediction > 0
    return spent / updates * 1e9


def core(sizes: Sizes) -> dict[str, object]:
    """Measure, print and return the CPU ns of an update of each estimator in C, and of `experts` in NumPy."""
    configure = ["-S", ROOT / "bench", "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    for words in (configure, ["--build", BUILD]):
        subprocess.run(["cmake", *words], check=True, stdout=subprocess.DEVNULL)
    flags = ["--benchmark_format=json", f"--benchmark_min_time={sizes.core_s:f}"]
    flags.append(f"--benchmark_repetitions={sizes.times}")
    done = subprocess.run([str(BUILD / "core_bench"), *flags], check=True, capture_output=True, text=True)
    times: dict[str, float] = {}
    for b in json.loads(done.stdout)["benchmarks"]:
        if b["run_type"] == "iteration":
            times[b["run_name"]] = min(times.get(b["run_name"], math.inf), b["cpu_time"])
    times["numpy loop"] = numpy_update_ns(sizes.numpy_s)
    base = times["double/experts"]
    print(f"\n{'update of':40}{'ns':>8}{'of double/experts':>20}")
    for name, ns in times.items():
        print(f"{name:40}{ns:8.1f}{ns / base:19.2f}x")
    return {"cpu_ns": times}


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    sizes = SMALL if small else Sizes()
    BUILD.mkdir(parents=True, exist_ok=True)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # modules stay compiled between runs, as for a user
    estimators = algorithms.by_name(algorithms.ESTIMATOR)
    result = {
        **provenance.made_by(machine=platform.machine(), python=platform.python_version()),
        "core": core(sizes),
        "capture": captures(sizes),
        "short_flows": short_flows(sizes),
        "state_bytes_fixed": {name: _native.Estimator(name, "fixed").state_bytes for name in estimators},
    }
    out = ROOT / "out" / ("bench-small.json" if small else "bench.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nwritten: {out}")


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    main()
