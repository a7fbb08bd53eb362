# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that Python, ns-3 and the kernel refuse a wrong spec of any kind with the same line, that of
vectors/specs.tsv, which core/tests/test_algorithms.c reads too. They must also agree on specs generated here
for every parameter of every algorithm."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from samples import ROOT
from tcplearn import algorithms, estimators
from tcplearn.cli import main
from tcplearn.errors import UserError
from tcplearn.lab import check, machine
from tcplearn.simulate import engine

#: The answer to each (kind, spec): "" where it is accepted.
Lines = dict[tuple[str, str], str]
#: The table has each of these for each kind: parts of the line that answers it.
HOSTILE = {
    "an unknown name": ("no {title} '", "; see: tcplearn algorithms {kind}"),
    "a typo in the name": ("no {title} '", "did you mean "),
    "a typo in a key": (" has no parameter '", "did you mean "),
    "a wrong choice": (": it takes ", " or "),
    "a fraction": (".5: it takes a whole number from ", ""),
    "out of range": ("=-1: it takes a ", ""),
    "401 digits, whole": (f"={'9' * 40}...: it takes a whole number from ", ""),
    "401 digits, of a choice": (f"={'9' * 40}...: it takes ", " or "),
}


def table() -> Lines:
    rows = [line.split("\t") for line in (ROOT / "vectors" / "specs.tsv").read_text().splitlines()]
    return {(kind, spec): line for kind, spec, line in rows}


def hostile(info: algorithms.Info) -> Iterator[str]:
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
            "9" * 401,
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


def said(kind: str, spec: str) -> str:
    try:
        if kind == algorithms.ESTIMATOR:
            estimators.parse(spec)
        else:
            algorithms.parse(kind, spec)
    except UserError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def by_python() -> Lines:
    asked = dict.fromkeys(table())
    for kind in algorithms.kinds():
        for info in algorithms.available(kind):
            asked |= {(kind, spec): None for spec in (*hostile(info), *right(info))}
    return {line: said(*line) for line in asked}


@pytest.mark.parametrize("kind", algorithms.kinds())
@pytest.mark.parametrize("what", HOSTILE)
def test_the_table_has_each_hostile_spec_of_each_kind(kind: str, what: str) -> None:
    begins, ends = (part.format(kind=kind, title=algorithms.kinds()[kind]) for part in HOSTILE[what])
    found = [line for (of, _), line in table().items() if of == kind and begins in line and ends in line]
    assert found, f"{kind}: {what}"


def test_python_says_what_the_table_has(by_python: Lines) -> None:
    assert {line: by_python[line] for line in table()} == table()


def test_most_are_refused_and_each_line_says_what_to_do(by_python: Lines) -> None:
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


def test_replay_says_the_line_and_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    capture = str(ROOT / "examples" / "captures" / "access-link.pcap.gz")
    for (kind, spec), line in table().items():
        if kind == algorithms.ESTIMATOR and line:
            code = main(["replay", capture, "-e", spec])
            out, err = capsys.readouterr()
            assert (code, out, err) == (2, "", f"tcplearn: {line}\n"), spec


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("runing-median", "no estimator 'runing-median'; did you mean running-median?"),
        ("running-median:windw=3", "estimator '{}' has no parameter 'windw'; did you mean window?"),
        ("running-median:size=3", "estimator '{}' has no parameter 'size'; it has window"),
        ("running-median:window", "estimator '{}': 'window' is not key=value"),
        ("running-median:", "estimator '{}': '' is not key=value"),
        ("running-median:window=3,", "estimator '{}': '' is not key=value"),
        ("running-median:window=3,window=4", "estimator '{}': window is given twice"),
        ("running-median:window=few", "{}: window=few: it takes a number"),
        ("running-median:window=nan", "{}: window=nan: it takes a number"),
        (f"running-median:window={'9' * 401}", f"{{}}: window={'9' * 40}...: it takes a number"),
        ("running-median:window=7", ""),
    ],
)
def test_of_an_own_estimator_they_are_refused_alike(spec: str, line: str, installed_example: str) -> None:
    assert said(algorithms.ESTIMATOR, spec) == line.format(installed_example)


def test_ns3_says_the_same(by_python: Lines) -> None:
    program = engine.BUILD / "read_ns3_specs"
    if not program.exists():
        pytest.skip("the test programs of ns-3 are not built: make ns3-build")
    text = "".join(f"{kind}\t{spec}\n" for kind, spec in by_python)
    run = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    assert dict(zip(by_python, run.stdout.split("\n"), strict=False)) == by_python


def test_the_kernel_says_the_same(by_python: Lines, with_python: machine.Machine) -> None:
    """Test the kernel's answers. The module has no setting for the first RTO; the module of the golden
    vectors reads these specs. The last three specs are the longest setting that the kernel accepts, and two
    longer ones, which only the kernel refuses."""
    zeros = f"conformal:miss=0.5{'0' * 237}"
    long = [f"estimator\t{zeros}", f"estimator\t{zeros}0", f"estimator\t{'x' * 1024}"]
    *answers, taken, longer, longest = check.check_specs(
        with_python, [*(f"{kind}\t{spec}" for kind, spec in by_python), *long]
    )
    found = {
        line: "" if answer == "taken" else answer for line, answer in zip(by_python, answers, strict=True)
    }
    assert found == by_python
    too_long = "a setting has at most 255 characters; leave out parameters with their defaults"
    assert [taken, longer, longest] == ["taken", too_long, too_long]
