// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The last millisecond of a capture, sorted by the packets' times: capture queues interleave, and files are
// in the order of writing.
#ifndef TCPLEARN_CAPTURE_WINDOW_H
#define TCPLEARN_CAPTURE_WINDOW_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet.h"

namespace tcplearn {

class Window {
 public:
  struct Held {
    std::int64_t time_us = 0;
    Packet packet;
  };
  static constexpr std::int64_t kSpanUs = 1000;
  // 1 ms of full packets at 40 Gb/s; packets beyond leave in their current order.
  static constexpr std::size_t kMostHeld = 4096;

  Window() : order_(2 * kMostHeld) {}

  // The place for decoding the next packet, which push() stores.
  Packet& spare();
  // Returns whether it came before one that was pushed earlier.
  bool push(std::int64_t time_us);
  // Returns the earliest packet if no packet can come before it any more (`all`: if there is one), else null.
  // It is valid until the next call of spare().
  const Held* pop(bool all);
  bool full() const { return last_ - first_ == kMostHeld - 1; }

 private:
  std::size_t free_slot() const { return free_.empty() ? used_ : free_.back(); }

  std::vector<Held> slots_;
  std::vector<std::uint16_t> order_;  // slots by time, valid in [first_, last_)
  std::vector<std::uint16_t> free_;
  std::size_t first_ = 0, last_ = 0, used_ = 0;
  std::int64_t newest_us_ = 0;
};

}  // namespace tcplearn

#endif
