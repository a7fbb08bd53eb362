# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Formats numbers as text for people."""

import statistics
import time
from collections.abc import Sequence

#: (least absolute value, decimals of a number from there on), chosen so that three or four digits are shown.
_MILLISECONDS = ((100, 0), (10, 1), (0.1, 2), (0, 4))
_RATIO = ((100, 0), (10, 1), (0, 2))
_FINE_RATIO = ((100, 0), (10, 1), (0, 3))
_COLUMN = ((1000, 0), (100, 1), (1, 2), (0.1, 3), (0, 4))


def _digits(size: float, steps: Sequence[tuple[float, int]]) -> int:
    return next(digits for least, digits in steps if size >= least)


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def capitalized(words: str) -> str:
    """Return `words` with the first letter as a capital; the rest does not change."""
    return words[:1].upper() + words[1:]


def decimals(values: Sequence[float]) -> int:
    """Return the number of decimals with which the median of `values` shows three or four digits."""
    sizes = [abs(v) for v in values if v]
    return _digits(statistics.median(sizes), _COLUMN) if sizes else 0


def milliseconds(value: float) -> str:
    return f"{value:,.{2 if value == 0 else _digits(abs(value), _MILLISECONDS)}f}"


def ratio(value: float) -> str:
    return f"{value:.{_digits(max(value, 0), _RATIO)}f}"


def fine_ratio(value: float) -> str:
    return f"{value:,.{_digits(max(value, 0), _FINE_RATIO)}f}"


def two_digits(value: float) -> str:
    """Return the number `value` as text with two significant digits, or as a whole number from 99.5 on."""
    return f"{value:.2g}" if abs(value) < 99.5 else f"{value:,.0f}"


def permille(value: float) -> str:
    """Return `value`, a number of events in 1,000, with two significant digits below 10, one decimal up to
    99.5 and none above, so that differences of numbers below 99.5 can be checked to a tenth."""
    return f"{value:.1f}" if 9.95 <= abs(value) < 99.5 else two_digits(value)


def byte_count(value: float) -> str:
    """Return `value`, a number of bytes, as text with three significant digits, in bytes, kB, MB or GB
    (powers of 1,000). From 1,000 GB on, the text is a whole number of GB."""
    for unit in ("bytes", "kB", "MB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB" if value < 999.5 else f"{value:,.0f} GB"


def hundredths(share: float) -> str:
    """Return `share` in percent as text with three significant digits, without the % sign."""
    return f"{share * 100:.3g}"


def percent(share: float) -> str:
    return "0 %" if share == 0 else "less than 0.001 %" if share < 1e-5 else f"{hundredths(share)} %"


def exact(value: float) -> str:
    """Return `value` as text with nine significant digits, by which tables in reports are sorted."""
    return f"{value:.9g}"


def parameter(value: object) -> str:
    """Return `value` in the form in which it is written on a command line."""
    if isinstance(value, (int, float)):
        return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
    return str(value)


def listed(names: Sequence[str]) -> str:
    """Return `names` joined as "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def local_time(at_s: float) -> str:
    """Return the local time `at_s`, in seconds since 1970, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))
