// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/early_rows.h"

namespace tcplearn {

void EarlyRows::grow() {
  const auto first = static_cast<std::uint32_t>(blocks_.size() * kBlock);
  blocks_.push_back(std::make_unique<Node[]>(kBlock));
  for (std::uint32_t i = 0; i < kBlock; ++i) at(first + i).next = i + 1 < kBlock ? first + i + 1 : kNone;
  free_ = first;
}

void EarlyRows::add(List& list, const RowView& row) {
  if (free_ == kNone) grow();
  const std::uint32_t node = free_;
  free_ = at(node).next;
  at(node) = {row, kNone};
  if (list.count++ == 0) {
    list.first = node;
  } else {
    at(list.last).next = node;
  }
  list.last = node;
}

void EarlyRows::replay(const List& list, FlowReplay& flow) const {
  for (std::uint32_t node = list.first; node != kNone; node = at(node).next)
    flow.add(at(node).row, nullptr, nullptr);
}

void EarlyRows::clear(List& list) {
  if (list.count > 0) {
    at(list.last).next = free_;
    free_ = list.first;
  }
  list = {};
}

}  // namespace tcplearn
