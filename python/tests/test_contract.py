# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the properties that every estimator must have. Estimators of the core, presets and a user's own are
found automatically."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest

from samples import ROOT, batch, series
from tcplearn import _native, estimators
from tcplearn.cli import main
from tcplearn.errors import UserError

CORE = [info.name for info in estimators.available() if info.core]
#: The kernels that the authors of baddam2018 ran: they predict the same, whatever the samples are.
CONSTANT = {"linreg/kernel", "linreg/reno-kernel", "linreg/vegas-kernel"}


def sample(k: int, rtt_us: int) -> dict[str, int]:
    return {
        "time_us": 100_000 * (k + 1),
        "sent_us": 100_000 * (k + 1) - rtt_us,
        "flight_segments": 3,
        "ttl": 52,
    }


def feed(estimator: estimators.CoreEstimator | estimators.WithTimer, rtts: np.ndarray) -> None:
    for k, rtt in enumerate(rtts.tolist()):
        estimator.learn_one(sample(k, rtt), rtt)


@pytest.mark.parametrize("arithmetic", ["double", "fixed"])
@pytest.mark.parametrize("name", CORE)
class TestEveryEstimator:
    def test_answers_are_finite_and_repeatable(self, name: str, arithmetic: str) -> None:
        one, two = estimators.create(name, arithmetic), estimators.create(name, arithmetic)
        for k, rtt in enumerate(series(1).tolist()):
            for e in (one, two):
                e.learn_one(sample(k, rtt), rtt)
            assert math.isfinite(one.predict_one(sample(k, rtt)))
            assert one.rto_one(sample(k, rtt)) > 0
        assert one.predict_one({}) == two.predict_one({})
        assert one.rto_one({}) == two.rto_one({})

    def test_columns_equal_steps(self, name: str, arithmetic: str) -> None:
        b = batch(2)
        native = _native.Estimator(name, arithmetic)
        rtt, rto = native.run(
            b["rtt_us"], b["time_us"], b["sent_us"], flight_segments=b["flight_segments"], ttl=b["ttl"]
        )
        stepped = _native.Estimator(name, arithmetic)
        for k in range(len(rtt)):
            assert (stepped.rtt_us, stepped.rto_us) == (rtt[k], rto[k])
            if b["rtt_us"][k] >= 0:
                stepped.update(
                    int(b["rtt_us"][k]), int(b["time_us"][k]), int(b["sent_us"][k]), flight_segments=5, ttl=52
                )

    def test_a_copy_goes_its_own_way(self, name: str, arithmetic: str) -> None:
        one = _native.Estimator(name, arithmetic)
        one.update(50_000, 100_000, 50_000)
        two = copy.copy(one)
        before = one.rtt_us, one.rto_us
        for k in range(20):
            two.update(4_000_000, 5_000_000 * (k + 2), 5_000_000 * (k + 2) - 4_000_000)
        assert (one.rtt_us, one.rto_us) == before
        assert (two.rtt_us, two.rto_us) != before

    def test_follows_a_lasting_change(self, name: str, arithmetic: str) -> None:
        low, high = estimators.create(name, arithmetic), estimators.create(name, arithmetic)
        feed(low, np.full(200, 2_000_000))
        feed(high, np.full(200, 8_000_000))
        if name in CONSTANT:
            assert high.predict_one({}) == low.predict_one({})
        else:
            assert high.predict_one({}) > low.predict_one({})


@pytest.mark.parametrize("name", CORE)
def test_fixed_point_is_within_a_thousandth_of_the_rtt(name: str) -> None:
    for seed in range(5):
        b = batch(seed, 1000)
        args = (b["rtt_us"], b["time_us"], b["sent_us"])
        exact, _ = _native.Estimator(name, "double").run(*args, flight_segments=b["flight_segments"])
        fixed, _ = _native.Estimator(name, "fixed").run(*args, flight_segments=b["flight_segments"])
        sampled = b["rtt_us"] > 0
        worst = np.max(np.abs(exact - fixed)[sampled] / b["rtt_us"][sampled])
        assert worst < 1e-3, f"seed {seed}: {worst:.2e} of the RTT"


@pytest.mark.parametrize("name", CORE)
def test_every_parameter_can_be_set(name: str) -> None:
    info = next(i for i in estimators.available() if i.name == name)
    for p in info.params:
        assert p.low <= p.default <= p.high, p.key
        text = p.choices[int(p.default)] if p.choices else repr(p.default)
        estimators.create(f"{name}:{p.key}={text}")
        with pytest.raises(UserError, match="it takes"):
            estimators.create(f"{name}:{p.key}={p.high * 2 + 1}")
        with pytest.raises(UserError):
            estimators.create(f"{name}:{p.key}=nan")


@pytest.mark.parametrize("name", CORE)
def test_every_estimator_has_a_page(name: str) -> None:
    page = ROOT / "docs" / "algorithms" / f"{name.split('/')[0]}.md"
    assert page.is_file(), f"write {page.relative_to(ROOT)}"
    assert name in page.read_text(), f"{page.name} does not name {name}"


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="jacobson"):
        estimators.parse("jacobsen")
    with pytest.raises(UserError, match="alpha"):
        estimators.parse("jacobson:alhpa=0.1")
    with pytest.raises(UserError, match="not key=value"):
        estimators.parse("jacobson:alpha")


class TestUsersEstimator:
    def test_is_found_by_entry_point(self, installed_example: str) -> None:
        e = estimators.create("running-median:window=3")
        feed(e, np.array([10_000, 30_000, 20_000]))
        assert e.predict_one(sample(3, 1)) == 20_000
        assert e.rto_one(sample(3, 1)) > 20_000

    def test_is_listed(self, installed_example: str) -> None:
        names = list(estimators._users())
        assert installed_example in names

    def test_that_does_not_load_says_so(self, installed_example: str) -> None:
        with pytest.raises(UserError, match="does not load"):
            estimators.create("broken")

    def test_is_compared_by_default(
        self, installed_example: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        trace = tmp_path / "a.csv"
        trace.write_text("t_s,rtt_ms\n" + "".join(f"{i / 10},{20 + i % 7}\n" for i in range(40)))
        for words, wanted in (
            ((), (*estimators.DEFAULTS, installed_example)),
            (("--all",), (*estimators.ALL, installed_example)),
            (("-e", "last"), ("last",)),
        ):
            assert main(["replay", str(trace), "-q", "--format", "json", *words]) == 0
            out, err = capsys.readouterr()
            assert tuple(row["estimator"] for row in json.loads(out)) == wanted
            assert ("estimator 'broken'" in err) == (words != ("-e", "last")) and err.count("\n") <= 1
