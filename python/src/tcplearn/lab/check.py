# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs the checks of the kernel module in the virtual machine of `tcplearn lab`."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tcplearn import _native
from tcplearn.checkout import LAB, ROOT
from tcplearn.errors import FailedError
from tcplearn.output import temporary
from tcplearn.traces import tlog, tlog_resends

from .arm import STOCK
from .machine import FAILING, ORDINARY, Boot, Machine, cache_folder, prepare
from .machine import run as run_in_guest
from .scenario import KERNELS

Json = dict[str, Any]

CHECKS = LAB / "checks"
WITH_PROGRAMS = ("module", "packets", "specs", "startup")  # they need Python in the virtual machine
SMP_SECONDS = 40
SMP_RESEND = "priced/spaced"  # the resend policy whose answers (waits) smp.sh logs
SMP_ANSWERS = 2400  # the least number of logged waits: two for each of 1,200 requests
_CHARGE_SLACK_BYTES = 4 * 64 * 4096  # not a leak: the kernel keeps 64 pages for each processor
_FEW = Boot(settings=("FEW=1",))
# kinds of connections, as the traffic program of the check smp counts them; each kind must occur
_STORMED = ("switched", "multipath", "encrypted", "mapped", "repaired", "stopped")
_DEBUGFS_OFF = Boot(append="debugfs=off slab_nomerge")
_SMP = Boot(  # four processors, and all debugging checks that a stock kernel has built in
    append="slub_debug=FZPU,tcplearn*,TCP*,kmalloc*,net_namespace,sock* slab_nomerge init_on_free=1 "
    "kfence.sample_interval=20 rcupdate.rcu_cpu_stall_timeout=300 nowatchdog",
    processors=4,
)
_FEATURES = "features"
_WHOLE, _SYN, _SYN_ACK, _EITHER = range(4)  # what a handshake lost, numbered as in startup/handshake.h
_IW, _LEAST_IW, _NO_SSTHRESH = 10, 1, 2**31 - 1  # the kernel's; _LEAST_IW after more than one retransmission
_SEGMENTS, _RTT_US = 30, 30_000  # as in linux/lab/checks/startup.py


def run_check(
    machine: Machine,
    name: str,
    seed: int = 1,
    limit_s: int = 900,
    boot: Boot = ORDINARY,
    given: Iterable[str] = (),
) -> dict[str, str]:
    """Run checks/`name`.sh in the virtual machine, for at most `limit_s` seconds of real time. Return the
    text of each file that the script wrote to /out, by file name. The script can read the lines `given` in
    /scenario/`name`. Raise FailedError if the script fails."""
    with temporary.folder() as folder:
        files = sorted(CHECKS.glob("*.py")) if name in WITH_PROGRAMS else []
        if given:
            path = folder / name
            path.write_text("".join(f"{line}\n" for line in given))
            files.append(path)
        if name == "module":
            files.append(machine.built / FAILING)
        script = (CHECKS / f"{name}.sh").read_text()
        run_in_guest(machine, script, folder / "out", seed=seed, limit_s=limit_s, files=files, boot=boot)
        left = (p for p in (folder / "out").iterdir() if p.is_file())
        return {p.name: p.read_text(errors="replace") for p in left}


def run(name: str, kernel: str = "6.1", seed: int = 1, seconds: int = SMP_SECONDS) -> list[str]:
    """Run the check `name` of the kernel module: "vectors", "module", "packets", "startup", "stress" or "smp"
    (`seconds` long). "kernels" runs the first three on each supported kernel. Return a report. Raise
    FailedError."""
    if name == "kernels":
        return [
            f"{one}: {line}"
            for one in KERNELS
            for part in ("vectors", "module", "packets")
            for line in run(part, one)
        ]
    checks: dict[str, Callable[[Machine], list[str]]] = {
        "vectors": check_vectors,
        "module": check_module,
        "packets": check_packets,
        "startup": check_startup,
        "stress": partial(check_stress, seed=seed),
        "smp": partial(check_smp, seed=seed, seconds=seconds),
    }
    return checks[name](prepare(cache_folder(), name in WITH_PROGRAMS, kernel))


def check_vectors(machine: Machine) -> list[str]:
    """Run the algorithms of the kernel module on the golden vectors. Return a report. Raise FailedError if
    outputs are wrong or missing."""
    out = run_check(machine, "vectors", given=vector_lines(ROOT / "vectors"))["vectors"].splitlines()
    problem = "; ".join(line for line in out if line.startswith("first problem"))
    if "bad_lines 0" not in out:
        raise FailedError(f"the guest did not read all vectors; {problem or 'it ended before that'}")
    for kind, _ in expected_outputs(ROOT / "vectors"):
        total = next((line for line in out if line.startswith(f"{kind} all ")), "")
        words = total.split()
        found = dict(zip(words[2::2], map(int, words[3::2]), strict=True))
        untried = found.get("untried") and kind != f"loss/{_FEATURES}"
        if not found or found["wrong"] or untried or not found["answers"]:
            raise FailedError(f"the kernel's answers differ from the vectors: {kind}: {total}; {problem}")
    return out


