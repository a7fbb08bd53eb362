# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""List the test cases of the RTT estimators: each estimator and preset on each series, and variants with
other parameters. This file has the cases of double_reference.py and fixed_reference.py; every other file
..._reference.py has its own CASES. Default parameters are those of the papers and RFCs, as listed in
docs/algorithms."""

from importlib import import_module
from pathlib import Path

import double_reference as d
import fixed_reference as f
from defaults import BOUNDS, JACOBSON, LAST

LINUX = {"variance_floor_us": 200_000, "rto_initial_us": 1_000_000, "rto_max_us": 120_000_000}
RFC9002 = {"granularity_us": 1000, "max_ack_delay_us": 25_000, "rtt_initial_us": 333_000}
EIFEL = {"segments_per_ack": 1, "gain_max": "1/3", "tick_us": 1, **BOUNDS}
EXPERTS = {
    "n": 100, "eta": 2, "alpha": 0.08, "share": 0, "loss": 0, "over": 1, "under": 1, "quantile": 0.5,
    "tick_us": 500_000, "scale": 1,
    "rtt_min": 1, "rtt_max": 128, "per_octave": 4, "fit": 0, "variance": 0, "beta": 0.25, "k": 4,
    "rto_initial_us": 1_000_000, "rto_min_us": 1_000_000, "rto_max_us": 32_000_000,
    "quantum_us": 0, "sampling": 0,
}  # fmt: skip
FITTED = {**EXPERTS, "fit": 16, "per_octave": 16, "rto_min_us": 0, "rto_max_us": 60_000_000}
EXPERTS_4MS = {
    **EXPERTS, "tick_us": 4000, "rtt_max": 2000, "variance": 1,
    "rto_initial_us": 3_000_000, "rto_min_us": 200_000, "rto_max_us": 120_000_000,
}  # fmt: skip


def linreg(b0, b1=0, b2=0, b3=0, b4=0, error=0, error_times=1):
    return {
        "b0_ms": b0, "b1_hops_ms": b1, "b2_min": b2, "b3_max": b3, "b4_ttl_ms": b4, "error": error,
        "error_times": error_times,
        "hops": 12, "ttl": 52, "rto_initial_us": 1_000_000, "rto_max_us": 120_000_000,
    }  # fmt: skip


CUBIC = (-0.52218434, 0.01509783, 0.58899585, 0.41376639, 0.00157301)
RENO = (0.12877645, -0.01079089, 0.9933091, 0.04338126, -0.00311428)
VEGAS = (-0.34314743, 0.00493765, 0.6949473, 0.3145146, 0.00192231)

EVERY = "wan tiny large equal falling rising extremes sawtooth hour flights"
# name: (class for double, class for fixed point, parameters, variants). The class for fixed point is None
# if double gives the same whole microseconds. A variant is (names of series, parameters that differ).
ESTIMATORS = {
    "last": (d.Last, f.Last, LAST, [("wan", {"beta": 0.5, "k": 8, "rto_min_us": 200_000})]),
    "jacobson": (d.Jacobson, f.Jacobson, JACOBSON, [
        ("flights wan", {"sampling": 1}),
        ("wan tiny", {"quantum_us": 10_000}),
        ("flights falling", {"sampling": 2, "quantum_us": 20_000}),
        ("falling large", {"alpha": 0.5, "beta": 0.01, "k": 2.5}),
        ("wan", {"alpha": 0, "granularity_us": 100_000, "rto_initial_us": 3_000_000}),
    ]),
    "jacobson/rfc6298": (d.Jacobson, f.Jacobson, {**JACOBSON, "rto_min_us": 1_000_000}, []),
    "jacobson/nunes2014": (
        d.Jacobson, f.Jacobson,
        {**JACOBSON, "granularity_us": 0, "rto_min_us": 1_000_000, "rto_max_us": 32_000_000},
        [("extremes rising", {"quantum_us": 500_000, "sampling": 1})],
    ),
    "linux": (d.Linux, f.Linux, LINUX, [("wan flights falling", {"variance_floor_us": 0})]),
    "linux/floor-5ms": (d.Linux, f.Linux, {**LINUX, "variance_floor_us": 5000}, []),
    "rfc9002": (d.Rfc9002, f.Rfc9002, RFC9002, [
        ("wan falling", {"max_ack_delay_us": 3000, "granularity_us": 60_000, "rtt_initial_us": 100_000}),
    ]),
    "eifel": (d.Eifel, f.Eifel, EIFEL, [
        ("wan flights rising", {"segments_per_ack": 2}),
        ("wan large", {"gain_max": 0.001, "tick_us": 10_000}),
        ("tiny falling", {"gain_max": 1}),
    ]),
    "experts": (d.Experts, f.Experts, EXPERTS, [
        ("extremes large", {"loss": 1}),
        ("extremes large wan", {"loss": 2, "over": 0.5, "under": 3}),
        ("extremes", {"alpha": 0}),
        ("extremes wan", {"eta": 0}),
        ("extremes large", {"eta": 0.0001, "alpha": 0.001}),
        ("wan sawtooth", {"tick_us": 4000, "scale": 2, "variance": 1}),
        ("wan large", {"n": 10, "per_octave": 1, "rtt_min": 0.5, "rtt_max": 2000}),
        ("flights", {"sampling": 1, "tick_us": 5000}),
        ("extremes", {"quantum_us": 500_000}),
        ("extremes flights", {"quantum_us": 500_000, "sampling": 2}),
        ("large", {"tick_us": 1_000_000_000, "scale": 1000}),
        ("wan", {"n": 1000, "per_octave": 256, "tick_us": 1000}),
        ("extremes large wan", {"loss": 3, "tick_us": 4000}),
        ("extremes large wan", {"loss": 4, "quantile": 0.9, "tick_us": 4000}),
        ("extremes large", {"loss": 4, "quantile": 1, "eta": 64}),
        ("wan extremes large falling", {"share": 1, "tick_us": 4000}),
        ("wan extremes", {"share": 1, "alpha": 0}),
        ("flights tiny", {"share": 1, "alpha": 0.999, "loss": 2, "over": 0.5, "under": 3, "tick_us": 1000}),
        ("wan extremes large falling", {"share": 2, "tick_us": 4000}),
        ("wan extremes", {"share": 2, "alpha": 0}),
        ("sawtooth flights", {"share": 2, "alpha": 0.999, "n": 17, "tick_us": 1000}),
    ]),
    "experts/fitted": (d.Experts, f.Experts, FITTED, [
        ("wan sawtooth", {"loss": 1, "eta": 0.5}),
        ("large", {"fit": 1}),
        ("extremes", {"fit": 1, "rtt_min": 48, "rtt_max": 2000}),  # the RTTs reach the largest expert
        ("wan rising", {"alpha": 0.3, "variance": 1, "k": 2}),
        ("sawtooth flights", {"loss": 2, "over": 0.25, "under": 1, "n": 20}),
        ("extremes rising", {"share": 2, "fit": 1}),
        ("sawtooth rising", {"share": 1, "loss": 3, "eta": 0.5}),
    ]),
    "experts/nunes2014-4ms": (d.Experts, f.Experts, EXPERTS_4MS, [("extremes flights", {"rtt_max": 128})]),
    "linreg": (d.Linreg, f.Linreg, linreg(*CUBIC), [
        ("wan tiny", {"b1_hops_ms": 2.5, "hops": 3, "ttl": 200}),
        ("wan rising", {"error_times": 3}),
    ]),
    "linreg/magnitude": (d.Linreg, f.Linreg, linreg(*CUBIC, error=1), []),
    "linreg/no-error": (d.Linreg, f.Linreg, linreg(*CUBIC, error=2), []),
    "linreg/reno": (d.Linreg, f.Linreg, linreg(*RENO), []),
    "linreg/reno-magnitude": (d.Linreg, f.Linreg, linreg(*RENO, error=1), []),
    "linreg/reno-no-error": (d.Linreg, f.Linreg, linreg(*RENO, error=2), []),
    "linreg/vegas": (d.Linreg, f.Linreg, linreg(*VEGAS), []),
    "linreg/vegas-magnitude": (d.Linreg, f.Linreg, linreg(*VEGAS, error=1), []),
    "linreg/vegas-no-error": (d.Linreg, f.Linreg, linreg(*VEGAS, error=2), []),
    "linreg/kernel": (d.Linreg, f.Linreg, linreg(9, error=3, error_times=2), []),
    "linreg/reno-kernel": (d.Linreg, f.Linreg, linreg(93, error=3), []),
    "linreg/vegas-kernel": (d.Linreg, f.Linreg, linreg(93, error=3, error_times=2), []),
}  # fmt: skip
for path in sorted(Path(__file__).parent.glob("*_reference.py")):
    ESTIMATORS |= getattr(import_module(path.stem), "CASES", {})


def cases_of(name):
    """Yield, for each test case of estimator `name`, the name of the series and the parameters that are not
    defaults."""
    for series in EVERY.split():
        yield series, {}
    for several, changed in ESTIMATORS[name][3]:
        for series in several.split():
            yield series, changed


def references(name, changed):
    """Return two reference estimators for `name` with the parameters `changed`: in double precision and in
    fixed point. The second is None if both would give the same whole microseconds."""
    double, fixed, defaults, _ = ESTIMATORS[name]
    p = {**defaults, **changed}
    as_double = {k: 1 / 3 if v == "1/3" else v for k, v in p.items()}
    return double(as_double), fixed(p) if fixed else None
