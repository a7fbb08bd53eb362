# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Provides the guest of the lab's tests, and results of one boot that several tests use."""

from __future__ import annotations

from collections.abc import Iterator

import kept_guests
import pytest

from tcplearn.lab import check, machine


@pytest.fixture(autouse=True, scope="session")
def guests_are_kept() -> Iterator[None]:
    """Reuse the stored output of a guest if all its inputs are unchanged (kept_guests.py)."""
    with pytest.MonkeyPatch.context() as patch:
        run = kept_guests.keeping(machine.run)
        patch.setattr(machine, "run", run)
        patch.setattr(check, "run_in_guest", run)
        yield


@pytest.fixture(scope="session")
def ready() -> machine.Machine:
    """Return the guest with the kernel module, from the user's cache. They are built at most once a day."""
    return machine.prepare(machine.cache_folder())


@pytest.fixture(scope="session")
def with_python() -> machine.Machine:
    """Return the guest with Python and the programs that users run."""
    return machine.prepare(machine.cache_folder(), programs=True)


@pytest.fixture(scope="session")
def compared_vectors(ready: machine.Machine) -> list[str]:
    """Return the lines that state how many golden vectors of each kind the kernel compared, from one boot.
    Tests that use this fixture are in the group `kernel-vectors`, so that one process of pytest-xdist boots
    it."""
    return check.check_vectors(ready)
