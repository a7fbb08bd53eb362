# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the variants of estimators that bench/ablation.py compares; each has one part left out or changed."""

from collections.abc import Mapping

PREDICTORS = (
    "last", "EWMA 1/8", "EWMA 1/32", "median of 5", "slow hub", "step median", "drift", "half way", "ratio",
    "map of 8", "map of 16", "affine",
)  # fmt: skip
DEFAULT = 3965
OFF = 1


Params = Mapping[str, float]
Variant = tuple[str, str, Params]  # title of the table row, estimator, parameters

TRACKING: list[Variant] = [
    ("**as it is**", "tracking", {}),
    *(
        (f"{'without' if DEFAULT >> k & 1 else 'with'} {name}", "tracking", {"predictors": DEFAULT ^ 1 << k})
        for k, name in enumerate(PREDICTORS)
    ),
    ("last, drift, ratio, map of 16 only", "tracking", {"predictors": 1 + 64 + 256 + 1024}),
    ("fixed share combines", "tracking", {"combiner": 1}),
    ("drift by outliers, short of the hub", "tracking", {"drift": 1}),
    ("one memory of regrets", "tracking", {"memory": 1}),
    ("no correction", "tracking", {"correction": OFF}),
    ("budget as first released", "tracking", {"budget": 2}),
    ("no budget", "tracking", {"budget": OFF}),
    ("no warm-up", "tracking", {"warm_up": OFF}),
    ("no dead zone", "tracking", {"dead_zone": OFF}),
    ("as first released (`tracking/first`)", "tracking/first", {}),
    ("as first studied (`tracking/study`)", "tracking/study", {}),
    ("`experts/fitted`", "experts/fitted", {}),
]
FIRST = "conformal/first"
TIMERS: list[Variant] = [
    ("**as it is**", "conformal", {}),
    ("the count steers nothing", "conformal", {"count": OFF}),
    ("not wary after a miss", "conformal", {"wary": OFF}),
    ("no treatment of steps", "conformal", {"steps": OFF}),
    ("over `tracking/first`", "conformal", {"over": 3}),
    ("width by scales", "conformal", {"width": 1}),
    ("over jacobson", "conformal", {"over": 1}),
    ("over last", "conformal", {"over": 2}),
    ("once a flight (`conformal/at-send`)", "conformal/at-send", {}),
    ("as first released (`conformal/first`)", FIRST, {}),
    ("that, no integral", FIRST, {"integral": OFF}),
    ("that, no treatment of steps", FIRST, {"steps": OFF}),
]
FITTED = "experts/fitted"
EXPERTS: list[Variant] = [
    ("`experts/fitted`", FITTED, {}),
    ("variable share", FITTED, {"share": 1}),
    ("mixing past", FITTED, {"share": 2}),
    *(
        (f"{label}{', ' + how if how else ''}", FITTED, {**params, "share": share})
        for label, params in (
            ("squared loss", {"loss": 1}),
            ("absolute", {"loss": 3}),
            ("linear, too low costs twice", {"loss": 2, "under": 2}),
            ("pinball, 0.9", {"loss": 4, "quantile": 0.9}),
        )
        for share, how in enumerate(("", "variable share", "mixing past"))
    ),
]
