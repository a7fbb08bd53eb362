# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists small forms of the commands of tcplearn, and of its own programs that configure the kernel."""

from __future__ import annotations

from form import NAME, SMOKE, Form, with_traffic

LIVE = "experiments/nunes2014/live-1.toml"

REPLAY = (
    Form(r"tcplearn explain my\.pcap(.*)", NAME, (r"tcplearn explain capture.pcap\1",)),
    Form(
        r"tcplearn causes capture\.pcap --classifier mlp:model=model/loss_own\.json",
        "a model that is shipped",
        ("tcplearn causes capture.pcap --classifier mlp:model=core/models/loss_wide.json",),
    ),
    Form(r"tcplearn explain \$files/(\S+)", "of the checkout", (r"tcplearn explain \1",)),
    Form(
        r"tcplearn explain captures/(?: more\.pcapng)?(.*)",
        NAME,
        (r"tcplearn explain examples/captures/ capture.pcap\1",),
    ),
    Form(
        r"tcplearn explain -i eth0 --for 5m",
        "an interface of its own, with traffic, for seconds",
        (with_traffic("tcplearn explain -i lo --for 2s"),),
    ),
    Form(r"tcplearn replay -", "what tcpdump would write", ("tcplearn replay - < capture.pcap",)),
    Form(
        r"tcplearn watch eth0((?: --for 5m)?)((?: --report \S+)?)",
        "an interface of its own, with traffic, for seconds; Ctrl-C would end it",
        (with_traffic(r"tcplearn watch lo --for 2s --sender both\2"),),
    ),
    Form(r"tcplearn replay \S+/log\.gz (.*)", NAME, (r"tcplearn replay rtts.csv \1",)),
    Form(r"tcplearn replay -e median", NAME, ("tcplearn replay rtts.csv -e last",)),
    Form(r"tcplearn replay CAPTURE (.*)", NAME, (r"tcplearn replay capture.pcap \1",)),
    Form(r"tcplearn replay FILE (.*) -e", f"{NAME}; one more -e follows", (r"tcplearn replay rtts.csv \1",)),
    Form(
        r"tcplearn resend (?:\S*\.csv|FILE|my\.pcap)(.*)",
        "fewer requests",
        (r"tcplearn resend rtts.csv --requests 1000\1",),
        ("tcplearn resend capture.pcap --requests 1000",),
    ),
    Form(
        r"tcplearn suite \S+(.*)",
        "a folder of two short lists of RTTs",
        (r"tcplearn suite lists/ --jobs 1 --min-samples 300\1",),
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
        NAME,
        (rf"tcplearn simulate {SMOKE} -j 1 \1 -o TMP/rows",),
    ),
    Form(
        r"tcplearn simulate (\S+ --profile \S+) --losses \S+",
        "files and profile are read; one small network's losses are written",
        (
            r"python python/tests/docs/read_scenarios.py \1",
            "tcplearn simulate experiments/hwang2018/wide.toml --profile smoke --out TMP/runs -j 1 "
            "--losses TMP/losses.parquet",
        ),
    ),
    Form(
        r"tcplearn simulate (?:\$files/)?(\S+) --profile smoke(?: --out out)?",
        "read; a smoke run of one scenario stands for all, but in full",
        (
            r"python python/tests/docs/read_scenarios.py \1 --profile smoke",
            f"tcplearn simulate {SMOKE} -j 1 --out TMP/smoke",
        ),
        (r"tcplearn simulate \1 --profile smoke --out TMP/runs",),
    ),
    Form(
        r"tcplearn simulate ((?!-)\S+(?: (?!-)\S+)*)((?: --profile \S+)?)(?: --out DIR)?((?: .*)?)",
        "files and profile are read; a smoke run has the other options",
        (r"python python/tests/docs/read_scenarios.py \1\2", rf"tcplearn simulate {SMOKE} -j 1\3"),
    ),
    Form(
        r"tcplearn experiments latency(?: --page lab(?: --list)?)?",
        "a quarter of a minute without --list; into a folder of the test: the page itself is tracked",
        ("tcplearn experiments latency --page lab --list",),
        ("tcplearn experiments latency --page lab -o TMP/page",),
    ),
    Form(
        r"tcplearn experiments latency --page (simulated|guard)(?: --run)?",
        "of two seeds and few paths, into a folder of the test",
        (r"tcplearn experiments latency --page \1 --list",),
        (
            r"tcplearn experiments latency --page \1 --run --scenarios scenarios/ns3/scenarios "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page -q",
        ),
    ),
    Form(
        r"tcplearn experiments (?:NAME|smith2020)(?: .*)?",
        "the name stands for the reader's own experiment",
        (
            "tcplearn experiments baddam2018 --list",
            "tcplearn experiments baddam2018 --page regression --run --profile smoke --file TMP/runs.parquet "
            "-o TMP/page",
        ),
    ),
    Form(
        r"tcplearn experiments stalls(?: --run)?",
        "in full one run of one condition",
        ("tcplearn experiments stalls --list",),
        (
            "tcplearn experiments stalls --run conditions/thin-no-options --first 1 -j 1 -q "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page",
        ),
    ),
    Form(
        r"tcplearn experiments forecasts(?: --run)?",
        "in full one of a path's captures; its page needs both",
        ("tcplearn experiments forecasts --list", "tcplearn experiments forecasts -o TMP/page"),
        (
            "tcplearn experiments forecasts --run thin-no-timestamps/captured -j 1 -q "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page",
        ),
    ),
    Form(
        r"tcplearn experiments families(?: --run)?",
        "into a folder of the test; in full a small run of two paths",
        ("tcplearn experiments families --list", "tcplearn experiments families -o TMP/page"),
        (
            "tcplearn experiments families kept-2/smoke --run --profile smoke -j 1 -q "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page",
        ),
    ),
    Form(
        r"tcplearn experiments live --page timers",
        "into a folder of the test",
        ("tcplearn experiments live --page timers -o TMP/page",),
    ),
    Form(
        r"tcplearn experiments live(?: --run)?",
        "in full one run of requests that take seconds",
        ("tcplearn experiments live --list", "tcplearn experiments live --page lab -o TMP/page"),
        (
            "tcplearn experiments live thin-wired/smoke --run --profile smoke -j 1 -q "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page",
        ),
    ),
    Form(
        r"python -m experiments\.stalls\.captures(?: SAID\.csv| make)?",
        "in full the score of explain and tshark",
        (),
        ("python -m experiments.stalls.captures | cat",),
    ),
    Form(
        r"tcplearn experiments baddam2018(?: --page \S+)?(?: --run)?",
        "the page that needs no runs; in full that of the simulation too, small",
        ("tcplearn experiments baddam2018 --page regression -o TMP/page",),
        (
            "tcplearn experiments baddam2018 --page simulated --run --profile smoke --file TMP/runs.parquet "
            "--out TMP/cache -o TMP/page -q",
        ),
    ),
    Form(
        r"tcplearn experiments tambuwal2018(?: RUNS| [\w-]+/\w+)*(?: --page \S+)?(?: --run)?",
        "in full the page of the simulation, small",
        ("tcplearn experiments tambuwal2018 --list",),
        (
            "tcplearn experiments tambuwal2018 --page simulated --run --profile smoke -q "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page",
        ),
    ),
    Form(
        r"tcplearn experiments hwang2018(?: [\w-]+/\w+)*(?: --page \S+)?(?: --run)?",
        "in full the page of the simulation, small",
        ("tcplearn experiments hwang2018 --list",),
        (
            "tcplearn experiments hwang2018 --page simulated --run --profile smoke -q "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page",
        ),
    ),
    Form(
        r"tcplearn experiments nunes2014(?: --page \S+)?(?: --run)?",
        "in full the page of the counted clock, small",
        ("tcplearn experiments nunes2014 --list",),
        (
            "tcplearn experiments nunes2014 --page simulated --run --profile smoke -q "
            "--file TMP/runs.parquet --out TMP/cache -o TMP/page",
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
        (rf"tcplearn lab run {LIVE} --profile smoke --out TMP/runs\3",),
    ),
    Form(r"tcplearn lab script FILE", NAME, (f"tcplearn lab script {LIVE}",)),
    Form(r"tcplearn lab check NAME (--kernel \S+)", NAME, (), (r"tcplearn lab check vectors \1",)),
    Form(
        r"tcplearn lab check smp --kernel NAME --seconds 1800",
        f"{NAME}; ten seconds",
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
        r"tcplearn train rtt ((?!examples/).*) -o \S+(.*)",
        "in full, of few made-up hosts and with two folds, as the next one of those that are shipped",
        (),
        (r"tcplearn train rtt \1 -o TMP/models\2 --folds 2",),
    ),
    Form(
        r"tcplearn train rtt (.*) -o \S+(.*)",
        "two folds; beside the shipped models, not over them",
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
        r"tcplearn live run --backoff bounded -- COMMAND",
        "where the kernel can bound it",
        (),
        (
            "tcplearn live run --backoff bounded -- true || "
            "tcplearn live check --json | grep -q 'not in this kernel'",
        ),
    ),
    Form(
        r"tcplearn live start --(?:unit|pid) \S+",
        "of a cgroup without other processes",
        (),
        (
            "g=$(mktemp -d -p $(grep -m1 -o '\\S*cgroup\\S* cgroup2' /proc/mounts | cut -d' ' -f1)); "
            "sh -ec 'tcplearn live start --unit ${0##*/}; tcplearn live stop --unit ${0##*/}; "
            "echo $$ >$0/cgroup.procs; tcplearn live start --pid $$; tcplearn live stop --pid $$' $g; "
            "code=$?; rmdir $g; exit $code",
        ),
    ),
    Form(
        r"tcplearn live (?:observe|report|run|start|status|stop|top).*",
        "of a cgroup without other processes",
        (),
        (
            "g=$(mktemp -d -p $(grep -m1 -o '\\S*cgroup\\S* cgroup2' /proc/mounts | cut -d' ' -f1)); "
            "sh -ec 'echo $$ >$0/cgroup.procs; tcplearn live run -- true; tcplearn live start --cgroup $0; "
            "tcplearn live status --json | tcplearn live report -; tcplearn live status --prometheus; "
            "tcplearn live top; tcplearn live report --report TMP/live.html; "
            "tcplearn live stop --cgroup $0; "
            "tcplearn live observe -i any --cgroup $0 --for 1s' $g; "
            "code=$?; rmdir $g; exit $code",
        ),
    ),
    Form(r"tcplearn live effects", "few simulations", (), (r"tcplearn live effects --runs 10",)),
    Form(
        r"PYTHONPATH=python/tests python python/tests/live/guard_trial\.py",
        "few draws",
        (),
        ("PYTHONPATH=python/tests python python/tests/live/guard_trial.py 1",),
    ),
    Form(
        r"PYTHONPATH=python/tests python python/tests/live/guard_runs\.py",
        "one short run",
        (),
        ("PYTHONPATH=python/tests python python/tests/live/guard_runs.py 1 8",),
    ),
    Form(
        r"PYTHONPATH=python/tests python python/tests/live/harm_trial\.py",
        "none of its trials, which take minutes; python/tests/live/test_live_harm.py runs a small one",
        ("PYTHONPATH=python/tests python python/tests/live/harm_trial.py none",),
    ),
    Form(
        r"PYTHONPATH=python/tests python python/tests/live/applications_trial\.py",
        "few requests; it needs five servers of Debian's",
        (),
        ("PYTHONPATH=python/tests python python/tests/live/applications_trial.py 20",),
    ),
    Form(
        r"PYTHONPATH=python/tests python python/tests/live/forecast_trial\.py",
        "few requests",
        (),
        ("PYTHONPATH=python/tests python python/tests/live/forecast_trial.py 400",),
    ),
    Form(
        r"PYTHONPATH=python/tests python python/tests/live/live_trial\.py",
        "few requests",
        (),
        ("PYTHONPATH=python/tests python python/tests/live/live_trial.py 20 1",),
    ),
    Form(
        r"tcplearn emulate (\S+) --server 'SERVER' --wait-port 8000 -- tcplearn live run -- CLIENT",
        "a web server and a request",
        (),
        (
            r"tcplearn emulate \1 --late-limit-us 1000000 --server 'python3 -m http.server 8000' "
            "--wait-port 8000 -- tcplearn live run -- curl -s -o TMP/page http://198.18.0.2:8000/README.md",
        ),
    ),
    Form(
        r"tcplearn emulate PATH -- COMMAND",
        NAME,
        ("tcplearn emulate wired --late-limit-us 1000000 -- true",),
    ),
    Form(
        r"tcplearn emulate (.*)",
        "a machine that runs tests may be late",
        (r"tcplearn emulate --late-limit-us 1000000 \1",),
    ),
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
