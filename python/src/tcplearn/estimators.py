# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find RTT estimators by name: those of the C core, and the user's own, which are classes under the entry
point group ``tcplearn.estimators`` with these methods::

    def learn_one(self, x: Mapping[str, int], y: float) -> None   # x: the sample, y: its RTT in us
    def predict_one(self, x: Mapping[str, int]) -> float          # the next RTT in us
    def rto_one(self, x: Mapping[str, int]) -> float              # optional: the RTO in us
    learned = False                                               # optional: for a fixed formula

The constructor takes the estimator's parameters as keywords. Without ``rto_one``, the RTO is the prediction
plus the variance term of RFC 6298, computed from the estimator's own errors.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import math
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tcplearn import _native, algorithms
from tcplearn.algorithms import Info as Info
from tcplearn.algorithms import Param as Param
from tcplearn.algorithms import Spec as Spec
from tcplearn.errors import UserError, did_you_mean, printable

GROUP = "tcplearn.estimators"
#: The most characters of a user's text in an error message, as many as the core's TL_LINE_QUOTE_MAX.
_QUOTED = 40

#: The estimators that a replay compares by default: the last sample; RFC 6298 without its minimum RTO
#: (`jacobson`, to which the results of all others are given as ratios) and with it; Linux's; and this
#: project's `tracking` and `conformal`.
DEFAULTS = ("last", "jacobson", "jacobson/rfc6298", "linux", "tracking", "conformal")
#: Every algorithm with default parameters, and the other versions that papers describe.
ALL = (
    "last",
    "jacobson",
    "jacobson/rfc6298",
    "linux",
    "rfc9002",
    "eifel",
    "experts",
    "experts/fitted",
    "experts/nunes2014-linux",
    "linreg",
    "linreg/magnitude",
    "tracking",
    "conformal",
    "conformal/at-send",
)


@runtime_checkable
class OnlineEstimator(Protocol):
    def learn_one(self, x: Mapping[str, int], y: float) -> None: ...
    def predict_one(self, x: Mapping[str, int]) -> float: ...


class CoreEstimator:
    """An RTT estimator of the C core that takes samples one by one. All times are in microseconds."""

    def __init__(self, name: str, arithmetic: str = "double", **params: float) -> None:
        """Raise ValueError for an unknown name, parameter or arithmetic ("double" or "fixed")."""
        self.name, self.arithmetic, self.params = name, arithmetic, params
        self._state = _native.Estimator(name, arithmetic, params)

    def learn_one(self, x: Mapping[str, int], y: float) -> None:
        """Take one RTT sample of `y` microseconds. `x` has time_us (when the ACK arrived) and sent_us
        (when the segment was sent), and if known ack_delay_us, flight_segments, ttl and hops."""
        known = {key: x[key] for key in ("ack_delay_us", "flight_segments", "ttl", "hops") if key in x}
        self._state.update(round(y), x["time_us"], x["sent_us"], **known)

    def predict_one(self, x: Mapping[str, int] | None = None) -> float:
        """Return the predicted next RTT in microseconds. Before the first sample, return 0 or the estimator's
        initial value. `x` is not used."""
        return float(self._state.rtt_us)

    def rto_one(self, x: Mapping[str, int] | None = None) -> float:
        return float(self._state.rto_us)


class WithTimer:
    """A user's estimator with an RTO: that of its method rto_one or, without one, its prediction plus four
    times its mean absolute error (RFC 6298, 2.3)."""

    INITIAL_RTO_US = 1e6  # RFC 6298, 2.1
    MAX_RTO_US = 60e6  # RFC 6298, 2.5

    def __init__(self, inner: OnlineEstimator) -> None:
        self.inner = inner
        self._own = getattr(inner, "rto_one", None)
        self._variance_us: float | None = None

    def learn_one(self, x: Mapping[str, int], y: float) -> None:
        if self._variance_us is None:
            self._variance_us = y / 2
        else:
            self._variance_us += (abs(y - self.predict_one(x)) - self._variance_us) / 4
        self.inner.learn_one(x, y)

    def predict_one(self, x: Mapping[str, int]) -> float:
        return float(self.inner.predict_one(x))

    def rto_one(self, x: Mapping[str, int]) -> float:
        if self._own is not None:
            return float(self._own(x))
        if self._variance_us is None:
            return self.INITIAL_RTO_US
        return min(self.predict_one(x) + 4 * self._variance_us, self.MAX_RTO_US)


