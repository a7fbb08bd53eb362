// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Sorts the last millisecond of a capture by time, because capture queues interleave packets.
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
  // 1 ms of full-size packets at 40 Gb/s. If more arrive, packets leave in their current order.
  static constexpr std::size_t kMostHeld = 4096;

  Window() : order_(2 * kMostHeld) {}

  // Returns the slot into which the next packet is decoded; push() then stores it.
  Packet& spare();
  // Stores the packet in the slot. Returns whether its time is before that of an earlier packet.
  bool push(std::int64_t time_us);
  // Returns the earliest packet if no packet before it can still come, otherwise null. With `all`,
  // returns the earliest packet if there is one. It is valid until the next call of spare().
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
