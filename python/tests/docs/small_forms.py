# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is run of a command that a page shows: of one that no row is of, the command as it is printed."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """`shown` is a regular expression of the whole command; `runs` are run in its place by `make test`, and
    `full` by `make test-full` too. `\\1` is the first group of the expression, TMP a folder of the test; what
    inputs.py can make is made where a command names it. Steps are parted by &&."""

    shown: str
    why: str
    runs: tuple[str, ...] = ()
    full: tuple[str, ...] = ()


_SMOKE = "papers/nunes2014/scenario-5.toml --profile smoke --out TMP/runs"
_LIVE = "papers/nunes2014/live-1.toml"
_NAME = "a name stands for the reader's own"
_CORE = "cmake -S core -B build/core -G Ninja >/dev/null && ctest --test-dir build/core -N"
_NS3 = "cmake -S ns3 -B build/ns3 -G Ninja >/dev/null"


def _traffic(command: str) -> str:
    """The command on a network of its own, with requests over lo that begin when it listens."""
    with_traffic = f"ip link set lo up; python3 traffic.py 2 1 & {command}; code=$?; wait; exit $code"
    return f"unshare -n sh -c '{with_traffic}'"


def _smaller(script: str, arguments: str = "", **constants: str) -> str:
    """A script of bench/ with other constants than its own."""
    code = f"import sys; sys.path.insert(0, 'bench'); sys.argv = '{script} {arguments}'.split(); "
    code += f"from pathlib import Path; import {script} as m; "
    code += "; ".join(f"m.{name} = {value}" for name, value in constants.items())
    return f'python -c "{code}; m.main({"sys.argv[1:]" if script == "resend_beginnings" else ""})"'


REPLAY = (
    Form(r"tcplearn replay -", "what tcpdump would write", ("tcplearn replay - < capture.pcap",)),
    Form(
        r"tcplearn replay --live eth0((?: --for 5m)?)((?: --report \S+)?)",
        "an interface of its own, with traffic, for seconds; Ctrl-C would end it",
        (_traffic(r"tcplearn replay --live lo --for 3s --sender both\2"),),
    ),
    Form(r"tcplearn replay -e median", _NAME, ("tcplearn replay rtts.csv -e last",)),
    Form(r"tcplearn replay CAPTURE (.*)", _NAME, (r"tcplearn replay capture.pcap \1",)),
    Form(r"tcplearn replay FILE (.*) -e", f"{_NAME}; one more -e follows", (r"tcplearn replay rtts.csv \1",)),
    Form(
        r"tcplearn replay --resend (?:\S*\.csv|FILE|my\.pcap)(.*)",
        "fewer requests",
        (r"tcplearn replay --resend rtts.csv --requests 1000\1",),
        ("tcplearn replay --resend capture.pcap --requests 1000",),
    ),
    Form(
        r"tcplearn replay --suite \S+(.*)",
        "a folder of two short lists of RTTs",
        (r"tcplearn replay --suite lists/ --jobs 1 --min-samples 300\1",),
    ),
    Form(
        r"tcplearn study experts \S+ (--preset .*)",
        "one triple, not all",
        (r"tcplearn study experts rtts.csv --n 10 --eta 2 --alpha 0.08 --jobs 1 \1",),
    ),
    Form(
        r"tcplearn study experts \S+ --n 50,100 --eta 1,2,4 (.*)",
        "fewer triples of fewer experts",
        (r"tcplearn study experts rtts.csv --n 5,10 --eta 1,2 --jobs 1 \1",),
    ),
)

SIMULATIONS = (
    Form(
        r"tcplearn simulate SCENARIO (.*) -o \S+",
        _NAME,
        (rf"tcplearn simulate {_SMOKE} -j 1 \1 -o TMP/rows",),
    ),
    Form(
        r"tcplearn simulate (\S+ --profile \S+) --losses \S+",
        "files and profile are read; one small network's losses are written",
        (
            r"python python/tests/docs/read_scenarios.py \1",
            "tcplearn simulate papers/hwang2018/wide.toml --profile smoke --out TMP/runs -j 1 "
            "--losses TMP/losses.parquet",
        ),
    ),
    Form(
        r"tcplearn simulate (\S+) --profile smoke",
        "read; a smoke run of one scenario stands for all, but in full",
        (
            r"python python/tests/docs/read_scenarios.py \1 --profile smoke",
            f"tcplearn simulate {_SMOKE} -j 1",
        ),
        (r"tcplearn simulate \1 --profile smoke --out TMP/runs",),
    ),
    Form(
        r"tcplearn simulate ((?!-)\S+(?: (?!-)\S+)*)((?: --profile \S+)?)(?: --out DIR)?((?: .*)?)",
        "files and profile are read; a smoke run has the other options",
        (r"python python/tests/docs/read_scenarios.py \1\2", rf"tcplearn simulate {_SMOKE} -j 1\3"),
    ),
    Form(
        r"tcplearn papers baddam2018((?: --profile kept)?)(?: --only \S+)?(?: -o \S+)?",
        "the page without runs; in full those of the simulation too, small",
        (r"tcplearn papers baddam2018 --only regression\1 -o TMP/page",),
        ("tcplearn simulate papers/baddam2018/simulated.toml --profile smoke --out TMP/runs",),
    ),
    Form(
        r"tcplearn papers (?:PAPER|(?!baddam)\w+)(?: --only (?:simulated|rounded))?(?: -o \S+)?",
        "of a paper with a profile that runs in seconds, its simulated page",
        (),
        (
            "tcplearn simulate papers/tambuwal2018/{levels,mixes}.toml --profile smoke --out TMP/runs && "
            "tcplearn papers tambuwal2018 --only simulated --profile smoke --out TMP/runs -o TMP/page",
        ),
    ),
)

LAB = (
    Form(
        r"tcplearn lab run (\S+) --profile smoke",
        "the guest's commands are made; in full the machine runs them",
        (r"tcplearn lab script \1 --profile smoke",),
        (r"tcplearn lab run \1 --profile smoke --out TMP/runs",),
    ),
    Form(
        r"tcplearn lab run (\S+?)((?: --profile \S+)?)((?: --pcap| --format \S+)*)(?: --out \S+)?",
        "the guest's commands are made; in full a smoke run has the other options",
        (r"tcplearn lab script \1\2",),
        (rf"tcplearn lab run {_LIVE} --profile smoke --out TMP/runs\3",),
    ),
    Form(r"tcplearn lab script FILE", _NAME, (f"tcplearn lab script {_LIVE}",)),
    Form(r"tcplearn lab check NAME (--kernel \S+)", _NAME, (), (r"tcplearn lab check vectors \1",)),
    Form(
        r"tcplearn lab check smp --kernel NAME --seconds 1800",
        f"{_NAME}; ten seconds",
        (),
        ("tcplearn lab check smp --kernel 6.1 --seconds 10",),
    ),
    Form(r"(tcplearn lab check \w+)", "half a minute and more", (), (r"\1",)),
    Form(
        r"sysctl net\.tcplearn\.(\w+)=\S+(?: .*)?",
        "with every other of these in a scenario, whose guest sets them",
        (r"tcplearn lab script settings-\1.toml",),
        (r"tcplearn lab run settings-\1.toml --out TMP/runs",),
    ),
)

TRAINING = (
    Form(
        r"tcplearn train loss \S+ -o \S+(.*)",
        "made-up losses of few scenarios, the least network",
        ("tcplearn train loss losses.parquet -o TMP/model --hidden 2 --epochs 1 --folds 2 --most 20",),
        (r"tcplearn train loss losses.parquet -o TMP/model\1 --hidden 2 --epochs 1 --folds 2 --times 2",),
    ),
    Form(
        r"tcplearn train rtt (.*) -o \S+(.*)",
        "few made-up hosts where none are shipped, two folds; beside the shipped models, not over them",
        (r"tcplearn train rtt \1 -o TMP/models\2 --folds 2",),
    ),
    Form(
        r"tcplearn collect hosts\.txt .* -o \S+",
        "this machine, which refuses at once",
        (
            "tcplearn collect hosts.txt '[::1]:9' -o TMP/hosts.parquet --interval 0.02 --timeout 0.1 "
            "--count 2",
        ),
    ),
    Form(r"(tcplearn collect --import .*) -o (\S+)", "not into the tree", (r"\1 -o TMP/\2",)),
    Form(
        r"tcplearn first-rto (?:load \S+|unload)",
        "of a cgroup without processes",
        (),
        (
            "g=$(mktemp -d -p $(grep -m1 -o '\\S*cgroup\\S* cgroup2' /proc/mounts | cut -d' ' -f1)); "
            "unshare -m sh -ec 'mount -t bpf bpf /sys/fs/bpf; "
            'tcplearn first-rto load core/models/rtt_emulated.json --cgroup "$0"; '
            "tcplearn first-rto status; tcplearn first-rto unload' $g; code=$?; rmdir $g; exit $code",
        ),
    ),
    Form(
        r"PYTHONPATH=python/tests python python/tests/collect/first_rto_trial\.py",
        "some minutes",
        (),
        ("PYTHONPATH=python/tests python python/tests/collect/first_rto_trial.py",),
    ),
)

BENCH = (
    Form(
        r"python bench/ablation\.py \S+",
        "the tables of a short list",
        ("python bench/ablation.py rtts.csv",),
    ),
    Form(
        r"python bench/ablation\.py",
        "fewer and shorter series, and not into the tree",
        (),
        (
            "mkdir -p TMP/docs && "
            + _smaller("ablation", ROOT="Path('TMP')", SEEDS="range(1)", FLIGHT_ROWS="2000", STEPS="2"),
        ),
    ),
    Form(
        r"python bench/guard_price\.py(?: --out DIR)?",
        "of two seeds and few paths",
        ("python bench/guard_price.py --help",),
        (
            "tcplearn simulate scenarios/ns3/scenarios/thin.toml --profile no-guard --out TMP/runs -q && "
            + _smaller("guard_price", "--out TMP/runs", SCENARIO="Path('scenarios/ns3/scenarios/thin.toml')"),
        ),
    ),
    Form(
        r"python bench/latency_simulated\.py(?: --out DIR)?((?: --write)?)",
        "of two seeds and few paths",
        ("python bench/latency_simulated.py --help",),
        (
            "tcplearn simulate scenarios/ns3/scenarios/{thin,overload}.toml --profile full --out TMP/runs -q "
            "&& "
            + _smaller(
                "latency_simulated",
                r"--out TMP/runs\1",
                ROOT="Path('scenarios')",
                PAGE="Path('scenarios/docs/latency-simulated.md')",
            ),
        ),
    ),
    Form(
        r"python bench/interval_coverage\.py",
        "few short series",
        (
            _smaller(
                "interval_coverage", LENGTHS="(30, 100)", SERIES="2", SERIES_LONG="2", TRUTH_SAMPLES="1000"
            ),
        ),
    ),
    Form(
        r"python bench/resend_beginnings\.py RTT\.csv\S*",
        "one connection, one process of losses",
        (_smaller("resend_beginnings", "rtts.csv", CONNECTIONS="1", PROCESSES="('iid1',)"),),
    ),
    Form(
        r"python bench/profile_time\.py \S+ (?:--profile \S+ )?--runs \d+",
        "of a profile of seconds",
        (f"python3 bench/profile_time.py {_SMOKE} --runs 2",),
    ),
    Form(
        r"python bench/latency\.py((?: --write)?)",
        "a minute; into a copy",
        (),
        (r"cp -rL bench docs linux papers TMP && python TMP/bench/latency.py\1",),
    ),
    Form(
        r"python bench/latency_runs\.py(?: --jobs N --first N)?",
        "the first run of a path and two profiles: it is kept",
        ("python bench/latency_runs.py thin-wired/full thin-wired/bulk --jobs 1 --first 1",),
    ),
    Form(
        r"python bench/run\.py(?: --small)?",
        "a quarter of an hour; test_bench.py runs it small",
        ("make -n bench 'BENCH= --small'",),
    ),
    Form(
        r"build/bench/core_bench (--benchmark_filter=\w+)",
        "`make bench` builds it and runs it whole; one repetition",
        (),
        (r"python bench/run.py --small && build/bench/core_bench \1 --benchmark_min_time=0.000001",),
    ),
)

VECTORS = (
    Form(
        r"python3 vectors/gen/generate\.py(?: median)?((?: --check)?)",
        "one estimator that there is, in a copy",
        (r"cp -rL vectors core TMP && python3 TMP/vectors/gen/generate.py\1 last",),
        (r"cp -rL vectors core TMP && python3 TMP/vectors/gen/generate.py\1",),
    ),
    Form(
        r"python3 vectors/gen/(generate_(?:loss|resend|startup)\.py)",
        "in a copy",
        (),
        (r"cp -rL vectors core TMP && python3 TMP/vectors/gen/\1",),
    ),
    Form(r"python -m (tcplearn\.learn\.export) --write", "compared, not written", (r"python -m \1 --check",)),
    Form(r"python -m (tcplearn\.metrics_page) --write", "printed, not written", (r"python -m \1",)),
)

BUILDS = (
    Form(
        r"make (test|test-full|dev|install|lint|fmt|man|ns3|ns3-test|bench|demo|\.venv/bin/tcplearn)",
        "it is what runs this test or stands before it, or changes the tree: what it would do",
        (r"make -n \1",),
    ),
    Form(
        r"make (docs/images/timers\.svg)",
        "its recipe, with a folder of its own",
        (
            r"make -n \1 >/dev/null",
            "tcplearn replay examples/captures/access-link.pcap.gz -q --pictures TMP/pictures",
        ),
    ),
    Form(
        r"make install-core PREFIX=(?:DIR|\$HOME/\.local)|make install-core",
        "elsewhere",
        ("make -n install-core PREFIX=TMP",),
    ),
    Form(
        r"export PKG_CONFIG_PATH=.*|cc examples/embed\.c .*",
        "with what make install-core leaves, elsewhere",
        (),
        (
            "make install-core PREFIX=TMP >/dev/null && "
            "export PKG_CONFIG_PATH=TMP/lib/pkgconfig LD_LIBRARY_PATH=TMP/lib && "
            "cc examples/embed.c $(pkg-config --cflags --libs tcplearn) -o TMP/embed && "
            "TMP/embed -d </dev/null",
        ),
    ),
    Form(r"make try E=\w+", "an estimator that there is", ("make -n try E=last",), ("make try E=last",)),
    Form(r"cmake -S core -B build/san (.*)", "elsewhere", (r"cmake -S core -B TMP/san \1",)),
    Form(
        r"cmake --build build/san|ctest --test-dir build/san",
        "elsewhere, the quick ones",
        (),
        (
            "cmake -S core -B TMP/san -DTCPLEARN_SANITIZE=ON -DTCPLEARN_CHECK_RANGES=ON && "
            "cmake --build TMP/san && ctest --test-dir TMP/san -L fast",
        ),
    ),
    Form(
        r"ctest --test-dir build/core|ctest (-R \w+)",
        "run by make core-test: listed",
        (rf"{_CORE} \1 | grep '#'",),
    ),
    Form(
        r"ninja -C build/ns3 (\w+)",
        "what it would do; make ns3-test does it",
        (rf"{_NS3} && ninja -C build/ns3 -n \1",),
    ),
    Form(
        r"ctest --test-dir build/ns3 (-R \w+)",
        "run by make ns3-test: listed",
        (rf"{_NS3} && ctest --test-dir build/ns3 -N \1 | grep '#'",),
    ),
    Form(
        r"build/ns3/test_ns3_web \. --write",
        "make ns3-test runs it without --write, which would write what is there",
        (),
        (f"{_NS3} && ninja -C build/ns3 test_ns3_web && build/ns3/test_ns3_web .",),
    ),
    Form(
        r"core/tests/run_fuzz\.sh 60",
        "as make core-fuzz runs it, for a second",
        ("make -n core-fuzz FUZZ_SECONDS=60",),
        ("core/tests/run_fuzz.sh 1 TMP/fuzz",),
    ),
    Form(r"make -C linux/module dkms-tree", "elsewhere", ("make -C linux/module dkms-tree DESTDIR=TMP",)),
    Form(
        r"pytest(?: -[qs])?(.*)",
        "one finds what the other runs",
        (r"pytest --collect-only -q\1",),
    ),
    Form(
        r"pip install \./examples/my_estimator",
        "beside the others, and then replayed; pip fetches what builds it",
        (),
        (
            "cp -rL examples/my_estimator TMP && "
            "pip install -q --no-deps --target TMP/site TMP/my_estimator && "
            "PYTHONPATH=TMP/site tcplearn replay rtts.csv -e running-median",
        ),
    ),
    Form(
        r"pip install '\.\[(\w+)\]'",
        "the extra exists",
        (
            "python3 -c 'from importlib.metadata import metadata; "
            'assert "\\1" in metadata("tcplearn").get_all("Provides-Extra")\'',
        ),
    ),
    Form(
        r"man (tcplearn-\w+)",
        "of pages made for it",
        (r"python -m tcplearn.cli.man TMP/man1 && man -M TMP \1 | cat",),
    ),
)

OTHERS = (
    Form(
        r"record/describe\.sh (\S+)",
        "in the page's folder",
        (r"cd examples/captures && record/describe.sh \1",),
    ),
    Form(
        r"\./record\.sh(?:(.*) -o \S+(.*))?",
        "elsewhere",
        (),
        (r"cd examples/captures && ./record.sh -o TMP/recorded\1\2",),
    ),
    Form(
        r"(tcpdump .* -i )eth0 tcp",
        "an interface of its own, with traffic; both ends of the pipe",
        (_traffic(r"\1lo -Z root -c 600 tcp | tcplearn replay - --sender both"),),
    ),
    Form(r"(tshark -Y \S+)", "of a capture", (r"\1 -r examples/captures/access-link.pcap.gz",)),
    Form(r"\. \.venv/bin/activate", "and its programs", (". .venv/bin/activate && command -v tcplearn",)),
    Form(
        r"grep instructions_per",
        "of a file that the lab leaves",
        (r"grep -rq instructions_per linux python/src",),
    ),
)

FORMS = (*REPLAY, *SIMULATIONS, *LAB, *TRAINING, *BENCH, *VECTORS, *BUILDS, *OTHERS)

_SYSTEM = "changes the system that tests run on"
_MODULE = "acts on the running kernel; test_install.py tries it on a machine of files, `lab check` in a guest"
#: What is not run at all: the whole command, and why.
NOT_RUN = {
    r"apt-get install .*": _SYSTEM,
    r"apt-get source ns2": "downloads another project's source",
    r"python -m tcplearn\.papers\.tambuwal2018\.packmime \S+": "reads that source",
    r"tcplearn module (install|remove)": _MODULE,
    r"dkms .*|rmmod tcplearn|modprobe \w+|insmod \S+|make -C linux/module": _MODULE,
    r"rm -r /usr/src/tcplearn-\S+": _MODULE,
    r"sysctl net\.ipv4\.tcp_congestion_control=cubic": _SYSTEM,
    r"ssh router .*": "another machine; the command behind the pipe is run",
    r"tcplearn lab shell \S+": "needs a person at a terminal",
}


def is_not_run(command: str) -> bool:
    return any(re.fullmatch(pattern, command) for pattern in NOT_RUN)


def form_of(command: str) -> Form | None:
    return next((form for form in FORMS if re.fullmatch(form.shown, command)), None)


def small(command: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What `make test` and what `make test-full` runs of it."""
    if is_not_run(command):
        return (), ()
    form = form_of(command)
    if form is None:
        return (command,), ()
    return tuple(
        tuple(_expanded(form.shown, template, command) for template in templates)
        for templates in (form.runs, form.full)
    )  # type: ignore[return-value]


def _expanded(pattern: str, template: str, command: str) -> str:
    """The template with the groups that took part; no other escape is read."""
    match = re.fullmatch(pattern, command)
    assert match
    return re.sub(r"\\([1-9])", lambda of: match[int(of[1])] or "", template)
