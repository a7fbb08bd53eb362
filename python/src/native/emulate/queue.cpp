// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/queue.h"

#include <algorithm>
#include <cmath>

namespace tcplearn::emulate {

namespace {

constexpr std::int64_t kOpportunityBytes = 1500;

}  // namespace

std::optional<std::int64_t> Queue::enter(std::int64_t now_ns, std::int64_t bytes) {
  if (!d_.rate_mbps && !d_.opportunities_ns) return now_ns;
  while (!waiting_.empty() && waiting_.front().leaves_ns <= now_ns) {
    bytes_ -= waiting_.front().bytes;
    waiting_.pop_front();
  }
  const bool full = d_.limit_bytes ? bytes_ + bytes > *d_.limit_bytes
                                   : static_cast<std::int64_t>(waiting_.size()) >= d_.limit_packets;
  if (full) return std::nullopt;
  last_ns_ = d_.rate_mbps ? by_rate(now_ns, bytes) : by_trace(now_ns, bytes);
  waiting_.push_back({last_ns_, bytes});
  bytes_ += bytes;
  return last_ns_;
}

std::int64_t Queue::by_rate(std::int64_t now_ns, std::int64_t bytes) {
  const std::int64_t start_ns = std::max(now_ns, last_ns_);
  // a change of the rate applies to packets that begin to be sent after it
  const double rate_mbps = d_.changes.empty() ? *d_.rate_mbps : in_force(d_, start_ns).rate_mbps;
  return start_ns + std::llround(static_cast<double>(bytes) * 8e3 / rate_mbps);
}

std::int64_t Queue::by_trace(std::int64_t now_ns, std::int64_t bytes) {
  // an opportunity that found the queue empty before this packet came is lost
  if (current_ < 0 || opportunity_ns(current_) <= now_ns) left_bytes_ = 0;
  while (bytes > 0) {
    if (left_bytes_ == 0) {
      next_opportunity(now_ns);
      left_bytes_ = kOpportunityBytes;
    }
    const std::int64_t part = std::min(bytes, left_bytes_);
    bytes -= part;
    left_bytes_ -= part;
  }
  return opportunity_ns(current_);
}

std::int64_t Queue::opportunity_ns(std::int64_t index) const {
  const auto count = static_cast<std::int64_t>(d_.opportunities_ns->size());
  return index / count * d_.opportunities_ns->back() +
         (*d_.opportunities_ns)[static_cast<std::size_t>(index % count)];
}

// Takes the first opportunity after the current one that is not before `now_ns`.
void Queue::next_opportunity(std::int64_t now_ns) {
  const auto& all = *d_.opportunities_ns;
  // the last ones of a round are at its end, not at the beginning of the next
  const std::int64_t round = std::max<std::int64_t>(now_ns - 1, 0) / all.back();
  const auto at = std::lower_bound(all.begin(), all.end(), now_ns - round * all.back()) - all.begin();
  current_ = std::max(current_ + 1, round * static_cast<std::int64_t>(all.size()) + at);
}

}  // namespace tcplearn::emulate
