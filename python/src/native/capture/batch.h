// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What every reader of traces produces and every consumer reads: samples as columns.
#ifndef TCPLEARN_CAPTURE_BATCH_H
#define TCPLEARN_CAPTURE_BATCH_H

#include <cstdint>
#include <string>
#include <vector>

#include "loss.h"

namespace tcplearn {

// Why an ACK that advances gives no RTT sample.
enum class NoSample : std::uint8_t {
  kNone = 0,           // it does give one
  kRetransmitted = 1,  // Karn's rule (RFC 6298, section 3), and no timestamp says which copy was acknowledged
  kInsideSegment = 2,  // it ends inside a captured record (segmentation offload)
  kSackedEarlier = 3,  // its newest segment arrived earlier than this ACK says (RFC 2018)
  kNotCaptured = 4,    // the segment it acknowledges is not in the capture
};

// One row for each ACK that acknowledges new data of one direction of one connection.
// All times are microseconds since the trace's first packet.
struct Batch {
  std::vector<std::int64_t> time_us;   // the ACK at the capture point
  std::vector<std::int64_t> sent_us;   // the transmission that this ACK times; -1 where rtt_us is -1
  std::vector<std::int64_t> rtt_us;    // time_us - sent_us, or -1: see `no_sample`
  std::vector<std::int64_t> armed_us;  // the last (re)start of the timer before this ACK, RFC 6298 section 5
  std::vector<std::int64_t> head_sent_us;  // first transmission of the oldest segment out before this ACK
  std::vector<std::uint32_t> flow;         // a direction of a connection
  std::vector<std::uint32_t> acked_bytes;
  std::vector<std::uint32_t> in_flight_bytes;  // sent and not acknowledged just before this ACK
  std::vector<std::uint32_t> flight_segments;  // the same in segments of the flow's MSS, at least 1
  std::vector<std::uint8_t>
      retransmitted;              // the oldest segment out was sent again: a timeout here is not spurious
  std::vector<std::uint8_t> ttl;  // of the ACK; 0 where unknown
  std::vector<std::uint8_t> no_sample;  // NoSample
  std::vector<std::uint32_t> ended;     // flows that are over with this batch, after its rows
  Losses losses;
  std::uint64_t below_clock = 0;  // round trips of 0 us by the capture's clock: given as 1

  std::size_t size() const { return time_us.size(); }
  void clear();
};

// One direction of one connection: the side named `sender` sends data, the other acknowledges it.
struct FlowInfo {
  std::uint32_t id = 0;
  std::uint32_t peer = 0;    // the other direction of the same connection
  std::string name;          // "10.0.0.1:80 > 10.0.0.2:4242", IPv6 in brackets
  bool near_sender = false;  // the capture was taken at (or nearer) the sender of this direction
  std::string near_reason;  // how that was found: "handshake", "round trips", "TTL", "more data", "asked for"
  bool chosen = false;      // the reader's `sender` option takes this direction; drop the rows of the others
  std::uint64_t data_packets = 0, data_bytes = 0, retransmitted_packets = 0, acks = 0, samples = 0;
  std::uint32_t mss_bytes = 0;
  std::int64_t first_us = 0, last_us = 0;
};

}  // namespace tcplearn

#endif
