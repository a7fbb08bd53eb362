# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The columns of a batch, derived from plain samples (arrival and RTT) of a trace without packets."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tcplearn.errors import printable

from .base import ByteStream, FlowInfo, Reason, TraceFile
from .schema import Columns, filled

Int64s = npt.NDArray[np.int64]

#: Arrivals that a flow remembers to count its flight; more samples are never on the way at once.
MOST_ARRIVALS = 1 << 16
_MOST_NAME = 200


@dataclass
class SampleFlow:
    """The running state of one flow of samples."""

    id: int
    name: str
    acks: int = 0
    samples: int = 0
    retransmitted: int = 0
    first_us: int = 0
    last_us: int | None = None
    head_us: int | None = None
    arrivals: Int64s = field(default_factory=lambda: np.empty(0, np.int64))

    def info(self) -> FlowInfo:
        """Return the flow's information as a capture would; the peer of such a flow is itself."""
        last_us = self.last_us if self.last_us is not None else 0
        return info_of(
            self.id, self.name, self.acks, self.samples, self.retransmitted, self.first_us, last_us
        )

    def columns(self, time_us: Int64s, rtt_us: Int64s, resent: npt.NDArray[np.bool_]) -> Columns:
        """Return the columns of rows in order of arrival; `rtt_us` of a `resent` row is not used."""
        count = len(time_us)
        if self.last_us is None:
            self.first_us = int(time_us[0])
        sample = ~resent
        sent_us = np.where(sample, time_us - rtt_us, time_us)

        before = np.empty(count, np.int64)
        before[0] = sent_us[0] if self.last_us is None else self.last_us
        before[1:] = time_us[:-1]

        # Rows may arrive in another order than they were sent; the oldest segment out never gets younger.
        head_us = np.where(sample, sent_us, np.iinfo(np.int64).min)
        if self.head_us is not None:
            head_us[0] = max(int(head_us[0]), self.head_us)
        elif not sample[0]:
            head_us[0] = before[0]
        head_us = np.minimum(np.maximum.accumulate(head_us), time_us)

        # Samples that arrived after this one's sending, including itself, were on the way with it.
        arrivals = np.concatenate((self.arrivals, time_us[sample]))
        position = len(self.arrivals) + np.cumsum(sample)
        flight = position - np.searchsorted(arrivals, sent_us, side="right")
        flight = np.where(sample, np.maximum(flight, 1), 1)

        self.arrivals = arrivals[-MOST_ARRIVALS:]
        self.last_us = int(time_us[-1])
        self.head_us = int(head_us[-1])
        self.acks += count
        self.samples += int(sample.sum())
        self.retransmitted += int(resent.sum())
        return columns_of(
            np.full(count, self.id, np.int64), time_us, rtt_us, resent, sent_us, before, head_us, flight
        )


def info_of(
    number: int, name: str, acks: int, samples: int, retransmitted: int, first_us: int, last_us: int
) -> FlowInfo:
    """Return the information on a flow of samples as a capture would."""
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


def columns_of(
    flow: Int64s,
    time_us: Int64s,
    rtt_us: Int64s,
    resent: npt.NDArray[np.bool_],
    sent_us: Int64s,
    before_us: Int64s,
    head_us: Int64s,
    flight: Int64s,
) -> Columns:
    """Return the columns of rows; `before_us` is the flow's ACK before, or the sending of its first
    sample."""
    sample = ~resent
    # RFC 6298, (5.1) and (5.3): the timer starts with the sending if nothing was out, else with the last ACK.
    # The sending of a row without a sample is not known, so the ACK before it counts.
    armed_us = np.where(sample, np.maximum(before_us, sent_us), before_us)
    return filled(
        {
            "time_us": time_us,
            "sent_us": np.where(sample, sent_us, -1),
            "rtt_us": np.where(sample, rtt_us, -1),
            "armed_us": armed_us,
            "head_sent_us": head_us,
            "flow": flow,
            "flight_segments": flight,
            "retransmitted": resent,
            "no_sample": np.where(sample, Reason.NONE, Reason.RETRANSMITTED),
        }
    )


def slices(batch: Columns, max_rows: int) -> Iterator[Columns]:
    """Yield `batch` in parts of at most `max_rows` rows; its ended flows come with the last part."""
    count = len(batch["time_us"])
    ended = batch.pop("ended")
    for start in range(0, max(count, 1), max_rows):
        last = start + max_rows >= count
        part = {key: column[start : start + max_rows] for key, column in batch.items()}
        part["ended"] = ended if last else ended[:0]
        yield part


class SampleTrace:
    """Base of traces over lists of samples: the file, its warnings, its flows."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._stream = ByteStream(file)
        self._warnings: list[str] = []
        self._by_id: dict[int, SampleFlow] = {}

    @property
    def warnings(self) -> list[str]:
        """A line for each omission or assumption."""
        return list(self._warnings)

    def _cut_short(self) -> list[str]:
        return [f"read as far as it goes: {self._stream.damage}"] if self._stream.damage else []

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._stream.progress

    def flow(self, flow_id: int) -> FlowInfo:
        """Return the information on a flow."""
        return self._by_id[flow_id].info()

    def release(self, flow_id: int) -> None:
        """Free the state of a flow that has ended."""
        self._by_id.pop(flow_id, None)
