# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds the small form of a command that a page shows. A command without a row in the tables is run as
printed."""

from __future__ import annotations

import re

from form import Form
from other_forms import BENCH, BUILDS, OTHERS, VECTORS
from tcplearn_forms import LAB, REPLAY, SIMULATIONS, TRAINING

FORMS = (*REPLAY, *SIMULATIONS, *LAB, *TRAINING, *BENCH, *VECTORS, *BUILDS, *OTHERS)

_SYSTEM = "changes the system that tests run on"
_MODULE = "acts on the running kernel; test_install.py tries it on a machine of files, `lab check` in a guest"
#: What is not run at all: the whole command, and why.
NOT_RUN = {
    r"apt-get (install|purge) .*": _SYSTEM,
    r"apt-get source ns2": "downloads another project's source",
    r"python -m experiments\.tambuwal2018\.packmime \S+": "reads that source",
    r"python -m experiments\.families": "writes tracked files; test_families.py compares them with the draw",
    r"python -m experiments\.baddam2018\.logs \S+": "reads another project's repository",
    r"tcplearn module (install|remove|loss mlp:model=\S+)": _MODULE,
    r"dkms .*|rmmod tcplearn|modprobe \w+|insmod \S+|make -C linux/module": _MODULE,
    r"rm -r /usr/src/tcplearn-\S+": _MODULE,
    r"sysctl net\.ipv4\.tcp_congestion_control=cubic": _SYSTEM,
    r"ssh router .*": "another machine; the command behind the pipe is run",
    r"tcplearn lab shell \S+": "needs a person at a terminal",
}


def is_not_run(command: str) -> bool:
    return any(re.fullmatch(pattern, command) for pattern in NOT_RUN)


def form_of(command: str) -> Form | None:
    return next((form for form in FORMS if re.fullmatch(form.shown, command)), None)


def small(command: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the small forms that `make test` and that `make test-full` run for `command`."""
    if is_not_run(command):
        return (), ()
    form = form_of(command)
    if form is None:
        return (command,), ()
    return tuple(
        tuple(_expanded(form.shown, template, command) for template in templates)
        for templates in (form.runs, form.full)
    )  # type: ignore[return-value]


def _expanded(pattern: str, template: str, command: str) -> str:
    """Return `template` with the groups that `pattern` finds in `command`. No other escapes are replaced."""
    match = re.fullmatch(pattern, command)
    assert match
    return re.sub(r"\\([1-9])", lambda of: match[int(of[1])] or "", template)
