# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is wrong with a spec is one line, the same from Python, ns-3 and the kernel, for every parameter of
every algorithm of every kind; and what is right is taken by all three."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tcplearn import algorithms
from tcplearn.errors import UserError
from tcplearn.lab import check, machine
from tcplearn.simulate import engine

#: A congestion control begins with the connection: the module has no first RTO.
IN_THE_KERNEL = ("estimator", "loss", "startup", "resend")
MOST_CHARACTERS = 255


def hostile(kind: str, info: algorithms.Info) -> Iterator[str]:
    yield info.name[:-1] + "?"
    yield f"{info.name}:nonsense=1"
    yield f"{info.name}:=1"
    for p in info.params:
        yield f"{info.name}:{p.key}"
        yield f"{info.name}:{p.key[:-1]}=1"
        yield f"{info.name}:{p.key}={p.default:.9f},{p.key}=1"
        for value in (
            "",
            "x",
            "nan",
            "inf",
            "0x10",
            "1e999",
            "-1e9",
            "9" * 200,
            "0.1234567891",
            f"{p.high:.0f}1",
        ):
            yield f"{info.name}:{p.key}={value}"
        if p.whole and not p.choices:
            yield f"{info.name}:{p.key}={p.low + 0.5}"
        if p.choices:
            yield f"{info.name}:{p.key}={p.choices[-1]}x"


def right(info: algorithms.Info) -> Iterator[str]:
    yield info.name
    for p in info.params:
        yield f"{info.name}:{p.key}={p.choices[-1] if p.choices else f'{p.high:.9f}'}"


def lines() -> list[tuple[str, str]]:
    found = [
        (kind, spec)
        for kind in algorithms.kinds()
        for info in algorithms.available(kind)
        for spec in (*hostile(kind, info), *right(info))
    ]
    return [(kind, spec) for kind, spec in dict.fromkeys(found) if len(spec) <= MOST_CHARACTERS]


def said(kind: str, spec: str) -> str:
    try:
        algorithms.parse(kind, spec)
    except UserError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def by_python() -> dict[tuple[str, str], str]:
    return {line: said(*line) for line in lines()}


def test_most_are_refused_and_each_line_says_what_to_do(by_python: dict[tuple[str, str], str]) -> None:
    refused = [text for text in by_python.values() if text]
    assert len(refused) > 2000 and len(refused) < len(by_python)
    for text in refused:
        assert "\n" not in text and len(text) < 320
        assert any(
            part in text for part in ("it takes", "did you mean", "it has", "see:", "key=value", "twice")
        ), text
    for kind in algorithms.kinds():
        for info in algorithms.available(kind):
            for spec in right(info):
                assert by_python.get((kind, spec)) == ""


def test_ns3_says_the_same(by_python: dict[tuple[str, str], str]) -> None:
    program = engine.BUILD / "read_ns3_specs"
    if not program.exists():
        pytest.skip("the test programs of ns-3 are not built: make ns3-build")
    text = "".join(f"{kind}\t{spec}\n" for kind, spec in by_python)
    run = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    assert dict(zip(by_python, run.stdout.split("\n"), strict=False)) == by_python


def test_the_kernel_says_the_same(
    by_python: dict[tuple[str, str], str], with_python: machine.Machine
) -> None:
    asked = {line: text for line, text in by_python.items() if line[0] in IN_THE_KERNEL}
    answers = check.check_specs(with_python, [f"{kind}\t{spec}" for kind, spec in asked])
    found = {line: "" if answer == "taken" else answer for line, answer in zip(asked, answers, strict=True)}
    assert found == asked
