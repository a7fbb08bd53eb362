// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "exchange.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tcplearn {
namespace {

// In a request with more stalls than this, adjacent stalls with the same cause are merged.
constexpr std::size_t kMostSpans = 256;
// RequestRow::pauses_us counts pauses within an answer if they take at least this in all.
constexpr std::int64_t kPausesUs = 1'000'000;

// Removes [from, to) from the sorted, disjoint ranges. Returns the length that was removed.
std::int64_t take(std::vector<std::pair<std::int64_t, std::int64_t>>& free, std::int64_t from,
                  std::int64_t to) {
  std::int64_t taken = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> left;
  left.reserve(free.size() + 1);
  for (const auto& [begin, end] : free) {
    const std::int64_t low = std::max(begin, from), high = std::min(end, to);
    if (high <= low) {
      left.emplace_back(begin, end);
      continue;
    }
    taken += high - low;
    if (begin < low) left.emplace_back(begin, low);
    if (high < end) left.emplace_back(high, end);
  }
  free = std::move(left);
  return taken;
}

}  // namespace

bool Exchange::split(std::int64_t at, Exchange& rest) {
  const auto first =
      std::find_if(pieces.begin(), pieces.end(), [&](const Piece& piece) { return piece.from >= at; });
  if (first == pieces.begin() || first == pieces.end()) return false;
  rest.start_us = first->seen_us;
  rest.request_from = first->from;
  rest.request_to = request_to;
  rest.pieces.assign(first, pieces.end());
  rest.pipelined = pipelined = true;
  request_to = first->from;
  rest.acknowledged_us = std::exchange(acknowledged_us, std::prev(first)->acknowledged_us);
  pieces.erase(first, pieces.end());
  return true;
}

void Exchange::add(Cause cause, std::int64_t from_us, std::int64_t to_us, bool weak) {
  from_us = std::max(from_us, start_us);
  if (to_us <= from_us) return;
  if (spans.size() >= kMostSpans && spans.back().cause == cause && spans.back().weak == weak) {
    spans.back().to_us = std::max(spans.back().to_us, to_us);
    return;
  }
  if (spans.size() < 2 * kMostSpans) spans.push_back({from_us, to_us, cause, weak});
}

RequestRow Exchange::row(std::uint32_t connection, std::int64_t to_client_us, bool relayed) {
  RequestRow out;
  out.connection = connection;
  out.start_us = start_us;
  out.response_us = end_us - start_us + to_client_us;
  out.request_bytes = request_to - request_from;
  out.answer_bytes = answer_bytes;
  out.pipelined = pipelined ? 1 : 0;
  std::int64_t left_us = out.response_us;
  if (!spans.empty()) {
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.weak != b.weak ? b.weak : a.cause < b.cause;
    });
    std::vector<std::pair<std::int64_t, std::int64_t>> free{{start_us, end_us}};
    for (const Span& span : spans) {
      const std::int64_t taken = take(free, span.from_us, span.to_us);
      out.by_cause_us[static_cast<std::size_t>(span.cause)] += taken;
      left_us -= taken;
      const bool midway = first_answer_us >= 0 && span.from_us >= first_answer_us;
      // not if data may have been lost
      const bool unknown = span.cause == Cause::kUnknown && (span.weak || relayed);
      const bool paused = span.cause == Cause::kServer || unknown;
      if (midway && paused) out.pauses_us += taken;
    }
  }
  if (out.pauses_us < kPausesUs) out.pauses_us = 0;
  out.by_cause_us[static_cast<std::size_t>(Cause::kTransfer)] = left_us;
  return out;
}

}  // namespace tcplearn
