# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The guest of the lab's tests, and what one boot of it answers for several of them."""

from __future__ import annotations

from collections.abc import Iterator

import kept_guests
import pytest

from tcplearn.lab import check, machine


@pytest.fixture(autouse=True, scope="session")
def guests_are_kept() -> Iterator[None]:
    """Boots no guest again whose every input is as it was (kept_guests.py)."""
    with pytest.MonkeyPatch.context() as patch:
        run = kept_guests.keeping(machine.run)
        patch.setattr(machine, "run", run)
        patch.setattr(check, "run_in_guest", run)
        yield


@pytest.fixture(scope="session")
def ready() -> machine.Machine:
    """The guest and the module, where the user's own runs keep them too: made once a day."""
    return machine.prepare(machine.cache_folder())


@pytest.fixture(scope="session")
def with_python() -> machine.Machine:
    """The guest with Python and the users' programs."""
    return machine.prepare(machine.cache_folder(), programs=True)


@pytest.fixture(scope="session")
def compared_vectors(ready: machine.Machine) -> list[str]:
    """Lines that say which golden vectors of each kind one boot of the kernel compared. Tests that use it are
    of the group `kernel-vectors`, so that one process of pytest-xdist boots it."""
    return check.check_vectors(ready)
