# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test tcplearn.RetryTimer: its golden vectors, its guarantees, copies and pickles, the example and the
benchmark."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import tcplearn
from samples import ROOT

REFUSED = {
    -1: "most of one timer",
    -2: "no answer yet",
    -3: "does not wait",
    -4: "now_us",
    -5: "copy",
    -7: "first",
}


SETTINGS = ("price_us", "budget", "first_wait_us", "min_wait_us", "max_wait_us")


def played(timer: tcplearn.RetryTimer, earlier: tcplearn.RetryTimer | None, word: str, n: list[int]) -> Any:
    """Return the results of the call `word` with the numbers `n`, or the message of its error."""
    calls: dict[str, Callable[[], Any]] = {
        "sent": lambda: timer.sent(n[0], n[1]),
        "fired": lambda: timer.fired(n[0]),
        "answered": lambda: timer.answered(n[0], n[2], n[1] if n[1] >= 0 else None),
        "cancelled": lambda: timer.cancelled(n[0]),
        "inherit": lambda: timer.inherit(earlier or timer),
    }
    try:
        return calls[word]()
    except ValueError as error:
        return str(error)


def test_golden_vectors() -> None:
    """Test the golden vectors. In them a call of fired() returns one resend; in Python, all that are due."""
    timer = earlier = None
    due: list[tuple[int, int]] = []
    for at, line in enumerate((ROOT / "vectors" / "retry.csv").read_text().splitlines()):
        word, *numbers = line.split(",")
        n = [int(x) for x in numbers]
        if word == "settings":
            how: dict[str, Any] = dict(zip(SETTINGS, n[1:], strict=True))
            if n[0]:
                how["rate"] = n[0] / 1e6
                del how["price_us"]
            timer, earlier = tcplearn.RetryTimer(**how), timer
            continue
        assert timer is not None
        if word == "paused":  # a part of the state that Python does not show; C compares it
            continue
        if word == "sums":
            assert list(timer.counts.values()) == n, at
            continue
        code = n[-2] if word != "fired" else n[1]
        if word == "fired" and code == 1 and not due:
            due = timer.fired(n[0])
        found = due if word == "fired" and code == 1 else played(timer, earlier, word, n)
        if code < 0:
            assert REFUSED[code] in found, (at, line, found)
        elif word == "fired" and code == 1:
            assert due.pop(0) == (n[2], n[3]), (at, line)
        else:
            assert not isinstance(found, str), (at, line, found)
        if not due:
            assert timer.deadline_us() == (n[-1] if n[-1] >= 0 else None), (at, line)


OUT_OF_RANGE: tuple[dict[str, Any], ...] = (
    {"rate": 0.6},
    {"rate": 0.00001},
    {"rate": float("nan")},
    {"price_us": -1},
    {"budget": -1},
    {"budget": 10**9},
    {"min_wait_us": 0},
    {"max_wait_us": 2**33},
    {"min_wait_us": 5, "max_wait_us": 4},
    {"first_wait_us": 0},
    {"rate": 0.01, "price_us": 5},
)


