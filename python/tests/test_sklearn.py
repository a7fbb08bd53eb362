# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
from __future__ import annotations

import numpy as np
import pytest

from samples import batch
from tcplearn import _native

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
from sklearn.base import clone

from tcplearn.compat.sklearn import RttRegressor


def test_predicts_what_the_core_predicts() -> None:
    b = batch(3)
    sampled = b["rtt_us"] > 0
    x = np.stack([b["time_us"], b["sent_us"], b["flight_segments"], b["ttl"]], axis=1)[sampled]
    y = b["rtt_us"][sampled]
    regressor = clone(RttRegressor("experts/fitted")).fit(x[:100], y[:100]).partial_fit(x[100:], y[100:])
    core = _native.Estimator("experts/fitted")
    for row, rtt in zip(x.tolist(), y.tolist(), strict=True):
        core.update(rtt, row[0], row[1], flight_segments=row[2], ttl=row[3])
    assert regressor.predict(x[:3]).tolist() == [core.rtt_us] * 3


def test_wrong_shape_is_told() -> None:
    with pytest.raises(ValueError, match="columns are time_us"):
        RttRegressor().fit(np.zeros((3, 1)), np.ones(3))
