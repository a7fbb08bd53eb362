# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Derive the columns of a trace, such as the number of segments in flight, from RTT samples of many flows. A
flow's state takes a few hundred bytes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tcplearn.errors import printable

from .base import FlowInfo, Reason
from .schema import Columns, filled

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_ARRIVALS = 1 << 16  # most arrival times that a flow keeps, to count its segments in flight
_MOST_NAME = 200
_COUNTS = ("acks", "samples", "retransmitted", "first_us", "last_us")
_STATE = np.dtype([(name, np.int64) for name in (*_COUNTS, "head_us", "given", "given_us")])
_ROW = np.dtype([("time_us", np.int64), ("rtt_us", np.int64), ("resent", np.bool_)])


def info_of(
    number: int, name: str, acks: int, samples: int, retransmitted: int, first_us: int, last_us: int
) -> FlowInfo:
    """Return the information on a flow of RTT samples, in the form in which a capture gives it."""
    return FlowInfo(
        id=number,
        peer=number,
        name=printable(name)[:_MOST_NAME],
        near_sender=True,
        near_reason="requested",
        chosen=True,
        data_packets=acks,
        data_bytes=0,
        retransmitted_packets=retransmitted,
        acks=acks,
        samples=samples,
        mss_bytes=0,
        first_us=first_us,
        last_us=last_us,
    )


@dataclass(frozen=True)
class _Runs:
    """The positions of the rows of each flow in an array sorted by flow: the rows of flow number `flows[i]`
    begin at `starts[i]` and end before `ends[i]`."""

    flows: Int64s
    starts: npt.NDArray[np.intp]
    ends: npt.NDArray[np.intp]
    run: npt.NDArray[np.intp]  # the flow of each row, as an index into `flows`

    @staticmethod
    def of(ids: Int64s) -> _Runs:
        starts = np.flatnonzero(np.diff(ids, prepend=-1))
        ends = np.append(starts[1:], len(ids))
        return _Runs(ids[starts], starts, ends, np.repeat(np.arange(len(starts)), ends - starts))

    def keys(self, run: npt.NDArray[np.intp], values: Int64s) -> tuple[Int64s, Int64s | None]:
        """Return integer keys that sort like the pairs of flow (`run`, as an index into `flows`) and value.
        If they contain ranks in place of values, also return the sorted distinct values, otherwise None."""
        if len(self.starts) == 1:
            return values, None
        ranked, rank = np.unique(values, return_inverse=True)
        return run * len(ranked) + rank, ranked

    def running_most(self, values: Int64s) -> Int64s:
        """Return for each row the largest of `values` in the rows of its flow up to this row."""
        keys, ranked = self.keys(self.run, values)
        most: Int64s = np.maximum.accumulate(keys)
        return most if ranked is None else ranked[most - self.run * len(ranked)]


