# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the layers of the kernel module and of the guest's traffic program: which files include and call
which."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from samples import ROOT

#: Of the kernel module (and the one that replays vectors) and of the guest's traffic program, from the top:
#: a file knows files of lower lines only.
MODULE = """
congestion vectors
spec_check
connection settings vector_players assumptions
loss resend startup assumptions_trial
timer resend_places base loss_model
log
state
estimators loss_classifiers resend_policies startups first_rtos
choice places
allocation counters kernel_versions log_format reading
"""
TRANSFER = "transfer\nbursts requests storm\nunusual\nsockets syns"
LAYERS = {"linux/module": MODULE, "linux/lab/guest": TRANSFER}

#: A function that begins here, `static` or nothing before it, and its name.
_FUNCTION = r"^(static\b)?[\w *]*?\b([a-z]\w*)\([^;{]*\)\n\{"

Known = dict[str, set[str]]


def known(folder: Path) -> Known:
    """Return, for each file without its suffix, the others that it includes or of which it names a
    function."""
    texts: dict[str, str] = {}
    for path in folder.glob("*.[ch]"):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        texts[path.stem] = texts.get(path.stem, "") + code
    begun = {stem: re.findall(_FUNCTION, code, re.M) for stem, code in texts.items()}
    owner = {name: stem for stem, found in begun.items() for static, name in found if not static}
    out = {}
    for stem, code in texts.items():
        words = set(re.findall(r"(?<!struct )\b\w+", code)) - {name for _, name in begun[stem]}
        included = re.findall(r'^#include "(\w+)\.[ch]"', code, re.M)
        out[stem] = {*included, *(owner[word] for word in words & owner.keys())} - {stem}
    return out


def upward(of: Known, layers: str) -> list[str]:
    """Return a line for each file that includes or calls one which is not in a lower layer."""
    lines = enumerate(layers.split("\n"))
    level = {stem: number for number, line in lines for stem in line.split()}
    return sorted(f"{a} knows {b}" for a, others in of.items() for b in others if level[b] <= level[a])


@pytest.mark.parametrize("folder", LAYERS)
def test_c_files_know_lower_layers_alone(folder: str) -> None:
    found = known(ROOT / folder)
    assert sorted(found) == sorted(LAYERS[folder].split())
    assert upward(found, LAYERS[folder]) == []


def test_an_include_and_a_call_upwards_are_seen(tmp_path: Path) -> None:
    (tmp_path / "low.c").write_text(
        '#include "low.h"\n/* top() */\nint low(void)\n{\n\treturn beside();\n}\n'
    )
    (tmp_path / "low.h").write_text('#include "top.h"\nint low(void);\n')
    (tmp_path / "beside.c").write_text("int beside(void)\n{\n\treturn low() + beside();\n}\n")
    (tmp_path / "top.h").write_text("int other(int);\n")
    found = known(tmp_path)
    assert found == {"low": {"top", "beside"}, "beside": {"low"}, "top": set()}
    assert upward(found, "top\nlow beside") == ["beside knows low", "low knows beside", "low knows top"]
