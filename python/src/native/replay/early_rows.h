// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Stores the first rows of flows unchanged. Most flows end after few rows, for which the states of all
// estimators would need too much memory.
#ifndef TCPLEARN_REPLAY_EARLY_ROWS_H
#define TCPLEARN_REPLAY_EARLY_ROWS_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "replay/flow_replay.h"

namespace tcplearn {

// The rows of many flows in shared blocks of memory. The rows of a flow are a linked list.
class EarlyRows {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // The rows of one flow, in their order.
  struct List {
    std::uint32_t first = kNone, last = kNone, count = 0;
  };

  void add(List& list, const RowView& row);
  // Adds the rows to `flow`.
  void replay(const List& list, FlowReplay& flow) const;
  // Frees the memory of the rows for other rows.
  void clear(List& list);

 private:
  static constexpr std::size_t kBlock = 4096;
  struct Node {
    RowView row;
    std::uint32_t next;
  };
  Node& at(std::uint32_t node) { return blocks_[node / kBlock][node % kBlock]; }
  const Node& at(std::uint32_t node) const { return blocks_[node / kBlock][node % kBlock]; }
  void grow();

  std::vector<std::unique_ptr<Node[]>> blocks_;
  std::uint32_t free_ = kNone;  // head of the list of free rows
};

}  // namespace tcplearn

#endif