@pytest.mark.parametrize("wrong", OUT_OF_RANGE)
def test_settings_out_of_range_are_refused_in_one_line(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        tcplearn.RetryTimer(**wrong)


def requests(timer: tcplearn.RetryTimer, seed: int, count: int = 500) -> list[int]:
    """Simulate `count` requests, one in twenty of them lost, and return the first wait of each."""
    dice, now, waits = random.Random(seed), timer.counts["requests"] * 10**6, []
    for number in range(count):
        due = timer.sent(number, now)
        waits.append(due - now)
        took, resent = dice.randrange(20_000, 30_000), 0
        if dice.random() < 0.05:
            ((_, resent),) = timer.fired(due)
            now = due
        now += took
        timer.answered(number, now, resent)
    return waits


@pytest.mark.parametrize("how", [{"rate": 0.01}, {"price_us": 50_000}])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_goes_on_as_the_timer(how: dict[str, Any], again: Callable[[Any], Any]) -> None:
    timer = tcplearn.RetryTimer(**how)
    requests(timer, 1)
    timer.sent(10**6, 10**12)
    twin = again(timer)
    assert twin is not timer and twin.deadline_us() == timer.deadline_us() and twin.counts == timer.counts
    for each in (timer, twin):
        each.answered(10**6, 10**12 + 5000)
    assert pickle.dumps(timer) == pickle.dumps(twin)
    timer.sent(1, 2 * 10**12)
    assert timer.out == 1 and twin.out == 0


@given(some.binary(min_size=0, max_size=40), some.integers(0, 7000))
@settings(max_examples=200, deadline=None)
def test_a_damaged_pickle_is_refused(noise: bytes, at: int) -> None:
    saved = tcplearn.RetryTimer(rate=0.1).__getstate__()
    damaged = saved[: at % len(saved)] + noise + saved[at % len(saved) + len(noise) :]
    if damaged == saved:
        return
    timer = tcplearn.RetryTimer.__new__(tcplearn.RetryTimer)
    with pytest.raises(ValueError, match=r"^this (is no )?saved retry timer [^\n]*$"):
        timer.__setstate__(damaged)


def test_a_later_timer_begins_with_what_an_earlier_one_learned() -> None:
    for how in ({"rate": 0.01}, {"price_us": 50_000}):
        earlier, later = tcplearn.RetryTimer(**how), tcplearn.RetryTimer(**how)
        waits = requests(earlier, 2)
        assert waits[0] == 1_000_000
        later.inherit(earlier)
        assert requests(later, 3)[0] < 300_000
        with pytest.raises(ValueError, match="before its first request"):
            later.inherit(earlier)


def test_a_million_requests() -> None:
    timer = tcplearn.RetryTimer(rate=0.01)
    for number in range(tcplearn.RetryTimer.most_out):
        timer.sent(number, 0)
    with pytest.raises(ValueError, match="64 requests"):
        timer.sent(10**6, 0)
    for number in range(tcplearn.RetryTimer.most_out):
        timer.cancelled(number)
    for number in range(10**6):
        timer.sent(number, 50 * number)
        timer.answered(number, 50 * number + 20)
    assert timer.out == 0 and timer.counts["answers"] == 10**6


def test_pages_state_the_size_and_every_method_has_a_docstring() -> None:
    size = f"{tcplearn.RetryTimer.state_bytes:,} bytes"
    for page in ("core/README.md", "docs/algorithms/retry.md", "docs/library.md"):
        assert size in (ROOT / page).read_text(), page
    for name in ("sent", "fired", "answered", "cancelled", "deadline_us", "inherit", "counts", "out"):
        assert getattr(tcplearn.RetryTimer, name).__doc__, name
    with pytest.raises(AttributeError, match="RetryTimerr"):
        tcplearn.RetryTimerr  # noqa: B018


def shown(language: str) -> str:
    """Return the block of code in `language` of docs/library.md."""
    (block,) = re.findall(
        rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / "library.md").read_text(), re.M | re.S
    )
    return str(block)


def test_the_lines_in_c_compile(tmp_path: Any) -> None:
    included, declared, calls = shown("c").split("\n\n", 2)
    source = f"""{included}
        int64_t now_us(void);
        void wait_for_answers_until(int64_t us), send_again(uint64_t id, uint32_t copy);
        int next_answer(uint64_t *id, uint32_t *copy);
        void use(uint64_t id, uint32_t copy);
        void use(uint64_t id, uint32_t copy) {{ {declared}\n{calls} }}"""
    (tmp_path / "shown.c").write_text(source)
    words = [
        "cc",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        f"-I{ROOT / 'core' / 'include'}",
    ]
    subprocess.run([*words, tmp_path / "shown.c"], check=True)


def test_the_lines_in_python_run() -> None:
    again: list[tuple[int, int]] = []
    clock = iter((0, 900_000, 900_000, 2_000_000))
    has: dict[str, Any] = {
        "id": 7,
        "now_us": lambda: next(clock),
        "wait_for_answers_until": lambda us: None,
        "answers": lambda: [(6, 0), (5, 0)],  # second answers, of requests of some earlier time
        "send_again": lambda id, copy: again.append((id, copy)),
        "done": None,
    }
    exec(shown("python"), has)
    assert again == [(7, 1)] and has["timer"].out == 1


