// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "window.h"

#include <algorithm>

namespace tcplearn {

Packet& Window::spare() {
  const std::size_t slot = free_slot();
  if (slot == slots_.size()) slots_.resize(std::max<std::size_t>(2 * slot, 64));
  return slots_[slot].packet;
}

bool Window::push(std::int64_t time_us) {
  const std::size_t slot = free_slot();
  if (free_.empty()) {
    ++used_;
  } else {
    free_.pop_back();
  }
  slots_[slot].time_us = time_us;
  if (last_ == order_.size()) {
    std::copy(order_.begin() + static_cast<std::ptrdiff_t>(first_), order_.end(), order_.begin());
    last_ -= first_;
    first_ = 0;
  }
  std::size_t at = last_++;
  const bool late = time_us < newest_us_;
  for (; late && at > first_ && slots_[order_[at - 1]].time_us > time_us; --at) order_[at] = order_[at - 1];
  order_[at] = static_cast<std::uint16_t>(slot);
  newest_us_ = std::max(newest_us_, time_us);
  return late;
}

const Window::Held* Window::pop(bool all) {
  if (first_ == last_) return nullptr;
  const std::uint16_t slot = order_[first_];
  const Held& held = slots_[slot];
  if (!all && !full() && held.time_us >= newest_us_ - kSpanUs) return nullptr;
  ++first_;
  free_.push_back(slot);
  return &held;
}

}  // namespace tcplearn
