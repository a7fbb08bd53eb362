# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the golden vectors of `priced` on the functions of live.bpf.c, compiled for BPF and run by the kernel:
the results must be equal to the bit, for every set of parameters that the vectors have."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

import vector_reader
from tcplearn import algorithms
from tcplearn.bpf import build
from tcplearn.bpf.libbpf import Object
from tcplearn.errors import UserError
from tcplearn.live.conditions import need_all
from vector_reader import Numbers, Player

_KINDS = ("defaults", "set", "start", "next", "send", "timer", "ack")  # as the program has them


class _Event(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("probe", ctypes.c_uint32),
        ("wait_us", ctypes.c_int64),
        ("time_us", ctypes.c_int64),
        ("rtt_us", ctypes.c_int64),
        ("out_segments", ctypes.c_uint32),
        ("answers", ctypes.c_uint32),
    )


def _why_not() -> str:
    try:
        need_all()
    except UserError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(_why_not()), reason=_why_not())


class _Kernel:
    def __init__(self, program: Object) -> None:
        self._program = program

    def ask(self, kind: str, **values: int) -> _Event:
        event = _Event(kind=_KINDS.index(kind), **values)
        assert self._program.run("play", event) == 0, kind
        return event

    def begin(self, params: dict[str, float]) -> None:
        self.ask("defaults")
        names = [param.key for param in algorithms.by_name("resend")["priced"].params]
        for name, value in params.items():
            self.ask("set", out_segments=names.index(name), time_us=round(value * 2**30))
        self.ask("start")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> _Kernel:
    out = tmp_path_factory.mktemp("program") / "vectors.o"
    return _Kernel(Object(build.compiled(build.SOURCES / "resend_vectors.bpf.c", Path(out))))


def _player(kernel: _Kernel, params: dict[str, float]) -> Player:
    kernel.begin(params)

    def play(word: str, n: tuple[int, ...]) -> Numbers | None:
        if not word:
            return None
        if word == "next":
            event = kernel.ask("next")
        elif word == "ack":
            event = kernel.ask("ack", time_us=n[0], rtt_us=n[1], out_segments=n[2], answers=n[3])
        else:
            event = kernel.ask(word, time_us=n[0], out_segments=n[1])
        return event.wait_us, event.probe

    return play


def test_the_kernel_answers_as_the_reference(kernel: _Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(name: str, arithmetic: str, params: dict[str, float]) -> Player:
        assert (name, arithmetic) == ("priced", "fixed")
        return _player(kernel, params)

    monkeypatch.setitem(vector_reader.PLAYERS, ("resend", "expected"), (make, (1, 1)))
    count = 0
    for case, found, expected in vector_reader.replay("resend", "expected", "priced", "fixed"):
        assert [*found] == expected, f"{case}, answer {count}"
        count += 1
    assert count > 40_000
