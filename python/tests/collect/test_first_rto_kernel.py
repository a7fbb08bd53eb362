# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The first RTO on this machine's kernel, by the sock_ops program: when SYNs that are lost are sent again."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import sock_ops
from emulated_network import Place, network
from first_rto_trial import SHIPPED, connected

from tcplearn.learn.rtt.model import Model

pytestmark = pytest.mark.skipif(bool(sock_ops.missing()), reason=sock_ops.missing())
#: Its first handshake is answered, and no other.
PLACE = Place(hops=2, rtt_ms=60, handshake_loss=1.0, clean_syns=1)


def gaps_ms(folder: Path, model: Model | None, place: Place, count: int) -> list[float]:
    """Between the SYNs of the last connection with a place."""
    with network([place], folder) as made:
        if model is None:
            rows = connected(made, None, count, 2.5)
        else:
            with sock_ops.Group(folder, model) as group:
                rows = connected(made, group, count, 2.5)
        port = rows[-1][2]
        times_s = [when for when, _, other in made.handshakes()["seen"] if other == port]
    return [1000 * (later - earlier) for earlier, later in itertools.pairwise(times_s)]


def test_stock_waits_a_second(tmp_path: Path) -> None:
    assert 940 <= gaps_ms(tmp_path, None, PLACE, 2)[0] < 1500  # a busy machine answers late


def test_a_known_place_is_sent_to_again_soon(tmp_path: Path) -> None:
    """1.43 times the 60 ms of the handshake before, in ticks of 4 ms and by a timer that may be late."""
    first_ms = gaps_ms(tmp_path, SHIPPED, PLACE, 2)[0]
    assert 80 <= first_ms < 500  # stock has 1,000; a busy machine answers late


def test_a_place_never_seen_has_the_constant(tmp_path: Path) -> None:
    steps = {**SHIPPED.steps, "nothing": {"constant_us": 300_000.0}}
    first_ms = gaps_ms(tmp_path, replace(SHIPPED, steps=steps), replace(PLACE, clean_syns=0), 1)[0]
    assert 296 <= first_ms < 800


def test_a_wrong_model_gets_longer_where_its_syns_were_for_nothing(tmp_path: Path) -> None:
    """20 ms for a path of 60: the first connection resends for nothing, and the place is in doubt."""
    steps = dict.fromkeys(SHIPPED.steps) | {"nothing": {"constant_us": 20_000.0}}
    wrong = replace(SHIPPED, steps=steps)
    first_ms = gaps_ms(tmp_path, wrong, PLACE, 2)[0]
    assert 76 <= first_ms < 500
