# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""RTT estimators and retransmission timers, classical and learned, measured on your own traffic."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tcplearn._native import RetryTimer as RetryTimer

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Return the class RetryTimer if `name` is its name. It is imported only on use, because the build
    imports this package without its native code."""
    if name == "RetryTimer":
        from tcplearn._native import RetryTimer

        return RetryTimer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
