// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <algorithm>

#include "flow.h"

namespace tcplearn {
namespace {
// A receiver reports four ranges at a time; hundreds of holes at once come from damage or an attack.
constexpr std::size_t kMaxRanges = 1024;
}  // namespace

void SackBoard::add(std::int64_t left, std::int64_t right) {
  // the first range that touches or follows [left, right)
  auto it =
      std::lower_bound(ranges_.begin(), ranges_.end(), left,
                       [](const Range& range, std::int64_t sequence) { return range.right < sequence; });
  if (it == ranges_.end() || it->left > right) {
    ranges_.insert(it, Range{left, right});
  } else {
    it->left = std::min(it->left, left);
    it->right = std::max(it->right, right);
    auto next = it + 1;
    while (next != ranges_.end() && next->left <= it->right) {
      it->right = std::max(it->right, next->right);
      ++next;
    }
    ranges_.erase(it + 1, next);
  }
  if (ranges_.size() > kMaxRanges) ranges_.erase(ranges_.begin());
}

void SackBoard::drop_below(std::int64_t sequence) {
  auto it = ranges_.begin();
  while (it != ranges_.end() && it->right <= sequence) ++it;
  ranges_.erase(ranges_.begin(), it);
}

bool SackBoard::covers(std::int64_t sequence) const {
  if (ranges_.empty()) return false;
  const auto it = std::upper_bound(ranges_.begin(), ranges_.end(), sequence,
                                   [](std::int64_t s, const Range& range) { return s < range.right; });
  return it != ranges_.end() && it->left <= sequence;
}

}  // namespace tcplearn
