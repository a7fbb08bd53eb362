# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `tcplearn live observe` says of its counts, without a kernel."""

from __future__ import annotations

import pytest

from tcplearn.live import sessions

NONE = dict.fromkeys(sessions.meanings(), 0)
SOME = NONE | {"connections": 3, "rounds": 500}
LOSSY = SOME | {"resent_needed": 20, "saved_us": 2_400_000}


@pytest.mark.parametrize(
    ("counts", "would", "advised"),
    [
        (NONE, "no connection was opened in this time", "next: observe for longer, or while clients connect"),
        (SOME, "no packet was retransmitted by a timer", "next: observe for longer; no wait"),
        (
            LOSSY,
            "learned floors would have spared about 2.4 s of waiting in 20 rounds with a loss; no answer",
            "next: `tcplearn live start --unit web` sets learned floors for 1 %",
        ),
        (
            LOSSY | {"rounds_late": 2},
            "learned floors would have spared about 2.4 s of waiting in 20 rounds with a loss, and caused a "
            "spurious retransmission in 2 of 500 rounds",
            "next: `tcplearn live start --unit web` sets learned floors for 1 %",
        ),
    ],
)
def test_each_result_has_its_sentence_and_what_to_type_next(
    counts: dict[str, int], would: str, advised: str
) -> None:
    assert sessions.would(counts).startswith(would)
    assert sessions.advised(counts, "--unit web").startswith(advised)


def test_of_the_whole_machine() -> None:
    assert sessions.advised(LOSSY, "").startswith("next: `tcplearn live start` sets")
    assert sessions.advised(LOSSY, "").endswith("`tcplearn live stop` undoes it")
