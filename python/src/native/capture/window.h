// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The last millisecond of a capture, by the packets' own times: capture queues interleave, and files are in
// the order of their writing.
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
  // 1 ms of full packets at 40 Gb/s; whatever is held beyond leaves in the order it has.
  static constexpr std::size_t kMostHeld = 4096;

  Window() : order_(2 * kMostHeld) {}

  // Where the next packet is decoded to; push() keeps it.
  Packet& spare();
  // Returns whether it came before one that was pushed earlier.
  bool push(std::int64_t time_us);
  // The earliest packet if nothing can come before it any more (or `all`: if there is one), else null. It
  // stays valid until the next call of spare().
  const Held* pop(bool all);
  bool full() const { return last_ - first_ == kMostHeld - 1; }

 private:
  std::size_t free_slot() const { return free_.empty() ? used_ : free_.back(); }

  std::vector<Held> slots_;
  std::vector<std::uint16_t> order_;  // slots by time, live in [first_, last_)
  std::vector<std::uint16_t> free_;
  std::size_t first_ = 0, last_ = 0, used_ = 0;
  std::int64_t newest_us_ = 0;
};

}  // namespace tcplearn

#endif
