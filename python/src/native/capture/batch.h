// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A batch of samples as columns. Every reader of traces produces batches; every consumer reads them.
#ifndef TCPLEARN_CAPTURE_BATCH_H
#define TCPLEARN_CAPTURE_BATCH_H

#include <cstdint>
#include <string>
#include <vector>

#include "columns.h"
#include "loss.h"

namespace tcplearn {

// The reason why an ACK of new data gives no RTT sample.
enum class NoSample : std::uint8_t {
  kNone = 0,           // the ACK gives a sample
  kRetransmitted = 1,  // Karn's rule (RFC 6298, section 3); no timestamp shows which copy was acknowledged
  kInsideSegment = 2,  // the ACK ends inside a captured record (segmentation offload)
  kSackedEarlier = 3,  // the newest acknowledged segment was SACKed earlier (RFC 2018)
  kNotCaptured = 4,    // the acknowledged segment is not in the capture
};

// One event for loss classifiers, and many events as columns.
struct Event {
#define TCPLEARN_X(type, name, unknown, meaning) type name = unknown;
  TCPLEARN_EVENT_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
};

struct Events {
#define TCPLEARN_X(type, name, unknown, meaning) std::vector<type> name;
  TCPLEARN_EVENT_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  bool wanted = false;  // false: no event is stored

  void add(const Event& event);
  void clear();
};

// The columns of a batch, described in columns.h.
struct Batch {
#define TCPLEARN_X(type, name, unknown, meaning) std::vector<type> name;
  TCPLEARN_BATCH_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  std::vector<std::uint32_t> ended;  // flows that end with this batch, after its rows
  Losses losses;
  Events events;
  std::uint64_t below_clock = 0;  // number of RTTs of 0 us by the capture's clock, which are reported as 1 us

  std::size_t size() const { return time_us.size(); }
  void clear();
};

// One direction of one connection: the endpoint `sender` sends data, the other endpoint acknowledges it.
struct FlowInfo {
  std::uint32_t id = 0;
  std::uint32_t peer = 0;    // the other direction of the same connection
  std::string name;          // "10.0.0.1:80 > 10.0.0.2:4242", IPv6 addresses in brackets
  bool near_sender = false;  // the capture point is at, or nearer to, the sender of this direction
  std::string near_reason;   // how this is known: "handshake", "round trips", "TTL", "more data", "requested"
  bool chosen =
      false;  // the reader's option `sender` selects this direction; rows of other directions are dropped
  std::uint64_t data_packets = 0, data_bytes = 0, retransmitted_packets = 0, acks = 0, samples = 0;
  std::uint32_t mss_bytes = 0;
  std::int64_t first_us = 0, last_us = 0;
};

}  // namespace tcplearn

#endif