def test_the_lines_in_rust_run(tmp_path: Any) -> None:
    (tmp_path / "src").mkdir()
    crate = shown("toml").replace("CHECKOUT", str(ROOT))
    assert "CHECKOUT" in shown("toml")
    (tmp_path / "Cargo.toml").write_text(
        f'[package]\nname = "own"\nversion = "1.0.0"\nedition = "2021"\n{crate}'
    )
    shutil.copy(ROOT / "rust" / "Cargo.lock", tmp_path)  # the same versions
    used, calls = shown("rust").split("\n\n", 1)
    (tmp_path / "src" / "main.rs").write_text(f"""{used}
        fn use_it() -> Result<(), RetryError> {{
            let (id, mut clock) = (7, 0);
            let mut now_us = || {{ clock += 600_000; clock }};
            let wait_for_answers_until = |_: Option<i64>| {{}};
            let mut answers = vec![(6, 0), (7, 9)];
            let mut next_answer = || answers.pop();
            let done = |id: u64| println!("answered {{id}}");
            let send_again = |id: u64, copy: u32| println!("again {{id}} {{copy}}");
            {calls}
            Ok(())
        }}
        fn main() {{ use_it().unwrap() }}""")
    words = [ROOT / "tools" / "cargo", "run", "-q", "--manifest-path", tmp_path / "Cargo.toml"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "again 7 1\n"), done.stderr


def test_the_example_in_python_answers_every_query() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "retry" / "lookup.py", "--seed", "3", "--queries", "150"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found = re.search(r"150 answers, (\d+) resends, (\d+) of them spurious", done.stdout)
    assert found and int(found[1]) >= 5, done.stdout
    assert "by the retry timer" in done.stdout and "a fixed second" in done.stdout


def test_the_bench_runs_on_few_requests(tmp_path: Any) -> None:
    bench = ROOT / "bench" / "retry_latency.py"
    out = tmp_path / "rows.json"
    words = [
        bench,
        "--requests",
        "400",
        "--traces",
        "resolver,steps",
        "--recorded",
        tmp_path / "none",
        "-o",
        out,
    ]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True, timeout=300)
    rows = json.loads(out.read_text())
    assert {row["trace"] for row in rows} == {"resolver", "steps"}
    assert "there is no such folder" in done.stderr and "rate 0.01" in done.stdout
    for row in rows:
        assert row["p99.9"] >= row["p99"] > 0 and row["fixed p99"] > 0 and row["adaptive-timeout p99"] > 0


@pytest.mark.parametrize(
    ("call", "kind", "line"),
    [
        (lambda timer: timer.sent(1.5, 0), TypeError, "id is an integer, not float"),
        (lambda timer: timer.sent(1, None), TypeError, "now_us is an integer, not NoneType"),
        (lambda timer: timer.fired("0"), TypeError, "now_us is an integer, not str"),
        (lambda timer: timer.cancelled(-1), ValueError, f"id is out of range, 0 to {2**64 - 1}"),
        (lambda timer: timer.deadline_us(2**64), ValueError, "id is out of range, 0 to "),
        (lambda timer: timer.fired(2**63), ValueError, "now_us is out of range, -"),
        (lambda timer: timer.answered(7, 1, copy=-1), ValueError, "copy is out of range, 0 to "),
        (lambda timer: timer.answered(7, 1, copy=2**32 - 1), ValueError, "request 7 has no such copy"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(
    call: Callable[[tcplearn.RetryTimer], Any], kind: type[Exception], line: str
) -> None:
    timer = tcplearn.RetryTimer()
    timer.sent(7, 0)
    before = pickle.dumps(timer)
    with pytest.raises(kind) as refused:
        call(timer)
    assert type(refused.value) is kind
    assert str(refused.value).startswith(line) and "\n" not in str(refused.value)
    assert pickle.dumps(timer) == before


def test_what_does_not_wait_is_told_from_a_mistake() -> None:
    timer = tcplearn.RetryTimer()
    timer.sent(1, 0)
    timer.answered(1, 40_000)
    for call in (lambda: timer.answered(1, 50_000), lambda: timer.cancelled(2)):
        with pytest.raises(tcplearn.RetryTimer.NotWaiting, match="does not wait") as refused:
            call()
        again = pickle.loads(pickle.dumps(refused.value))
        assert type(again) is tcplearn.RetryTimer.NotWaiting and str(again) == str(refused.value)
    timer.sent(2, 60_000)
    for call in (
        lambda: timer.sent(2, 70_000),
        lambda: timer.sent(3, 0),
        lambda: timer.answered(2, 80_000, 5),
    ):
        with pytest.raises(ValueError) as found:
            call()
        assert type(found.value) is ValueError
