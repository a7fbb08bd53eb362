# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists small forms of commands that run benchmarks, generators, builds and programs other than tcplearn."""

from __future__ import annotations

from form import SMOKE, Form, with_traffic

_CORE = "cmake -S core -B build/core -G Ninja >/dev/null && ctest --test-dir build/core -N"
_NS3 = "cmake -S ns3 -B build/ns3 -G Ninja >/dev/null"


def _smaller(script: str, arguments: str = "", **constants: str) -> str:
    """Return a command that runs a script of bench/ with its module constants replaced by `constants`."""
    code = f"import sys; sys.path.insert(0, 'bench'); sys.argv = '{script} {arguments}'.split(); "
    code += f"from pathlib import Path; import {script} as m; "
    code += "; ".join(f"m.{name} = {value}" for name, value in constants.items())
    return f'python -c "{code}; m.main({"sys.argv[1:]" if script == "resend_beginnings" else ""})"'


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
        (f"python3 bench/profile_time.py {SMOKE} --runs 2",),
    ),
    Form(
        r"python bench/retry_latency\.py(?: .*)?",
        "one trace, of few requests; half an hour in full",
        ("python bench/retry_latency.py --half judged --requests 400 --traces resolver -o TMP/rows.json",),
    ),
    Form(
        r"python bench/retry_record\.py(?: .*)?",
        "a quarter of an hour, with Debian's servers",
        ("python bench/retry_record.py TMP/recorded --requests 20 --services dns --help",),
    ),
    Form(
        r"python examples/quic/compare\.py(?: .*)?",
        "a quarter of an hour; test_learned_pto.py runs it small",
        ("python examples/quic/compare.py --help",),
    ),
    Form(
        r"python bench/emulate_link\.py(?: .*)?",
        "a tenth of the load",
        (),
        ("python bench/emulate_link.py --seconds 0.3",),
    ),
    Form(
        r"python bench/live_load\.py(?: .*)?",
        "few connections; ten minutes in full",
        (),
        ("python bench/live_load.py --small -o TMP/load.json",),
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
        r"python3 vectors/gen/generate_KIND\.py",
        "a kind that there is, in a copy",
        ("cp -rL vectors core TMP && python3 TMP/vectors/gen/generate_startup.py",),
        tuple(
            f"cp -rL vectors core TMP && python3 TMP/vectors/gen/generate_{kind}.py"
            for kind in ("loss", "resend", "first_rto")
        ),
    ),
    Form(r"python -m (tcplearn\.learn\.export) --write", "compared, not written", (r"python -m \1 --check",)),
    Form(r"python -m (tcplearn\.metrics\.page) --write", "printed, not written", (r"python -m \1",)),
)

BUILDS = (
    Form(
        r"make (dev|install|lint|fmt|man|ns3|bench|demo|wheel|debs|release|site|abi( ACCEPT=1)?|"
        r"test(-full)?|(ns3|pages)-test|-j|"
        r"\.venv/bin/tcplearn)",
        "it is what runs this test or stands before it, or changes the tree: what it would do",
        (r"make -n \1",),
    ),
    Form(
        r"make crates",
        "what it would do; in full it compiles both crates as their users do",
        ("make -n crates",),
        ("make crates",),
    ),
    Form(
        r"make (rust-(?:fuzz(?: MINUTES=\d+)?|bench))",
        "minutes, and rust-bench needs a Rust that Debian does not have: what it would do",
        (r"make -n \1",),
    ),
    Form(
        r"make (docs/images/(?:answer\.svg|live-day\.png))",
        "its recipe, with a folder of its own",
        (r"make -n \1 >/dev/null",),
        ("tcplearn explain examples/captures/requests.pcap.gz -q --pictures TMP/pictures",),
    ),
    Form(
        r"make install-core PREFIX=(?:DIR|\$HOME/\.local)|make install-core",
        "elsewhere",
        ("make -n install-core PREFIX=TMP",),
    ),
    Form(
        r"export PKG_CONFIG_PATH=.*|cc examples/(?:embed|retry/lookup)\.c .*",
        "with what make install-core leaves, elsewhere",
        (),
        (
            "make install-core PREFIX=TMP >/dev/null && "
            "export PKG_CONFIG_PATH=TMP/lib/pkgconfig LD_LIBRARY_PATH=TMP/lib && "
            "cc examples/embed.c $(pkg-config --cflags --libs tcplearn) -o TMP/embed && "
            "TMP/embed -d </dev/null && "
            "cc examples/retry/lookup.c $(pkg-config --cflags --libs tcplearn) -o TMP/lookup && TMP/lookup",
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
        r"pytest -q python/tests/experiments/test_smith2020\.py",
        "the name stands for the reader's own experiment",
        ("python python/tests/docs/names_tests.py python/tests/experiments/test_baddam2018.py",),
    ),
    Form(
        r"pytest(?: -[qs])?(.*)",
        "files and names are there; in full, it finds what the other runs",
        (r"python python/tests/docs/names_tests.py\1",),
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
    Form(r"pip install dist/\S+", "test_wheel.py does it", ("make -n wheel",)),
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
        r"tcpdump -i eth0 -s 128 -w \S+ tcp port 443",
        "the loopback interface of a namespace, for a second",
        (
            "unshare -n sh -c 'ip link set lo up; timeout 1 tcpdump -i lo -s 128 -w TMP/own.pcap tcp port "
            "443; test $? -eq 124'",
        ),
    ),
    Form(
        r"record/describe\.sh (\S+)",
        "in the page's folder",
        (r"cd examples/captures && record/describe.sh \1",),
    ),
    Form(
        r"\./record\.sh(.*?)(?: -o \S+)? (requests|access-link)(.*)",
        "elsewhere",
        (),
        (r"cd examples/captures && ./record.sh\1 -o TMP/recorded \2\3",),
    ),
    Form(
        r"(tcpdump .* -i )eth0 tcp",
        "an interface of its own, with traffic; both ends of the pipe",
        (with_traffic(r"\1lo -Z root -B 65536 -c 600 tcp | tcplearn replay - --sender both"),),
    ),
    Form(r"(tshark -Y \S+)", "of a capture", (r"\1 -r examples/captures/access-link.pcap.gz",)),
    Form(r"\. \.venv/bin/activate", "and its programs", (". .venv/bin/activate && command -v tcplearn",)),
    Form(
        r"grep instructions_per",
        "of a file that the lab leaves",
        (r"grep -rq instructions_per linux python/src",),
    ),
)
