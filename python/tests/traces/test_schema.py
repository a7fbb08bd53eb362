# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the columns of a batch, which readers and engine take from one list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcplearn import _native
from tcplearn.traces import schema

GIVEN = {"time_us": [5, 9], "sent_us": [1, 4], "rtt_us": [4, 5], "armed_us": [1, 5], "head_sent_us": [1, 4]}


def test_defaults_and_types_are_filled_in() -> None:
    b = schema.batch(GIVEN | {"flow": [0, 0], "ttl": [52, 52]}, ended=[0])
    assert list(b) == [*schema.COLUMNS, "ended"]
    assert all(b[name].dtype == kind for name, kind in schema.COLUMNS.items())
    assert b["flight_segments"].tolist() == [1, 1] and b["ttl"].tolist() == [52, 52]
    assert b["ended"].tolist() == [0]
    assert "ack_delay_us" in schema.batch(GIVEN | {"flow": [0, 0], "ack_delay_us": [0, 1]})
    assert all(len(column) == 0 for column in schema.empty_batch().values())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, "column flow is missing"),
        ({"flow": [0]}, "column flow differs in length"),
        ({"flow": [0, 0], "ttl": [[52], [52]]}, "column ttl differs in length"),
        ({"flow": [0, 0], "tll": [0, 0]}, "no such column: tll"),
    ],
)
def test_what_is_no_batch(more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        schema.batch(GIVEN | more)


def test_every_column_says_what_it_means() -> None:
    assert set(schema.MEANINGS) == {*schema.COLUMNS, *schema.OPTIONAL}
    assert all(schema.MEANINGS.values())
    assert set(schema.DEFAULTS) <= set(schema.MEANINGS)


def metrics(b: schema.Columns) -> Any:
    engine = _native.ReplayEngine([("jacobson", "double", {}), ("rfc9002", "double", {})])
    engine.feed(b)
    return engine.finish(0).metrics()


def test_the_engine_reads_a_missing_column_as_its_default() -> None:
    b = schema.batch(GIVEN | {"flow": [0, 0]})
    full = b | {name: np.full(2, schema.DEFAULTS[name], kind) for name, kind in schema.OPTIONAL.items()}
    required = {name: b[name] for name in schema.COLUMNS if name not in schema.DEFAULTS}
    assert metrics(b) == metrics(full) == metrics(required)


@pytest.mark.parametrize(
    ("name", "column", "why"),
    [
        ("armed_us", None, "column armed_us is missing"),
        ("ttl", np.zeros(3, np.uint8), "column ttl differs in length"),
        ("flow", np.zeros(2, np.float32), "column flow is not an array of uint32"),
    ],
)
def test_what_the_engine_refuses(name: str, column: Any, why: str) -> None:
    b = schema.batch(GIVEN | {"flow": [0, 0]})
    if column is None:
        del b[name]
    else:
        b[name] = column
    with pytest.raises(ValueError, match=why):
        metrics(b)
