# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes metrics from the kernel module's log, with the engine that scores replayed traces."""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tcplearn import _native, estimators
from tcplearn.errors import FailedError
from tcplearn.traces import TraceError, tlog, tlog_records
from tcplearn.traces.base import TraceFile

from .arm import STOCK

Figures = Iterator[tuple[str, float]]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

CYCLES_PER_INSTRUCTION = 2  # QEMU's -icount shift=1: an instruction takes 2 ns, and the TSC runs at 1 GHz
FIRST_RTO_US = 1e6  # RTO before the first sample if the log has none: RFC 6298, 2.1; TCP_TIMEOUT_INIT
LEAST_JIFFIES, RTO_MAX_US = 2, 120e6  # the bounds of RTOs, as tl_timer_answer in linux/module/timer.h


def instructions(cycles: float, count: float) -> float:
    """Return the mean number of instructions of `count` calls that took `cycles` cycles in all."""
    return cycles / count / CYCLES_PER_INSTRUCTION


@dataclass(frozen=True, slots=True)
class Opened:
    path: Path
    connection: tlog.Connection

    def trace(self) -> tlog.TlogTrace:
        return tlog.TlogTrace(TraceFile.of(self.path))


def parsed(path: Path) -> tlog.Log:
    """Return the kernel module's log, parsed from `path` or, if compressed, `path`.gz. Raise FailedError."""
    file = _file(path)
    raw = file.read_bytes()
    try:
        return tlog.parse(gzip.decompress(raw) if file.suffix == ".gz" else raw, str(file))
    except TraceError as error:
        raise FailedError(str(error)) from error


