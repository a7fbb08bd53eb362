// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Defines the columns of a batch of samples, which readers of traces write, for C++ and Python.
#ifndef TCPLEARN_COLUMNS_H
#define TCPLEARN_COLUMNS_H

#include <cstddef>
#include <cstdint>

// A row describes an ACK that acknowledges new data in one direction of one connection. All times are in
// microseconds since the trace's first packet or row. Each line is X(type, name, default, meaning).

// The columns that every batch must have.
#define TCPLEARN_REQUIRED_COLUMNS(X)                                                                    \
  X(std::int64_t, time_us, 0, "the ACK at the capture point")                                           \
  X(std::int64_t, sent_us, 0, "the transmission that this ACK times; -1 if rtt_us is -1")               \
  X(std::int64_t, rtt_us, 0, "time_us - sent_us, or -1: no_sample says why")                            \
  X(std::int64_t, armed_us, 0, "the last (re)start of the timer before this ACK (RFC 6298, section 5)") \
  X(std::int64_t, head_sent_us, 0, "first transmission of the oldest segment out before this ACK")      \
  X(std::uint32_t, flow, 0, "a direction of a connection")

// The columns that every batch has. Traces that do not know a value have the default.
#define TCPLEARN_FILLED_COLUMNS(X)                                                                      \
  X(std::uint32_t, acked_bytes, 0, "bytes acknowledged by this ACK first")                              \
  X(std::uint32_t, in_flight_bytes, 0, "bytes out just before this ACK")                                \
  X(std::uint32_t, flight_segments, 1, "the same in segments of the flow's MSS, at least 1")            \
  X(std::uint8_t, retransmitted, 0, "the oldest segment out was sent again: a timeout is not spurious") \
  X(std::uint8_t, ttl, 0, "TTL of the ACK; 0 if unknown")                                               \
  X(std::uint8_t, no_sample, 0, "why there is no RTT (NoSample); 0 if there is one")

// The columns that batches of some traces lack. A reader of such a batch uses the default.
#define TCPLEARN_OPTIONAL_COLUMNS(X)                                                               \
  X(std::int64_t, ack_delay_us, 0, "time for which the peer held the ACK back (RFC 9000, 13.2.5)") \
  X(std::uint8_t, hops, 0, "hops of the path; 0 if unknown")

#define TCPLEARN_BATCH_COLUMNS(X) TCPLEARN_REQUIRED_COLUMNS(X) TCPLEARN_FILLED_COLUMNS(X)
#define TCPLEARN_SAMPLE_COLUMNS(X) TCPLEARN_BATCH_COLUMNS(X) TCPLEARN_OPTIONAL_COLUMNS(X)

// A row describes a segment that was retransmitted without evidence that its first copy had arrived. All
// columns are required; -1 means that there is no value.
#define TCPLEARN_LOSS_COLUMNS(X)                                                                            \
  X(std::uint32_t, flow, 0, "a direction of a connection")                                                  \
  X(std::uint32_t, row, 0, "row of the ACK that acknowledges it")                                           \
  X(std::uint32_t, id, 0, "number, rising within a flow, for withdrawn_id")                                 \
  X(std::int64_t, sent_us, 0, "its first transmission")                                                     \
  X(std::int64_t, resent_us, 0, "its repair")                                                               \
  X(std::int64_t, armed_us, 0, "last start of the timer running at the repair, as if there were no repair") \
  X(std::int64_t, head_sent_us, 0, "the oldest segment out at the repair, likewise")                        \
  X(std::int64_t, probe_from_us, 0, "the last ACK or new data, from which a PTO counts (RFC 8985, 7.2)")    \
  X(std::int64_t, delivered_us, 0, "the first sign that a later segment arrived, or -1")                    \
  X(std::int64_t, rack_us, 0, "when RACK calls it lost by such signs, or -1")                               \
  X(std::int64_t, rtt_us, 0, "RTT of the last delivery before the repair, or -1")                           \
  X(std::uint8_t, tail, 0, "nothing was sent after it before the repair")                                   \
  X(std::uint8_t, alone, 0, "one segment out at the repair")

// Losses withdrawn because a duplicate SACK after the ACK shows that the first copy had arrived.
#define TCPLEARN_WITHDRAWN_COLUMNS(X)                                \
  X(std::uint32_t, withdrawn_flow, 0, "a direction of a connection") \
  X(std::uint32_t, withdrawn_id, 0, "the id of one of its losses")

// The events for loss classifiers, one a row, in order of time, if the reader was asked for them.
#define TCPLEARN_EVENT_COLUMNS(X)                                                              \
  X(std::uint32_t, flow, 0, "a direction of a connection")                                     \
  X(std::uint8_t, kind, 0, "EventKind: 0 ACK, 1 fast retransmit, 2 timeout, 3 recovery ended") \
  X(std::int64_t, time_us, 0, "at the capture point")                                          \
  X(std::int64_t, rtt_us, 0, "of an ACK: its sample, or 0")                                    \
  X(std::uint32_t, delivered_segments, 0, "of an ACK: segments acknowledged or SACKed first")  \
  X(std::uint8_t, duplicate, 0, "of an ACK: it did not advance while data was out")            \
  X(std::uint32_t, flight_segments, 0, "of other events: segments out")

namespace tcplearn {

enum class EventKind : std::uint8_t { kAck = 0, kFastRetransmit = 1, kTimeout = 2, kRecoveryEnded = 3 };

// The columns of a batch, owned by the caller, each of length `rows`. Null: not known.
struct Columns {
  std::size_t rows = 0;
#define TCPLEARN_X(type, name, unknown, meaning) \
  const type* name = nullptr;                    \
  type name##_at(std::size_t row) const { return name ? name[row] : type{unknown}; }
  TCPLEARN_SAMPLE_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
};

// The losses of a batch, owned by the caller, in the order of the batch's rows.
struct LossColumns {
  std::size_t rows = 0, withdrawn = 0;
#define TCPLEARN_X(type, name, unknown, meaning) const type* name = nullptr;
  TCPLEARN_LOSS_COLUMNS(TCPLEARN_X)
  TCPLEARN_WITHDRAWN_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
};

}  // namespace tcplearn

#endif
