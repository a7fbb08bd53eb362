# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test files of numbers alone, and units that are given or implausible."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcplearn.traces import TraceError, open_trace


@pytest.mark.parametrize(
    "data", [b"10\n20.5\n5e0\n", b"10 20.5\t5", b"# ms\n10\n\n20.5\r\n-\n5\n", b"10\n20.5 5 nan"]
)
def test_numbers(read, data):
    rows = read(data)
    assert rows.kind == "numbers"
    assert rows.columns["rtt_us"].tolist() == [10_000, 20_500, 5_000]
    assert rows.columns["time_us"].tolist() == [10_000, 30_500, 35_500]
    assert rows.warnings[0] == "numbers without a unit: taken as milliseconds (--unit s, us or ns)"
    assert rows.warnings[1].startswith("there are no times")


@pytest.mark.parametrize(("unit", "scale"), [("s", 1e6), ("ms", 1e3), ("us", 1), ("ns", 1e-3)])
def test_units(read, unit, scale):
    values = [10_000 / scale, 20_500 / scale]
    rows = read("\n".join(map(repr, values)).encode(), unit=unit)
    assert rows.columns["rtt_us"].tolist() == [10_000, 20_500]
    assert len(rows.warnings) == 1
    rows = read(f"t,rtt\n{values[0]!r},{values[0]!r}\n{values[1]!r},{values[1]!r}".encode(), unit=unit)
    assert rows.columns["rtt_us"].tolist() == [10_000, 20_500]
    assert read(b"t_s,rtt_ms\n1,10\n", unit=unit).columns["rtt_us"].tolist() == [10_000]


def test_a_unit_that_is_none(read):
    with pytest.raises(TraceError, match="unit min: give s, ms, us or ns"):
        read(b"1", unit="min")


def test_implausible_numbers(read):
    seconds = b"0.012\n0.013\n0.011\n"
    assert read(seconds).warnings[-1] == "half of the round trips are below 12 us: are these s? give --unit s"
    assert len(read(seconds, unit="s").warnings) == 1
    micro = b"120000\n130000\n125000\n"
    assert read(micro).warnings[-1] == "half of the round trips are above 125 s: are these us? give --unit us"
    warnings = read(b"t_s,rtt_s\n1,120\n2,130\n3,125").warnings
    assert warnings == ["half of the round trips are above 125 s: are these ms? give --unit ms"]


def test_numbers_that_never_fall(read):
    warnings = read("\n".join(map(str, range(1, 100))).encode()).warnings
    assert warnings[-1] == "the numbers never fall: are they times, and no round trips?"


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"10\n0\n", "line 2: 0: a round trip must be above zero"),
        (b"10\n-5\n", "line 2: -5: a round trip must be above zero"),
        (b"10\nabc\n", 'line 2: "abc" is not a number|there is no header|no column'),
        (b"10\n" * 2000 + b"abc\n", 'line 2001: "abc" is not a number'),
        (b"10\n" * 2000 + b"1_0\n", 'line 2001: "1_0" is not a number'),
        (b"10\n" * 2000 + b"1e300\n", "line 2001: 1e300 is too large"),
        (b"10\n" * 2000 + b"9" * 5000, "is not a number"),
        (b"0 40\n0.2 41\n", "two numbers in each line without a header"),
        (b"1e15\n" * 5, "the sum of its round trips is too large"),
    ],
)
def test_what_is_refused(read, data, match):
    with pytest.raises(TraceError, match=match) as error:
        read(data)
    assert "\n" not in str(error.value)


def test_chunks_make_no_difference(read, monkeypatch):
    data = " ".join(str(i % 97 + 1) for i in range(5000)).encode().replace(b" 7 ", b"\n7 \n")
    want = read(data).columns["rtt_us"].tolist()
    monkeypatch.setattr("tcplearn.traces.base.ByteStream.CHUNK_BYTES", 300)
    assert read(data, max_rows=11).columns["rtt_us"].tolist() == want


def test_a_link_trace_is_none_of_round_trips(tmp_path: Path) -> None:
    """Test that a link trace is refused: its times in milliseconds would be taken for very long RTTs."""
    (tmp_path / "lte.up").write_text("".join(f"{k // 3 + 1}\n" for k in range(5000)))
    with pytest.raises(TraceError, match="5,000 numbers never fall: they are times"):
        list(open_trace(tmp_path / "lte.up").batches())
    (tmp_path / "same.txt").write_text("20\n" * 5000)
    assert sum(len(batch["time_us"]) for batch in open_trace(tmp_path / "same.txt").batches()) == 5000