def vector_lines(folder: Path) -> Iterator[str]:
    """Yield the lines that the kernel module's test (vectors.h) reads, from the test vectors in `folder`."""
    for kind, expected in expected_outputs(folder):
        yield f"kind {kind}"
        last = ""
        for series, spec, lines in sorted(case for path in expected for case in _cases(path)):
            if series != last:
                yield "series"
                inputs = folder / kind.partition("/")[0] / "series" / f"{series}.csv"
                yield from inputs.read_text().splitlines()
                last = series
            yield f"case {spec}"
            yield from lines
            yield "end"


def expected_outputs(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield pairs from `folder`: the name of each kind of algorithm, such as "loss", and the files with the
    expected outputs of its algorithms. The features of losses are a kind of their own, "loss/features"."""
    for kind in sorted(path.parent.name for path in folder.glob("*/series")):
        yield kind, sorted((folder / kind / "expected").glob("*.csv"))
        if features := sorted((folder / kind / _FEATURES).glob("*.csv")):
            yield f"{kind}/{_FEATURES}", features


def _cases(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (name of the input series, algorithm with its parameters, lines of expected outputs) for each
    test case in the file `path`. A file "a--b.csv" has the test cases of the algorithm "a/b"."""
    name = path.stem.replace("--", "/")
    for text in path.read_text().split("case,")[1:]:
        head, *lines = text.splitlines()
        series, _, parameters = head.partition(",")
        yield series, name + (f":{parameters}" if parameters else ""), lines


def check_specs(machine: Machine, lines: Sequence[str]) -> list[str]:
    """Return "taken" or the kernel's error message for each of `lines` ("KIND<tab>SPEC")."""
    return run_check(machine, "specs", given=lines)["specs"].splitlines()


def check_stress(machine: Machine, seed: int = 1) -> list[str]:
    """Make many connections at once in `machine`; return a report. Raise FailedError on a problem."""
    left = run_check(machine, "stress", seed, limit_s=3600)  # the check takes minutes on an idle machine
    if missing := {"storm", "counters", "left", "warnings"} - set(left):
        raise FailedError(f"stress: the guest left no {', '.join(sorted(missing))}")
    if problems := list(_stress_problems(left)):
        raise FailedError("stress: " + "; ".join(problems))
    return [*left["storm"].splitlines(), *left["counters"].splitlines()]


def _stress_problems(left: dict[str, str]) -> Iterator[str]:
    if left["warnings"].strip():
        yield f"the kernel warned: {left['warnings'].splitlines()[0]}"
    if left.get("wrong"):
        yield left["wrong"].strip()
    counts = dict(line.split() for line in left["counters"].splitlines())
    if counts["connections"] != counts["connections_ended"]:
        yield f"{counts['connections']} connections began and {counts['connections_ended']} ended"
    # state 06 is TIME_WAIT, which has no congestion control
    stuck = [line for line in left["left"].splitlines() if line.split()[3] not in ("st", "06", "0A")]
    if stuck:
        yield f"{len(stuck)} connections are stuck"


def check_smp(machine: Machine, seed: int = 1, seconds: int = SMP_SECONDS) -> list[str]:
    """Stress the kernel module on several processors for `seconds`; return a report. Raise FailedError on a
    problem."""
    boot = replace(_SMP, settings=(f"STORM_SECONDS={seconds}",))
    left = run_check(machine, "smp", seed, limit_s=3 * seconds + 1200, boot=boot)
    problems = [line for name in ("warnings", "wrong") for line in left.get(name, "").splitlines()[:3]]
    lines = left.get("storm", "").splitlines()
    if problems or "resends" not in left or not any(line.startswith("rounds ") for line in lines):
        raise FailedError("smp: " + ("; ".join(problems) or "the guest ended before its time"))
    lines.append(_resend_differences(left["resends"]))
    for name in _STORMED:
        if not sum(int(found[1]) for line in lines if (found := re.search(rf" {name} (\d+)", line))):
            raise FailedError(f"smp: nothing was {name}")
    charges = [int(found[1]) for line in lines if (found := re.search(r" charged (\d+)", line))]
    if charges[-1] > charges[0] + _CHARGE_SLACK_BYTES:
        raise FailedError(
            f"smp: {charges[0]} B of memory stay charged after the first round, {charges[-1]} after the last"
        )
    return lines


def _resend_differences(encoded: str) -> str:
    """Return a line that counts the waits of the kernel's resend policy that differ from user space's.
    `encoded` is the kernel module's log in base64. Raise FailedError if a wait differs, if records are
    missing, or if there are fewer than SMP_ANSWERS waits."""
    of = tlog.parse(base64.b64decode(encoded)).connections.values()
    answers, lost = sum(len(c.resends) for c in of), sum(c.lost for c in of)
    different = sum(tlog_resends.differences(c, SMP_RESEND) for c in of)
    said = f"resend_differences {different} of {answers} answers on {len(of)} connections"
    if different or lost or answers < SMP_ANSWERS:
        raise FailedError(f"smp: {said}, {lost} records are missing")
    return said


def check_module(machine: Machine) -> list[str]:
    """Check the kernel module: its RTOs, what unprivileged users can do, its use of memory, what it does if
    an allocation fails, and that it works without debugfs. Return a report. Raise FailedError on a
    problem."""
    # this takes 5 minutes on an idle machine, but over 15 beside other virtual machines
    left = [run_check(machine, "module", limit_s=3600, boot=boot) for boot in (ORDINARY, _DEBUGFS_OFF)]
    kept = _passed("module", "\n".join(part.get("results", "") for part in left), left)
    return [*kept, *left[1].get("memory", "").splitlines()]


def check_packets(machine: Machine) -> list[str]:
    """Exchange packets by scripts that say which must come when; return a report. Raise FailedError."""
    left = run_check(machine, "packets", limit_s=3600)
    return _passed("packets", left.get("results", ""), [left])


def check_startup(machine: Machine, few: bool = False) -> list[str]:
    """Compare the kernel module's initial congestion windows with those of the same startup policies in user
    space. Return a line for each connection. `few` compares fewer connections. Raise FailedError if windows
    differ."""
    left = run_check(machine, "startup", limit_s=1800, boot=_FEW if few else ORDINARY)
    lines = startups_compared(left.get("connections", "").splitlines())
    return _passed("startup", "\n".join(lines), [left])


def startups_compared(lines: Sequence[str]) -> list[str]:
    """Return a text for each connection in `lines` (JSON). It has the connection's initial window and
    ssthresh in the kernel, and either "ok" or how these differ from those of the startup policy in user
    space."""
    out = []
    place = None
    for seen in map(json.loads, lines):
        case, log = seen["case"], seen["log"]
        is_stock = case["policy"] == STOCK
        if seen["fresh"] and not is_stock:
            place = _native.StartupPolicy(case["policy"])
        name = f"{case['policy']}/{case['side']}"
        name += f"/{case['count']}-{case['lost']}" if case["lost"] else ""
        name += "" if case["timestamps"] else "/no-timestamps"
        name += "" if seen["fresh"] else "/known-place"
        threshold = "none" if log["ssthresh"] == _NO_SSTHRESH else log["ssthresh"]
        wrong = "; ".join(_startup_problems(seen, None if is_stock else place))
        out.append(f"{name}: IW {log['iw']}, ssthresh {threshold}" + (f", {wrong}" if wrong else " ok"))
    return out


def _known_loss(case: Json) -> int:
    """Return what the kernel module can know about the packets that the handshake of `case` lost."""
    if not case["lost"] or (case["side"] == "passive" and case["lost"] == "syn"):
        return _WHOLE
    if case["side"] == "passive":
        return _SYN_ACK
    if not case["timestamps"] or (case["lost"] == "syn" and case["count"] > 1):
        return _EITHER
    return _SYN if case["lost"] == "syn" else _SYN_ACK


def _startup_problems(seen: Json, place: _native.StartupPolicy | None) -> Iterator[str]:
    case, log, info = seen["case"], seen["log"], seen["info"]
    if log["policy"] != case["policy"] or bool(log["passive"]) != (case["side"] == "passive"):
        yield f"logged as {log['policy']}"
    if log["loss"] != (loss := _known_loss(case)):
        yield f"took for lost {log['loss']}, not {loss}"
    if (log["resends"] > 0) != (loss != _WHOLE) or log["resends"] > log["retransmitted"]:
        yield f"{log['resends']} resends of {log['retransmitted']}"
    if place is None:
        answer = (_LEAST_IW if _stock_cuts(seen) else _IW, _NO_SSTHRESH)
    else:
        answer = place.handshake(seen["at_us"], log["took_us"], loss, log["resends"], _IW, _NO_SSTHRESH)
        place.report(seen["at_us"], _SEGMENTS, 0, _RTT_US, _RTT_US)
    if (log["iw"], log["ssthresh"]) != answer:
        yield f"the core answers {answer[0]} and {answer[1]}"
    if (info["cwnd"], info["ssthresh"]) != answer:
        yield f"TCP_INFO has {info['cwnd']} and {info['ssthresh']}"
    if seen["first_flight"] != min(answer[0], _SEGMENTS):
        yield f"{seen['first_flight']} segments in the first flight"


def _stock_cuts(seen: Json) -> bool:
    """Return whether stock Linux begins the connection `seen` with the initial window `_LEAST_IW`."""
    log = seen["log"]
    if seen["case"]["side"] == "active" and log["loss"] == _SYN_ACK:
        return False  # the timestamp echo shows that the first SYN had arrived
    return int(log["retransmitted"]) > 1


def _passed(name: str, results: str, left: list[dict[str, str]]) -> list[str]:
    lines = [line for line in results.splitlines() if line.strip()]
    failed = [line for line in lines if not line.endswith(" ok")]
    warnings = [part["warnings"] for part in left if part["warnings"].strip()]
    failed += [f"the kernel warned: {warning.splitlines()[0]}" for warning in warnings]
    if not lines:
        failed.append("the guest left no results")
    if failed:
        raise FailedError(f"{name}: " + "; ".join(failed))
    return lines
