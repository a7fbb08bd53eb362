# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the latency series of flent data files (https://flent.org), format versions 1 to 4."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .base import TraceError, TraceFile, shown
from .json_values import finite, loads
from .samples import SampleTrace, slices
from .schema import Columns

_MOST_BYTES = 1 << 26  # largest file, which is read as a whole: it has a few hundred values for each minute
_TCP_RTT = "::tcp_rtt"


class FlentTrace(SampleTrace):
    """A trace that reads a flent file. Each series of pings or TCP RTTs is a flow."""

    kind = "flent"

    def __init__(self, file: TraceFile) -> None:
        super().__init__(file)
        self._data = self._load()

    def _load(self) -> dict[str, Any]:
        text = self._stream.gather(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise TraceError(f"{self._file}: the file is larger than 64 MB unpacked; is it from flent?")
        try:
            data = loads(text)
        except ValueError as error:
            if self._stream.damage:
                raise TraceError(
                    f"{self._file}: JSON cannot be read in part, and {self._stream.damage}"
                ) from None
            raise TraceError(f"{self._file}: not JSON as flent writes it: {shown(str(error), 80)}") from None
        if self._stream.damage:
            self._warnings += self._cut_short()
        if not isinstance(data, dict) or not isinstance(data.get("results"), dict):
            raise TraceError(
                f'{self._file}: JSON, but neither qlog nor from flent: there is no "results" object'
            )
        return data

    def _raw_values(self) -> dict[str, Any]:
        raw = self._data.get("raw_values")
        if isinstance(raw, dict) and raw:
            return raw
        metadata = self._data.get("metadata")  # version 1 has the raw values here
        series = metadata.get("SERIES_META") if isinstance(metadata, dict) else None
        if not isinstance(series, dict):
            return {}
        return {
            name: of["RAW_VALUES"]
            for name, of in series.items()
            if isinstance(of, dict) and "RAW_VALUES" in of
        }

    def _series(self) -> Iterator[tuple[str, list[tuple[Any, Any]], bool]]:
        """Yield each series as (name, list of (time in s, RTT in ms), whether the times are absolute). Times
        that are not absolute count from the start of the test."""
        raw = self._raw_values()
        x_values = self._data.get("x_values")
        for name, values in self._data["results"].items():
            is_tcp = name.endswith(_TCP_RTT) or "TCP RTT" in name
            # "Ping (ms) avg" is the mean of the other series, not a measurement.
            if not is_tcp and ("Ping (ms)" not in name or name.endswith(" avg")):
                continue
            base, key = (name[: -len(_TCP_RTT)], "tcp_rtt") if name.endswith(_TCP_RTT) else (name, "val")
            points = raw.get(base)
            if isinstance(points, list) and points:
                found = [(p.get("t"), p[key]) for p in points if isinstance(p, dict) and key in p]
                if found:
                    yield name, found, True
                    continue
            if isinstance(values, list) and isinstance(x_values, list):
                yield name, list(zip(x_values, values, strict=False)), False

    def _clean(self, name: str, points: list[tuple[Any, Any]]) -> tuple[list[float], list[float]]:
        times: list[float] = []
        rtts: list[float] = []
        missing = 0
        series = f'series "{shown(name)}"'
        for index, (t, rtt) in enumerate(points):
            if not _is_value(t) or not _is_value(rtt):
                missing += 1
                continue
            if rtt <= 0:
                raise TraceError(
                    f"{self._file}: {series}, value {index + 1}: a round trip must be above zero"
                )
            if abs(t) > 1e12 or rtt > 1e12:
                raise TraceError(f"{self._file}: {series}, value {index + 1}: it is too large")
            times.append(float(t))
            rtts.append(float(rtt))
        if missing:
            self._warnings.append(f"{series}: {missing} of {len(points)} values are missing: left out")
        return times, rtts

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the samples of each series in turn, in batches of at most `max_rows` rows."""
        found = [(name, *self._clean(name, points), absolute) for name, points, absolute in self._series()]
        series = [of for of in found if of[1]]
        self._data = {}
        if not series:
            raise TraceError(f"{self._file}: a flent file without a ping or TCP RTT series that holds values")
        if any(name.endswith(_TCP_RTT) for name, *_ in series):
            self._warnings.append("TCP RTT series are smoothed RTTs of the kernel, not single samples")
        # Raw values have absolute times, computed values times since the test began.
        origin = {
            kind: min((min(times) for _, times, _, absolute in series if absolute == kind), default=0.0)
            for kind in (True, False)
        }
        for name, times, rtts, absolute in series:
            time_us = np.rint((np.array(times) - origin[absolute]) * 1e6).astype(np.int64)
            rtt_us = np.maximum(np.rint(np.array(rtts) * 1e3), 1).astype(np.int64)
            if np.any(np.diff(time_us) < 0):
                order = np.argsort(time_us, kind="stable")
                time_us, rtt_us = time_us[order], rtt_us[order]
                self._warnings.append(f'series "{shown(name)}": values were not in order of time: sorted')
            flow = self._new_flow(name)
            batch = flow.columns(time_us, rtt_us, np.zeros(len(time_us), np.bool_))
            yield from slices(batch | {"ended": np.array([flow.id], np.uint32)}, max_rows)


def _is_value(value: object) -> bool:
    return not isinstance(value, str) and finite(value) is not None
