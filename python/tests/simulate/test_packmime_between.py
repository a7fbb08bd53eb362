# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test tambuwal2018's curves of the traffic generator between the points at which they were read, with
invented curves."""

from __future__ import annotations

import math

import pytest

from experiments.tambuwal2018 import packmime

HEADER = "kP[] = {0.1, 0.5, 0.9}; " + " ".join(
    f"k{name}[] = {{1, 10, 100}};" for name in ("ClientRtt", "ServerRtt", "File", "Validation", "Request")
)
SOURCE = """
  X::SHORT_RTT_INVCDF_X[] = { 0.0, 1.0, 2.0 }; X::SHORT_RTT_INVCDF_Y[]={ 1.0, 2.0, 4.0 };
  X::LONG_RTT_INVCDF_X[] = { 0.0, 1.0 }; X::LONG_RTT_INVCDF_Y[] = { 1.0, 2.0 };
  X::FSIZE0_INVCDF_A_X[] = { 0, 1 }; X::FSIZE0_INVCDF_A_Y[] = { 10,
    20 };
  X::FSIZE0_INVCDF_B_X[] = { -2, 0 }; X::FSIZE0_INVCDF_B_Y[] = { 6, 2 };
  X::FSIZE1_INVCDF_A_X[] = { 0, 1 }; X::FSIZE1_INVCDF_A_Y[] = { 10, 20 };
  X::FSIZE1_INVCDF_B_X[] = { -2, 0 }; X::FSIZE1_INVCDF_B_Y[] = { 6, 2 };
"""


def test_curves_are_read_in_their_scales() -> None:
    theirs, own = packmime.published(SOURCE), packmime.ours(HEADER)
    # tails of ten and a hundred: the fifth and third powers
    assert math.isclose(theirs["client_rtt_ms"](0.9), 2**5)
    assert math.isclose(theirs["client_rtt_ms"](1 - 10**-1.5), 3**5)
    assert math.isclose(theirs["server_rtt_ms"](0.9), 2**3)
    assert math.isclose(theirs["validation_bytes"](0.25), 12.5)
    # halves of the tail are units
    assert math.isclose(theirs["file_bytes"](0.5), 2**4)
    assert math.isclose(theirs["request_bytes"](0.25), 15)
    assert math.isclose(theirs["request_bytes"](0.75), 2**4)
    assert math.isclose(own["file_bytes"](0.5), 10)
    assert math.isclose(own["file_bytes"](1 / (1 + math.exp(-math.log(9) / 2))), math.sqrt(1000))


def test_what_is_off_is_found() -> None:
    rows = {row[0]: row[1:] for row in packmime.rows(SOURCE, HEADER)}
    assert set(rows) == {*packmime.ours(HEADER), "path_rtt_ms"}
    least, at_least, most, at_most, within = rows["validation_bytes"]
    assert least < -80 and at_least < 0.1 and most > 400 and at_most > 0.9 and 0 < within < 0.1


def test_another_file_is_refused() -> None:
    with pytest.raises(SystemExit, match="no array"):
        packmime.published("int main() {}")
