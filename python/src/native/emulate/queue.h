// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A drop-tail queue that drains at a rate, or at the opportunities of a Mahimahi trace. When a packet leaves
// follows from what is in the queue when it comes: rates at later times are known in advance.
#ifndef TCPLEARN_EMULATE_QUEUE_H
#define TCPLEARN_EMULATE_QUEUE_H

#include <cstdint>
#include <deque>
#include <optional>

#include "emulate/direction.h"

namespace tcplearn::emulate {

class Queue {
 public:
  // `direction` must outlive the queue.
  explicit Queue(const Direction& direction) : d_(direction) {}

  // Returns when a packet of `bytes` that comes at `now_ns` has left, or nothing if the queue drops it. Times
  // must not fall. The limit counts the packet that is being sent, as netem's does.
  std::optional<std::int64_t> enter(std::int64_t now_ns, std::int64_t bytes);

 private:
  struct Waiting {
    std::int64_t leaves_ns, bytes;
  };
  std::int64_t by_rate(std::int64_t now_ns, std::int64_t bytes);
  std::int64_t by_trace(std::int64_t now_ns, std::int64_t bytes);
  std::int64_t opportunity_ns(std::int64_t index) const;
  void next_opportunity(std::int64_t now_ns);

  const Direction& d_;
  std::deque<Waiting> waiting_;
  std::int64_t bytes_ = 0;       // of the packets that wait
  std::int64_t last_ns_ = 0;     // when the last packet has left
  std::int64_t current_ = -1;    // the opportunity in use, counted over all repetitions of the trace
  std::int64_t left_bytes_ = 0;  // of that opportunity
};

}  // namespace tcplearn::emulate

#endif