def _file(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    return packed if packed.exists() else path


def opened(path: Path) -> Opened:
    """Return the kernel module's log at `path`; raise FailedError unless it has exactly one connection."""
    log = parsed(path)
    if len(log.connections) != 1:
        raise FailedError(f"the log of one transfer has {len(log.connections)} connections")
    return Opened(_file(path), next(iter(log.connections.values())))


def figures(path: Path, tick_ms: float | None) -> Figures:
    """Yield (metric, value) for each metric of the kernel module's log at `path`. Prediction errors are also
    given in ticks of `tick_ms`, unless it is None."""
    log = opened(path)
    c = log.connection
    yield "log_records_lost", float(c.lost)
    if len(c.acks):
        yield "mean_cwnd_segments", float(np.mean(c.acks["cwnd"]))
    samples = c.acks["rtt_us"][c.acks["rtt_us"] >= 0]
    yield "samples", float(len(samples))
    if len(samples) < 2:
        return
    ours, stock, armed = measured(log)
    yield "mean_abs_error_ms", ours["mean_abs_error_us"] / 1000
    if tick_ms is not None:
        yield "mean_abs_error_ticks", ours["mean_abs_error_us"] / 1000 / tick_ms
        yield from counted_ticks(c, tick_ms)
    if ours["at_send_error_us"] is not None:
        yield "at_send_error_ms", ours["at_send_error_us"] / 1000
    yield "mean_rtt_ms", float(np.mean(samples)) / 1000
    if ours["timed"]:
        yield "mean_rto_ms", ours["mean_rto_us"] / 1000
        yield "mean_stock_rto_ms", stock["mean_rto_us"] / 1000
        yield "excess_wait_ms", ours["excess_wait_us"] / 1000
        yield "rto_miss_rate", ours["misses"] / ours["timed"]
    yield "rto_miss_rate_before", ours["misses_before"] / ours["timed_before"]
    for key in ("spurious_timeouts", "spurious_timeouts_tlp", "spurious_probes"):
        yield key, float(armed[key])
    if c.estimator != STOCK:
        yield "replay_differences", float(replay_differences(c))


def measured(log: Opened) -> Sequence[Mapping[str, Any]]:
    """Return the metrics of three RTOs in `log`, in this order: the RTO of the module's estimator, the RTO
    that the kernel itself computes, and the RTO with which the timer was armed."""
    c = log.connection
    acks = c.timed
    first_rto_us = float(c.open["rto_q8"]) / 256 if c.open is not None else 0.0
    prediction_us = _before(acks["rtt_q8"] / 256, 0.0)
    timers = [
        _before(rto_us.astype(np.float64), first_rto_us or FIRST_RTO_US)
        for rto_us in (_in_force_us(c, acks), acks["stock_rto_us"], acks["rto_us"])
    ]
    rtt_us = np.column_stack([prediction_us] * len(timers))
    rto_us = np.column_stack(timers)
    engine = _native.ReplayEngine([], len(timers))
    start = 0
    for batch in log.trace().batches():
        end = start + len(batch["time_us"])
        engine.feed(batch, rtt_us[start:end].ravel(), rto_us[start:end].ravel())
        start = end
    flow = engine.finish(0)  # 0 is the number of the trace's only flow
    if flow is None:
        raise FailedError("the kernel module's log has no RTT sample")
    return flow.metrics()


def ticks_passed(sent_us: Integers, acked_us: Integers, tick_us: int) -> Integers:
    """Return, for each segment, how many ticks (of `tick_us`) of a free-running clock lie between its sending
    at `sent_us` and its ACK at `acked_us`."""
    return acked_us // tick_us - sent_us // tick_us


def counted_ticks(c: tlog.Connection, tick_ms: float) -> Figures:
    """Yield the mean absolute errors of the RTT predictions of the connection `c` in ticks of `tick_ms`, as
    if RTTs were measured in ticks of a slow clock. In the first metric the RTT counts as one more than the
    number of clock ticks in it, in the second as this number."""
    acks = c.timed
    prediction_us = _before(acks["rtt_q8"] / 256, 0.0)
    at = np.flatnonzero(acks["rtt_us"] >= 0)[1:]  # the first sample has no prediction before it
    tick_us = round(tick_ms * 1000)
    acked_us = acks["time_us"][at].astype(np.int64)
    boundaries = ticks_passed(acked_us - acks["rtt_us"][at], acked_us, tick_us)
    predicted = prediction_us[at] / tick_us
    yield "mean_abs_error_count_ticks", float(np.mean(np.abs(predicted - (boundaries + 1))))
    yield "mean_abs_error_count_less_one_ticks", float(np.mean(np.abs(predicted - boundaries)))


def _before(answers: Floats, first: float) -> Floats:
    """Return the output of an estimator (RTT or RTO) that is in force before each sample: `first`, then the
    outputs `answers` after each sample but the last."""
    return np.concatenate(([first], answers[:-1]))


def _in_force_us(c: tlog.Connection, acks: tlog.Records) -> Floats:
    """Return the RTO in us that is in force after each of `acks`, the logged ACKs of the connection `c`. If
    the estimator's timer counts from the oldest segment in flight, the log has the RTO less the age of this
    segment. The whole RTO is then computed from the estimator's logged output."""
    if c.open is None or not c.open["flags"] & tlog_records.FROM_HEAD:
        return np.asarray(acks["rto_us"], np.float64)
    jiffy_us = 1e6 / float(c.open["hz"])
    jiffies = np.ceil(acks["rto_q8"] / 256 / jiffy_us)
    whole_us = np.clip(jiffies * jiffy_us, LEAST_JIFFIES * jiffy_us, RTO_MAX_US)
    in_force_us = np.maximum(whole_us, acks["rto_us"])  # an rto_min or a backoff makes the log's larger
    if c.open["netns"] and acks["rto_us"][0] == acks["stock_rto_us"][0]:
        in_force_us[0] = acks["rto_us"][0]  # after the handshake's sample the kernel's own RTO is in force
    return np.asarray(in_force_us, np.float64)


def replay_differences(c: tlog.Connection) -> int:
    """Return how many ACKs of `c` leave the kernel's estimator with another RTT or RTO than user space's."""
    s = c.acks[c.acks["rtt_us"] >= 0]
    chosen = estimators.parse(c.spec)
    core = _native.Estimator(chosen.name, "fixed", chosen.params)
    time_us, rtt_us = (s[name].astype(np.int64) for name in ("time_us", "rtt_us"))
    flight = s["flight_segments"].astype(np.int64)
    rtt, rto = core.run(rtt_us, time_us, time_us - rtt_us, flight_segments=flight)
    after = (np.append(rtt[1:], core.rtt_us), np.append(rto[1:], core.rto_us))
    return int(((after[0] * 256 != s["rtt_q8"]) | (after[1] * 256 != s["rto_q8"])).sum())
