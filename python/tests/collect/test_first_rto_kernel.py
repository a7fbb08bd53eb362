# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the first RTO that the sock_ops program sets on this machine's kernel, by the times at which lost SYNs
are sent again."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import replace

import pytest
import sock_ops
from emulated_network import Place, network
from first_rto_trial import SHIPPED, connecting, rows_of

from tcplearn.learn.rtt.model import Model

pytestmark = pytest.mark.skipif(bool(sock_ops.missing()), reason=sock_ops.missing())
NO_STEPS = dict.fromkeys(SHIPPED.steps)
CONSTANT = replace(SHIPPED, steps={**SHIPPED.steps, "nothing": {"constant_us": 300_000.0}})
WRONG = replace(SHIPPED, steps=NO_STEPS | {"nothing": {"constant_us": 20_000.0}})
#: Its first handshake is answered, and no other.
PLACE = Place(hops=2, rtt_ms=60, handshake_loss=1.0, clean_syns=1)
#: The model, a place of its own, how many connections.
CASES: dict[str, tuple[Model | None, Place, int]] = {
    "stock": (None, PLACE, 2),
    "known": (SHIPPED, replace(PLACE, hops=3), 2),
    "never seen": (CONSTANT, replace(PLACE, clean_syns=0), 1),
    "wrong": (WRONG, replace(PLACE, hops=4), 2),
}


@pytest.fixture(scope="module")
def gaps_ms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """Return, by name of the case, the times in ms between the SYNs of the last connection to the case's
    place. All cases run at the same time."""
    with contextlib.ExitStack() as stack:
        folder = tmp_path_factory.mktemp("network")
        made = stack.enter_context(network([place for _, place, _ in CASES.values()], folder))
        running = {}
        for name, (model, place, count) in CASES.items():
            own = tmp_path_factory.mktemp("group")
            group = stack.enter_context(sock_ops.Group(own, model)) if model else None
            running[name] = connecting(made, group, [place], count, 2.5)
        ports = {name: rows_of(process)[-1][2] for name, process in running.items()}
        seen = made.handshakes()["seen"]
        times_s = {
            name: [when for when, to, port in seen if (to, port) == (made.address(place), ports[name])]
            for name, (_, place, _) in CASES.items()
        }
    return {
        name: [1000 * (later - earlier) for earlier, later in itertools.pairwise(times)]
        for name, times in times_s.items()
    }


def test_stock_waits_a_second(gaps_ms: dict[str, list[float]]) -> None:
    assert 940 <= gaps_ms["stock"][0] < 1500  # a busy machine answers late


def test_a_known_place_is_sent_to_again_soon(gaps_ms: dict[str, list[float]]) -> None:
    """Test that the first RTO is 1.43 times the RTT of the handshake before, which is 60 ms. The limits allow
    for ticks of 4 ms and a late timer."""
    assert 80 <= gaps_ms["known"][0] < 500  # stock has 1,000; a busy machine answers late


def test_a_place_never_seen_has_the_constant(gaps_ms: dict[str, list[float]]) -> None:
    assert 296 <= gaps_ms["never seen"][0] < 800


def test_a_wrong_model_gets_longer_where_its_syns_were_for_nothing(gaps_ms: dict[str, list[float]]) -> None:
    """Test a model that sets 20 ms for a path of 60 ms. The first connection resends its SYN needlessly, and
    the next connection to this place gets a longer first RTO."""
    assert 76 <= gaps_ms["wrong"][0] < 500
