# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares tcplearn.RetryTimer, which decides when an unanswered request is sent again, with packages for
hedging, with the best fixed wait in hindsight, and with a timer that knows how latencies are distributed at
the time of each request. It compares the 99th and 99.9th percentiles of response times at equal numbers of
spurious retransmissions per request, on generated traces of requests and on recorded RTTs.

python bench/retry_latency.py --half judged -o out/retry.json      half an hour; needs hedge-python==0.3.0 and
                                                                   httpx-hedged==0.5.0 installed
python bench/retry_latency.py --requests 1000 --half tuning        a short trial

--recorded FOLDER adds the series FOLDER/*.csv (columns t_s, rtt_ms). Half of the traces, "tuning", served to
choose the settings of the timer; the other half, "judged", is for final figures."""

from __future__ import annotations

import heapq
import importlib.util
import json
import math
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from retry_policies import Fixed, HedgePython, HttpxHedged, Knowing, Ours, Policy, Window, typical
from retry_traces import Trace, traces

#: The settings of tcplearn's retry timer that are compared.
SETTINGS: tuple[dict[str, Any], ...] = (
    {"rate": 0.01},
    {"rate": 0.03},
    {"price_us": 100_000},
    {"rate": 0.01, "clear": False},
)
KEYS = ("p99", "p99.9")
Row = dict[str, Any]
#: The settings of each package that are tried, beside its default.
QUANTILES = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
KNOWING = "knowing"  # the timer that knows how latencies are distributed
KNOWN = (0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 0.999, 0.9995)
WARM_UP = 200  # the first requests are not counted
NEVER_US = 1 << 62


@dataclass(frozen=True)
class Played:
    """Holds the results of a simulation: spurious and all retransmissions per request, and the 99th and
    99.9th percentile of the response times in us."""

    needless: float
    resends: float
    time_us: dict[str, float]  # by the names in `KEYS`


def play(trace: Trace, policy: Policy) -> Played:
    """Return the results of sending the requests of `trace` under `policy`, which decides when each is sent
    again. All policies get the same random latencies and losses. A retransmission is spurious if an earlier
    transmission of the request is answered first."""
    n = len(trace.start_us)
    answers: list[tuple[int, int, int, int]] = []  # a heap of the time, the request, the copy, its latency
    copies = [0] * n
    done = [False] * n
    response = np.zeros(n)
    needless = resends = 0
    now = k = 0

    def transmit(request: int, copy: int) -> None:
        if latency := trace.latency_us(request, copy, now):
            heapq.heappush(answers, (now + latency, request, copy, latency))

    while True:
        start_us = trace.start_us[k] if k < n else NEVER_US
        answer_us = answers[0][0] if answers else NEVER_US
        due_us = policy.deadline_us()
        due_us = NEVER_US if due_us is None else max(due_us, now)
        now = min(start_us, answer_us, due_us)
        if now == NEVER_US:
            break
        if start_us == now:
            policy.sent(k, now)
            transmit(k, 0)
            k += 1
        elif answer_us == now:
            _, request, copy, latency = heapq.heappop(answers)
            if done[request]:
                continue
            done[request] = True
            response[request] = now - trace.start_us[request]
            if request >= WARM_UP:
                needless += copies[request] - copy
                resends += copies[request]
            policy.answered(request, now, copy, latency)
        else:
            for request in policy.fired(now):
                copies[request] += 1
                transmit(request, copies[request])
    counted = response[WARM_UP:]
    times_us = np.quantile(counted, [0.99, 0.999]).tolist()
    return Played(needless / len(counted), resends / len(counted), dict(zip(KEYS, times_us, strict=True)))


def fixed(trace: Trace) -> list[Played]:
    """Return the results on `trace` of fixed waits. The first wait is 32 times the median latency, and each
    further one is the previous one divided by 1.1. The last one is the first with more than a tenth of a
    spurious retransmission per request."""
    wait_us = 32 * float(np.median(typical(trace)[0]))
    found = [play(trace, Fixed(wait_us))]
    while found[-1].needless <= 0.1:
        wait_us /= 1.1
        found.append(play(trace, Fixed(wait_us)))
    return found


def shortest(trace: Trace, needless: float) -> Played:
    """Return the results on `trace` of the shortest fixed wait with at most `needless` spurious
    retransmissions per request, found by bisection with a precision of 0.3 %, as if a longer wait always had
    fewer."""
    low, high = 1e2, 1e8
    found = play(trace, Fixed(high))
    while high / low > 1.003:
        middle = math.sqrt(low * high)
        played = play(trace, Fixed(middle))
        if played.needless > needless:
            low = middle
        else:
            high, found = middle, played
    return found


def hindsight(waits: list[Played], needless: float, key: str) -> float:
    """Return the shortest response time `key` ("p99" or "p99.9"), in us, among the results `waits` with at
    most `needless` spurious retransmissions per request. A wait that is shorter than the slow latencies of a
    trace may cause fewer spurious retransmissions than a longer wait, if the second transmission is mostly
    answered first."""
    return min(played.time_us[key] for played in waits if played.needless <= needless)


def at(curve: list[Played], needless: float, key: str) -> float:
    """Return the response time `key` ("p99" or "p99.9"), in us, that a hedging package would have with
    `needless` spurious retransmissions per request. It is interpolated in logarithms between `curve`, the
    results with the package's settings. Outside of their range, it is that of the nearest setting; below the
    range this favours the package."""
    least = 1e-5
    points = sorted((max(p.needless, least), p.time_us[key]) for p in curve)
    x, y = (np.log([p[k] for p in points]) for k in (0, 1))
    return float(np.exp(np.interp(math.log(max(needless, least)), x, y)))


def peers(trace: Trace) -> dict[str, list[Callable[[], Policy]]]:
    rate = len(trace.start_us) / (trace.start_us[-1] / 1e6)
    found: dict[str, list[Callable[[], Policy]]] = {
        "adaptive-timeout": [*(lambda q=q: Window(q) for q in QUANTILES), lambda: Window(0.9999, 2.0)]
    }
    for package, name, policy in (
        ("hedge", "hedge-python", HedgePython),
        ("httpx_hedged", "httpx-hedged", HttpxHedged),
    ):
        if importlib.util.find_spec(package):
            found[name] = [lambda q=q, policy=policy: policy(q, rate) for q in QUANTILES]
    return found


def compared(trace: Trace) -> list[Row]:
    """Return a row for each of `SETTINGS`: its response times on `trace`, and those of the hedging packages,
    of the best fixed wait and of the timer that knows the distribution, with as many spurious
    retransmissions."""
    curves = {name: [play(trace, make()) for make in makes] for name, makes in peers(trace).items()}
    typical_us, relative = typical(trace)
    factors = np.quantile(relative, KNOWN)
    curves[KNOWING] = [play(trace, Knowing(typical_us, factor)) for factor in factors]
    waits = fixed(trace)
    rows = []
    for setting in SETTINGS:
        ours = play(trace, Ours(**setting))
        row: Row = {"trace": trace.name, **setting, "needless": ours.needless, "resends": ours.resends}
        tried = [*waits, shortest(trace, ours.needless)]
        for key in KEYS:
            row[key] = ours.time_us[key]
            row[f"fixed {key}"] = hindsight(tried, ours.needless, key)
            for name, curve in curves.items():
                row[f"{name} {key}"] = at(curve, ours.needless, key)
        rows.append(row)
    return rows


def ratios(rows: list[Row], key: str, names: Sequence[str], of: str = "") -> str:
    """Return, as text, the geometric mean and the greatest, over `rows` (a trace each), of a ratio: the
    response time `key` of tcplearn's retry timer (or of the policy `of`), divided by the shortest of the
    policies `names`."""
    found = [float(r[f"{of} {key}".strip()]) / min(float(r[f"{name} {key}"]) for name in names) for r in rows]
    return f"{math.exp(float(np.mean(np.log(found)))):8.3f}{max(found):9.3f}"


def table(rows: list[Row], names: list[str]) -> None:
    """Print, for each setting of tcplearn's retry timer, the `ratios` over `rows` of its response times to
    those of the packages `names`, of the best fixed wait, and of the timer that knows the distribution."""
    against = {f"over {name}": ([name], "") for name in [*names, "fixed", KNOWING]}
    against["over the best package"] = (names, "")
    against[f"{KNOWING} over the best package"] = (names, KNOWING)
    print(f"{'':34}{'p99':>8}{'greatest':>9}{'p99.9':>8}{'greatest':>9}")
    for number, setting in enumerate(SETTINGS):
        own, rate = rows[number :: len(SETTINGS)], setting.get("rate")
        needless = [float(r["needless"]) for r in own]
        label = f"rate {rate:g}" if rate else f"price {setting['price_us'] / 1000:g} ms"
        label += "" if setting.get("clear", True) else ", not known which transmission is answered"
        label += f": {np.mean(needless):.4f} needless resends of a request"
        if rate:
            kept = sum(0.7 <= found / rate <= 1.3 for found in needless)
            label += f", 0.7 to 1.3 of the rate on {kept} of {len(own)} traces"
        print(label)
        for title, (beside, of) in against.items():
            print(f"    {title:30}" + "".join(ratios(own, key, beside, of) for key in KEYS))


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("tuning", "judged"), default="tuning")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--recorded", type=Path, help="folder of recorded series")
    parser.add_argument("--traces", metavar="NAME,NAME", help="these alone")
    parser.add_argument("-o", dest="out", type=Path)
    given = parser.parse_args()
    if given.recorded and not given.recorded.is_dir():
        print(f"{given.recorded}: there is no such folder: made traces alone", file=sys.stderr)
        given.recorded = None
    rows: list[Row] = []
    chosen = traces(given.half, given.requests, given.recorded)
    if given.traces:
        names = given.traces.split(",")
        unknown = sorted(set(names) - {trace.name for trace in chosen})
        if unknown:
            parser.error(f"no trace {unknown[0]!r}; there are: {', '.join(trace.name for trace in chosen)}")
        chosen = [trace for trace in chosen if trace.name in names]
    for trace in chosen:
        rows += compared(trace)
        print(f"{trace.name}: {len(rows)} rows", file=sys.stderr, flush=True)
        if given.out:
            given.out.parent.mkdir(exist_ok=True)
            given.out.write_text(json.dumps(rows, indent=1) + "\n")
    table(rows, sorted(peers(chosen[0])))


if __name__ == "__main__":
    main()
