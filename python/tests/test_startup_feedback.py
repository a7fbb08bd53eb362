# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the limits of the startup policy `tsl-feedback`: at each documented default the windows change."""

from __future__ import annotations

import pytest

from tcplearn import _native

LARGE, SMALL = (3, 16), (1, 2)  # IW and ssthresh after a lost SYN-ACK
UNLIMITED = 2**31 - 1
RTT_US = 50_000


def decided(
    *, sent: int = 1000, resent: int = 0, lost: int = 0, resends: int = 1, rtt_us: int = 0, at_us: int = 0
) -> tuple[int, int]:
    """Return IW and ssthresh at `at_us`, after `resent` of `sent` segments and `lost` of 1,000 handshakes to
    the same destination were lost at time 0, and their mean RTT was `rtt_us` (0: not known)."""
    place = _native.StartupPolicy("tsl-feedback")
    place.report(0, sent, resent, rtt_us, RTT_US if rtt_us else 0)
    for k in range(1000):
        place.handshake(0, RTT_US, 2 if k < lost else 0, int(k < lost), 3, UNLIMITED)
    return place.handshake(at_us, RTT_US, 2, resends, 3, UNLIMITED)


@pytest.mark.parametrize(
    ("limit", "large", "small"),
    [
        ("handshake_limit", {"lost": 499}, {"lost": 500}),
        ("resent_limit", {"resent": 199}, {"resent": 200}),
        ("known", {"sent": 99, "lost": 900}, {"sent": 100, "lost": 900}),
        ("resends", {"resends": 5}, {"resends": 6}),
        ("inflation_limit", {"rtt_us": 101 * RTT_US - 4}, {"rtt_us": 101 * RTT_US}),
        # the segments halve to just those that must be known, and an eighth of a half-life later to fewer
        (
            "half_life",
            {"sent": 200, "lost": 900, "at_us": 33_750_000},
            {"sent": 200, "lost": 900, "at_us": 33_749_999},
        ),
    ],
)
def test_a_limit_is_where_it_is_documented(limit: str, large: dict[str, int], small: dict[str, int]) -> None:
    assert (decided(**large), decided(**small)) == (LARGE, SMALL), limit
