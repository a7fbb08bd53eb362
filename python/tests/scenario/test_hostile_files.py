# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that scenario files written to crash their reader are refused in one line, in the simulator and the
lab."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn import documents
from tcplearn.cli import main

BASES = {
    "simulate": ROOT / "experiments" / "nunes2014" / "scenario-6.toml",
    "lab": ROOT / "experiments" / "nunes2014" / "live-1.toml",
}
NUL = "a text with a NUL"
EVERYWHERE = {
    "NUL in extends": ('extends = "base\\u0000.toml"\n', f"extends: {NUL}"),
    "NUL in a key": ('extends = "{base}"\n"na\\u0000me" = 1\n', NUL),
    "5,000 digits": ('extends = "{base}"\nx = ' + "9" * 5000, "a number of too many digits"),
    "beyond 64 bits": ('extends = "{base}"\nx = 0x' + "f" * 5000, "x: an integer of more than 64 bits"),
    "5,000 brackets": ('extends = "{base}"\nx = ' + "[" * 5000 + "]" * 5000, "nested too deeply"),
    "200 brackets": ('extends = "{base}"\nx = ' + "[" * 200 + "]" * 200, "nested too deeply"),
    "3,000 dots": ('extends = "{base}"\n' + "a." * 3000 + "b = 1", "a key of more than 16 names (at line 2)"),
    "3,000 quoted dots": ('\'a\' ."\\"".' * 1500 + "b = 1", "a key of more than 16 names (at line 1)"),
    "3,000 dots in a header": ("[[" + "a." * 3000 + "b]]", "a key of more than 16 names (at line 1)"),
    "not UTF-8": ("title = '\udcff'", "byte 10 is not UTF-8"),
    "too large": ("#" * (1 << 20) + "\n", "has more than 1 MB"),
    "a file over itself": (
        'extends = "../{folder}/bad.toml"\n',
        "extends: give another scenario file's path",
    ),
    "a device": ('extends = "/dev/zero"\n', "/dev/zero: is a device or a pipe"),
    "a directory": ('extends = "."\n', "is a directory; name a file"),
}
SIMULATED = {
    "NUL in trace": ('extends = "{base}"\nscenario.topology.trace = "a\\u0000b"\n', f"topology.trace: {NUL}"),
    "NUL in a list of traces": (
        'extends = "{base}"\n[grid.vary]\n"topology.trace" = ["a", "b\\u0000"]\n',
        f"topology.trace.1: {NUL}",
    ),
    "a trace without end": (
        'extends = "{base}"\nscenario.topology.trace = "/dev/zero"\n',
        "/dev/zero: is a device or a pipe",
    ),
    "a trace that leads to itself": ('extends = "{base}"\nscenario.topology.trace = "loop"\n', "loop: "),
    "a broken archive": ('extends = "{base}"\nscenario.topology.trace = "x.gz"\n', "x.gz: error -3"),
    "an archive without end": (
        'extends = "{base}"\nscenario.topology.trace = "zeros.gz"\n',
        "zeros.gz: has more than 64 MB once unpacked",
    ),
    "drawn from a table": (
        'extends = "{base}"\n[grid.draw]\n"tick_ms" = {{ of = {{ a = 1 }} }}\n',
        "grid.draw.tick_ms: of: wrong values",
    ),
    "drawn together from numbers": (
        'extends = "{base}"\n[grid.draw]\ntogether = {{ any = [1] }}\n',
        "grid.draw.together: give {{ any = [tables of keys] }}",
    ),
}
HOP = 'name = "x"\n[path.hop.a.forward]\n'
LAB = {
    "NUL in trace": (f'{HOP}trace = "a\\u0000b"\n', f"path.hop.a.forward.trace: {NUL}"),
    "a rate of 400 nines": (f"{HOP}rate_mbps = {'9' * 400}.0\nqueue_ms = 1\n", "queue_ms needs a rate_mbps"),
    "a rate of 10 Tbit/s": (f"{HOP}rate_mbps = 1e7\n", "rate_mbps: 0.008 to 10000, or inf"),
    "others at 400 nines": (
        f'{HOP}[[traffic]]\nenters = "a"\nrate = "{"9" * 400}mbit"\n',
        "is out of range; 8kbit to 10gbit",
    ),
    "bytes of 400 nines": (f'name = "x"\ntransfer.bytes = "{"9" * 400}"\n', "is out of range; 1 to 10GB"),
    "a truth for a number": (f"{HOP}delay_ms = true\n", "delay_ms: should be a valid number, not True"),
    "a rate that is NaN": (f"{HOP}rate_mbps = nan\n", "rate_mbps: should be"),
}
CASES = [(verb, *case) for verb in BASES for case in EVERYWHERE.items()]
CASES += [("simulate", *case) for case in SIMULATED.items()] + [("lab", *case) for case in LAB.items()]


def refused(file: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> str:
    words = {"simulate": ["simulate", "--plan", "--out", str(file.parent / "out")], "lab": ["lab", "script"]}
    assert main([*words[verb], str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(("verb", "name", "case"), CASES, ids=[f"{verb}: {name}" for verb, name, _ in CASES])
def test_one_line(
    verb: str, name: str, case: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, expected = case
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "x.gz").write_bytes(b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 20)
    if "zeros" in text:
        packer = zlib.compressobj(1, wbits=31)
        parts = [packer.compress(bytes(1 << 20)) for _ in range(65)]
        (tmp_path / "zeros.gz").write_bytes(b"".join([*parts, packer.flush()]))
    file = tmp_path / "bad.toml"
    text = text.replace("{base}", str(BASES[verb])).replace("{folder}", tmp_path.name)
    text = text.replace("{{", "{").replace("}}", "}")
    file.write_bytes(text.encode(errors="surrogateescape"))
    line = refused(file, verb, capsys)
    assert expected.replace("{{", "{").replace("}}", "}") in line
    assert len(line) < 400


@pytest.mark.parametrize("verb", BASES)
def test_a_pipe_that_has_no_end(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: is a device or a pipe, which may have no end" in refused(tmp_path / "pipe", verb, capsys)


def test_a_long_chain_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(30):
        (tmp_path / f"{k}.toml").write_text(f'extends = "{k + 1}.toml"\n')
    assert "20.toml: extends: more than 20 files" in refused(tmp_path / "0.toml", "lab", capsys)


def test_what_only_looks_hostile(tmp_path: Path) -> None:
    key = ".".join(f"k{n}" for n in range(documents.MOST_NAMES))
    text = f'a = "{"one.two " * 30}"\nb = [{"1.5, " * 40}]\n{key} = 1\nc = "{".." * 40}"  # {". " * 40}\n'
    (tmp_path / "good.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert list(documents.toml(tmp_path / "good.toml")) == ["a", "b", "k0", "c"]
