// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Tells what a server sends by itself from its answers: pings, and messages before or after the connection is
// closed.
#include <algorithm>

#include "conversation.h"

namespace tcplearn {

bool Conversation::after_pause(unsigned end, const DataSide::Sent& sent, std::int64_t now_us,
                               std::int64_t least_us) const {
  const DataSide& data = ends_[end].data;
  const std::int64_t last_us = std::max(data.last_advance_us(), data.last_needless_us());
  return sent.first_out && !sent.mid_write && !sent.announced && data.last_advance_us() >= 0 &&
         now_us - last_us - leg_to(end).known_us() >= least_us;
}

bool Conversation::may_be_own(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us,
                              ExplainedRows& out) {
  const std::int64_t acked = acked_requests(packet);
  if (may_be_closing()) {
    // it answers a newer request
    const bool newer =
        !exchanges_.empty() && !exchanges_.back().answered && acked > exchanges_.back().request_from;
    const bool at_once = now_us - closing_->began_us < Closing::kAtOnceUs;
    const std::int64_t all = sent.to - closing_->from;
    const bool more = closing_->by_fin ? all <= Closing::kFinBytes : packet.tls && all <= Closing::kMostBytes;
    if (!newer && at_once && more) return true;
    if (closing_->ping && (newer || !at_once)) {
      end_answer_before_closing();
    } else {
      go_on_after_closing(out);
    }
  }
  const std::int64_t bytes = sent.to - sent.from;
  if (closing_ && closing_->over && goes_on(kServer)) return false;
  if (exchanges_.empty() || bytes > Closing::kFinBytes) return false;
  const Exchange& last = exchanges_.back();
  if (!last.answered && packet.has(kAck) && acked <= last.request_from) {
    // it was sent before the new request arrived, and long after the last answer
    if (exchanges_.size() < 2 || !sent.first_out || bytes > Closing::kMostBytes) return false;
    const Exchange& before = exchanges_[exchanges_.size() - 2];
    const std::int64_t pause_us = now_us - ends_[kServer].data.last_advance_us();
    if (before.end_us < 0 || pause_us < Closing::kLeastPauseUs) return false;
    open_closing(before, sent, now_us, pause_us >= Closing::kPingPauseUs && bytes <= Closing::kPingBytes);
    return true;
  }
  const bool by_fin = !packet.tls || bytes > Closing::kMostBytes;
  if (last.answered) {
    const std::int64_t least_us = by_fin ? Closing::kFinPauseUs : Closing::kLeastPauseUs;
    if (last.end_us < 0 || !after_pause(kServer, sent, now_us, least_us)) return false;
    const bool long_ago = after_pause(kServer, sent, now_us, Closing::kPingPauseUs);
    open_closing(last, sent, now_us, !by_fin && long_ago && bytes <= Closing::kPingBytes);
  } else {
    const std::int64_t since_us = now_us - ends_[kClient].data.last_sent_us();
    const bool late = since_us >= (by_fin ? Closing::kFinPauseUs : Closing::kPingPauseUs);
    if (!late || sent.announced || last.request_to - last.request_from > Closing::kPingBytes) return false;
    open_closing(last, sent, now_us, !by_fin && bytes <= Closing::kPingBytes);
    closing_->no_request = true;
  }
  closing_->by_fin = by_fin;
  return true;
}

void Conversation::open_closing(const Exchange& last, const DataSide::Sent& sent, std::int64_t now_us,
                                bool ping) {
  if (!closing_) closing_ = std::make_unique<Closing>();
  closing_->open = true;
  closing_->ping = ping;
  closing_->by_fin = closing_->no_request = false;
  closing_->request_from = last.request_from;
  closing_->began_us = now_us;
  closing_->from = sent.from;
  closing_->end_us = last.end_us;
  closing_->answer_to = last.answer_to;
  closing_->answer_bytes = last.answer_bytes;
}

void Conversation::close_after(unsigned end, const Packet& packet, std::int64_t now_us, ExplainedRows& out) {
  if (may_be_closing()) {
    const std::int64_t since_us = now_us - ends_[kServer].data.last_sent_us();
    const bool at_once = end == kServer && packet.has(kFin) && since_us <= Closing::kFinUs;
    if (at_once || !closing_->by_fin) {
      end_answer_before_closing();
    } else {
      go_on_after_closing(out);
    }
  }
  const bool answered = !exchanges_.empty() && exchanges_.back().answered;
  if (end == kClient && answered && !ends_[kServer].data.outstanding())
    left_bytes_ = std::max(left_bytes_, 0);
}

// What the server sent after the pause is no part of the answer.
void Conversation::end_answer_before_closing() {
  const auto of = std::find_if(exchanges_.begin(), exchanges_.end(), [&](const Exchange& exchange) {
    return exchange.request_from == closing_->request_from;
  });
  if (of != exchanges_.end() && closing_->no_request) {
    exchanges_.erase(of);
  } else if (of != exchanges_.end()) {
    of->end_us = closing_->end_us;
    of->answer_to = closing_->answer_to;
    of->answer_bytes = closing_->answer_bytes;
  }
  // unless it came before the answer to a newer request
  closing_->over = closing_->ping && (exchanges_.empty() || exchanges_.back().answered);
  closing_->open = false;
  closing_->stalls.clear();
}

// What the server sent after the pause was a part of the answer.
void Conversation::go_on_after_closing(ExplainedRows& out) {
  closing_->open = false;
  for (const StallRow& stall : closing_->stalls) emit(stall, out);
  closing_->stalls.clear();
}

// The capture or the connection ends, or the client sends `bytes`.
void Conversation::settle_closing(std::int64_t bytes, ExplainedRows& out) {
  if (!may_be_closing()) return;
  if (closing_->ping) {
    end_answer_before_closing();
  } else if (closing_->by_fin || bytes > Closing::kMostBytes) {
    go_on_after_closing(out);
  }
}

}  // namespace tcplearn