def _plain(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _core() -> Mapping[str, Info]:
    return algorithms.by_name(algorithms.ESTIMATOR)


@cache
def _users() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _load(name: str) -> Any:
    try:
        return _users()[name].load()
    except Exception as error:
        raise UserError(f"estimator '{name}' ({_users()[name].value}) does not load: {error}") from error


def _user_info(name: str) -> Info:
    factory = _load(name)
    params = tuple(
        Param(p.name, _plain(p.default), -float("inf"), float("inf"), (), "")
        for p in inspect.signature(factory).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    )
    summary = (inspect.getdoc(factory) or "your own").splitlines()[0]
    return Info(name, summary, params, core=False, learned=bool(getattr(factory, "learned", True)))


def installed() -> tuple[list[str], list[str]]:
    """Return the names of the user's estimators that need no parameters, and an error message for each of the
    user's estimators that cannot be created."""
    names, problems = [], []
    for name in _users():
        if name in _core():
            continue
        try:
            create(name)
        except UserError as error:
            problems.append(str(error))
        except Exception as error:
            problems.append(f"estimator '{name}' raised {type(error).__name__}: {error}")
        else:
            names.append(name)
    return names, problems


def learned(text: str) -> bool:
    """Return whether the estimator `text` learns: False for a fixed formula, True for a learned or an unknown
    estimator."""
    name = text.partition(":")[0]
    if name in _core():
        return _core()[name].learned
    return _user_info(name).learned if name in _users() else True


def available() -> list[Info]:
    """Return all estimators: those of the C core, including presets, and then the user's own."""
    return [*_core().values(), *(_user_info(name) for name in _users() if name not in _core())]


def _value(name: str, key: str, text: str) -> float:
    """Return `text` as the value of parameter `key` of a user's estimator. Raise UserError."""
    with contextlib.suppress(ValueError):
        if math.isfinite(value := float(text)):
            return value
    raise UserError(f"{name}: {key}={_quoted(text)}: it takes a number")


def _quoted(text: str) -> str:
    """Return `text`, which the user typed, for an error message: cut to the length that the C core shows."""
    return printable(text[:_QUOTED]) + "..." * (len(text) > _QUOTED)


def parse(text: str) -> Spec:
    """Return the parsed spec `text`, ``name[/preset][:key=value,...]``. Raise UserError, which suggests a
    similar name."""
    name, colon, rest = text.strip().partition(":")
    if name not in _core() and name in _users():
        pairs = rest.split(",") if colon else []
        return Spec(text.strip(), name, _read_params(_user_info(name), pairs), core=False)
    if name not in _core() and (hint := did_you_mean(name, _users(), "")):
        raise UserError(f"no estimator '{_quoted(name)}'; {hint}")
    return algorithms.parse(algorithms.ESTIMATOR, text)


def _read_params(info: Info, pairs: Sequence[str]) -> dict[str, float]:
    """Return the parameters of a user's estimator from the texts `pairs`, key=value. Raise UserError."""
    params: dict[str, float] = {}
    keys = [p.key for p in info.params]
    for pair in pairs:
        key, equals, value = (word.strip() for word in pair.partition("="))
        if not equals:
            raise UserError(f"estimator '{info.name}': '{_quoted(pair)}' is not key=value")
        if key not in keys:
            hint = did_you_mean(key, keys, "it has " + (", ".join(keys) or "none"))
            raise UserError(f"estimator '{info.name}' has no parameter '{_quoted(key)}'; {hint}")
        if key in params:
            raise UserError(f"estimator '{info.name}': {key} is given twice")
        params[key] = _value(info.name, key, value)
    return params


def parameter(spec: Spec, key: str) -> Param | None:
    """Return the parameter `key` of the estimator in `spec`, or None if it has no such parameter."""
    info = _core().get(spec.name) or _user_info(spec.name)
    return next((p for p in info.params if p.key == key), None)


def varied(spec: Spec, key: str, value: float) -> Spec:
    """Return `spec` with the parameter `key` set to `value`, in its text as well."""
    params = {**spec.params, key: value}
    text = f"{spec.name}:" + ",".join(f"{k}={v:.6g}" for k, v in params.items())
    return Spec(text, spec.name, params, spec.core)


def miss_rate(spec: Spec | str) -> float | None:
    """Return the miss rate of the timer `spec`, which is the share of RTT samples that may exceed its RTO, or
    None if it has no such parameter."""
    spec = parse(spec) if isinstance(spec, str) else spec
    param = parameter(spec, "miss")
    return None if param is None else spec.params.get("miss", param.default)


def _with_miss(specs: Sequence[Spec], miss: float) -> list[Spec]:
    """Return `specs` with the miss rate (share of RTTs above the RTO) set to `miss` in each timer that has
    this parameter, unless its spec or preset sets it. Raise UserError."""
    known = [p for s in specs if (p := parameter(s, "miss"))]
    if not known:
        raise UserError("--miss: none of the estimators compared has a miss rate to set; add -e conformal")
    low, high = max(p.low for p in known), min(p.high for p in known)
    if not low <= miss <= high:
        raise UserError(f"--miss {miss:g}: give a share of the samples (1 % is 0.01), {low:.2g} to {high:g}")

    def open_to_it(spec: Spec) -> bool:
        own, base = parameter(spec, "miss"), _core().get(spec.name.partition("/")[0])
        usual = next((p.default for p in base.params if p.key == "miss"), None) if base else None
        return own is not None and "miss" not in spec.params and usual in (None, own.default)

    return [
        parse(f"{s.text}{',' if s.params else ':'}miss={miss:.12g}") if open_to_it(s) else s for s in specs
    ]


def compared(texts: Sequence[str], miss: float | None = None) -> list[Spec]:
    """Return the estimators `texts` (default: DEFAULTS). Timers with a miss rate (the share of samples that
    may exceed the RTO) get `miss`, unless their spec or preset sets it. Raise UserError."""
    specs = [parse(text) for text in texts or DEFAULTS]
    if miss is not None:
        specs = _with_miss(specs, miss)
    if len({(s.name, *sorted(s.params.items())) for s in specs}) < len(specs):
        raise UserError("an estimator is named twice")
    return specs


def user_code(spec: Spec) -> str | None:
    """Return a hash of the source of the user's estimator in `spec`. Return "" for an estimator of the C
    core, or None if the source cannot be read."""
    if spec.core:
        return ""
    total = hashlib.sha256()
    for name in sorted({_users()[spec.name].module.partition(".")[0], _home(_load(spec.name))}):
        file = getattr(sys.modules.get(name), "__file__", None)
        if not file or not file.endswith(".py"):
            return None
        path = Path(file)
        try:
            for part in sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]:
                total.update(part.name.encode() + b"\0" + part.read_bytes())
        except OSError:
            return None
    return total.hexdigest()[:24]


def _home(made: Any) -> str:
    """Return the name of the top-level package or module that defines `made`."""
    return str(getattr(made, "__module__", "")).partition(".")[0]


def create(spec: Spec | str, arithmetic: str = "double") -> CoreEstimator | WithTimer:
    """Return a new estimator for `spec`. It has the methods learn_one and predict_one, as in the Python
    package river. `arithmetic` is "double" or "fixed", for an estimator of the C core. Raise UserError."""
    if isinstance(spec, str):
        spec = parse(spec)
    if spec.core:
        return CoreEstimator(spec.name, arithmetic, **spec.params)
    made = _load(spec.name)(**spec.params)
    if not isinstance(made, OnlineEstimator):
        raise UserError(f"estimator '{spec.name}' lacks learn_one(x, y) or predict_one(x)")
    return WithTimer(made)