class ManyFlows:
    """The states of many flows of RTT samples. Flows are numbered in the order of their first rows."""

    def __init__(self, capacity: int = 16) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str | None] = []  # None if the flow was released
        self._state = np.zeros(capacity, _STATE)
        self._arrivals: list[bytes] = []  # the last arrival times in us of each flow; smaller than arrays
        self._waiting: list[bytes] = []  # rows that later rows may overtake, of type `_ROW`

    def __len__(self) -> int:
        return len(self._names)

    def numbered(self, names: Sequence[str]) -> Int64s:
        """Return the number of the flow of each name in `names`. New names get the next numbers."""
        numbers = self._numbers
        out = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
        new = len(numbers) - len(self._names)
        if new:
            self._names += [*itertools.islice(reversed(numbers), new)][::-1]
            self._arrivals += [b""] * new
            self._waiting += [b""] * new
            if len(numbers) > len(self._state):
                grown = np.zeros(2 * len(numbers), _STATE)
                grown[: len(self._state)] = self._state
                self._state = grown
        return out

    def info(self, number: int, title: str) -> FlowInfo:
        """Return the information on flow `number`, called `title` if it has no name. Raise KeyError."""
        name = self._names[number] if number < len(self._names) else None
        if name is None:
            raise KeyError(number)
        state = self._state[number]
        return info_of(number, name or title, **{key: int(state[key]) for key in _COUNTS})

    def forget(self, number: int) -> None:
        """Free the memory of the ended flow number `number`; only its number stays in use."""
        self._names[number] = None
        self._arrivals[number] = self._waiting[number] = b""

    def steps(self, ids: Int64s, given_us: Int64s) -> Int64s:
        """Return, for each row, its time in `given_us` minus that of the flow's previous row (0 for its first
        row). `ids` has the rows' flow numbers; rows are sorted by flow."""
        runs = _Runs.of(ids)
        state = self._state[runs.flows]
        before = np.roll(given_us, 1)
        before[runs.starts] = np.where(state["given"], state["given_us"], given_us[runs.starts])
        self._state["given"][runs.flows] = 1
        self._state["given_us"][runs.flows] = given_us[runs.ends - 1]
        steps: Int64s = given_us - before
        return steps

    def columns(self, ids: Int64s, time_us: Int64s, rtt_us: Int64s, resent: Bools) -> Columns:
        """Return the columns of a batch of RTT samples sorted by flow, then by arrival. A `resent` row
        (retransmission) has no sample: its `rtt_us` is ignored."""
        runs = _Runs.of(ids)
        starts, last, state = runs.starts, runs.ends - 1, self._state[runs.flows]
        known = state["acks"] > 0
        sample = ~resent
        sent_us = np.where(sample, time_us - rtt_us, time_us)
        before = np.roll(time_us, 1)
        before[starts] = np.where(known, state["last_us"], sent_us[starts])

        # Samples may arrive in another order than their segments were sent; head_us must not decrease.
        head_us = np.where(sample, sent_us, np.iinfo(np.int64).min)
        begun_us = np.where(sample[starts], sent_us[starts], before[starts])
        head_us[starts] = np.where(known, np.maximum(head_us[starts], state["head_us"]), begun_us)
        head_us = np.minimum(runs.running_most(head_us), time_us)

        flight = np.where(sample, np.maximum(self._flight(runs, time_us, sent_us, sample), 1), 1)

        state["first_us"] = np.where(known, state["first_us"], time_us[starts])
        state["last_us"], state["head_us"] = time_us[last], head_us[last]
        state["acks"] += runs.ends - starts
        state["samples"] += np.add.reduceat(sample, starts, dtype=np.int64)
        state["retransmitted"] += np.add.reduceat(resent, starts, dtype=np.int64)
        self._state[runs.flows] = state
        # RFC 6298, (5.1) and (5.3): the timer starts when a segment is sent with nothing in flight,
        # otherwise at the last ACK. Without a sample, the sending time is unknown: the last ACK counts.
        armed_us = np.where(sample, np.maximum(before, sent_us), before)
        return filled(
            {
                "time_us": time_us,
                "sent_us": np.where(sample, sent_us, -1),
                "rtt_us": np.where(sample, rtt_us, -1),
                "armed_us": armed_us,
                "head_sent_us": head_us,
                "flow": ids,
                "flight_segments": flight,
                "retransmitted": resent,
                "no_sample": np.where(sample, Reason.NONE, Reason.RETRANSMITTED),
            }
        )

    def _flight(self, runs: _Runs, time_us: Int64s, sent_us: Int64s, sample: Bools) -> Int64s:
        """Return the number of segments in flight at each row. This is the number of samples of the row's
        flow that arrived after the row's segment was sent at `sent_us`, up to and including the row."""
        held = [self._arrivals[flow] for flow in runs.flows.tolist()]
        old = np.array([len(piece) // 8 for piece in held])
        run = np.concatenate((np.repeat(np.arange(len(old)), old), runs.run[sample]))
        by_run = np.argsort(run, kind="stable")
        run = run[by_run]
        arrivals = np.concatenate((np.frombuffer(b"".join(held), np.int64), time_us[sample]))[by_run]
        bounds = np.searchsorted(run, np.arange(len(old) + 1))

        keys, _ = runs.keys(np.concatenate((run, runs.run)), np.concatenate((arrivals, sent_us)))
        up_to_sending = np.searchsorted(keys[: len(run)], keys[len(run) :], side="right")
        counted = np.cumsum(sample)
        position = counted - (counted - sample)[runs.starts][runs.run] + old[runs.run]
        self._keep(self._arrivals, runs.flows, arrivals, bounds, MOST_ARRIVALS)
        flight: Int64s = position - (up_to_sending - bounds[:-1][runs.run])
        return flight

    @staticmethod
    def _keep(
        where: list[bytes],
        flows: Int64s,
        values: npt.NDArray[np.void] | Int64s,
        bounds: npt.NDArray[np.intp],
        most: int,
    ) -> None:
        """Store in `where`, by flow number, the last `most` values of each of `flows`. The values of
        `flows[i]` are those from `values[bounds[i]]` to before `values[bounds[i + 1]]`."""
        size, data, edges = values.itemsize, values.tobytes(), bounds.tolist()
        for flow, start, end in zip(flows.tolist(), edges[:-1], edges[1:], strict=True):
            where[flow] = data[size * max(start, end - most) : size * end]

    def arrived(self, ids: Int64s, sent_us: Int64s, rtt_us: Int64s, resent: Bools) -> Columns | None:
        """Take rows of the flows `ids`, sorted by flow, then by time of sending. Return those that must have
        arrived before any later row, sorted by arrival, or None. Hold the others back."""
        runs = _Runs.of(ids)
        held_ids, held = self._held(runs.flows)
        new = np.empty(len(ids), _ROW)
        new["time_us"], new["rtt_us"], new["resent"] = sent_us + rtt_us, rtt_us, resent
        ids, rows = np.concatenate((held_ids, ids)), np.concatenate((held, new))
        by_time = np.lexsort((rows["time_us"], ids))
        ids, rows = ids[by_time], rows[by_time]
        # Every later row arrives after the last sending time so far.
        ready = rows["time_us"] <= sent_us[runs.ends - 1][_Runs.of(ids).run]
        bounds = np.searchsorted(ids[~ready], np.append(runs.flows, runs.flows[-1] + 1))
        self._keep(self._waiting, runs.flows, rows[~ready], bounds, len(rows))
        return self._in_time(ids[ready], rows[ready])

    def rest(self, flows: Int64s) -> Columns | None:
        """Return the rows of the flows `flows` that are still held back, sorted by arrival, or None if there
        are none. No more rows of these flows may follow."""
        return self._in_time(*self._held(flows))

    def _held(self, flows: Int64s) -> tuple[Int64s, npt.NDArray[np.void]]:
        held = [self._waiting[flow] for flow in flows.tolist()]
        counts = [len(piece) // _ROW.itemsize for piece in held]
        return np.repeat(flows, np.array(counts, np.int64)), np.frombuffer(b"".join(held), _ROW)

    def _in_time(self, ids: Int64s, rows: npt.NDArray[np.void]) -> Columns | None:
        if not len(ids):
            return None
        time_us, rtt_us, resent = (np.ascontiguousarray(rows[name]) for name in _ROW.names or ())
        found = self.columns(ids, time_us, rtt_us, resent)
        by_time = np.argsort(found["time_us"], kind="stable")
        return {name: column[by_time] for name, column in found.items()}
