// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Tells what a server sends by itself from its answers: pings, and messages before the connection is closed.
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

bool Conversation::may_close(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us,
                             ExplainedRows& out) {
  if (may_be_closing()) {
    const bool same = !exchanges_.empty() && exchanges_.back().request_from == closing_->request_from;
    if (same && packet.tls && sent.to - closing_->answer_to <= Closing::kMostBytes) return true;
    go_on_after_closing(out);
  }
  if (exchanges_.empty() || !packet.tls || sent.to - sent.from > Closing::kMostBytes) return false;
  const Exchange& last = exchanges_.back();
  if (!last.answered || last.end_us < 0 || !after_pause(kServer, sent, now_us, Closing::kLeastPauseUs))
    return false;
  if (!closing_) closing_ = std::make_unique<Closing>();
  closing_->open = true;
  closing_->request_from = last.request_from;
  closing_->end_us = last.end_us;
  closing_->answer_to = last.answer_to;
  closing_->answer_bytes = last.answer_bytes;
  return true;
}

bool Conversation::is_ping(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us) {
  if (exchanges_.empty() || !packet.tls || sent.to - sent.from > Closing::kPingBytes) return false;
  const Exchange& last = exchanges_.back();
  // more of the same message, or what follows it before the connection is closed
  bool own = closing_ && closing_->ping_to > 0 && sent.from == closing_->ping_to && last.answered;
  if (!own && last.answered) {
    own = last.end_us >= 0 && after_pause(kServer, sent, now_us, Closing::kPingPauseUs);
  } else if (!own && packet.has(kAck) && ends_[kClient].data.unwrap(packet.ack) <= last.request_from) {
    // it was sent before the new request arrived, and long after the last answer
    own = sent.first_out && now_us - ends_[kServer].data.last_advance_us() >= Closing::kLeastPauseUs;
  } else if (!own) {
    const bool late = now_us - ends_[kClient].data.last_sent_us() >= Closing::kPingPauseUs;
    own = late && !sent.announced && last.request_to - last.request_from <= Closing::kPingBytes;
    if (own) exchanges_.pop_back();
  }
  if (own && !closing_) closing_ = std::make_unique<Closing>();
  if (own) closing_->ping_to = sent.to;
  return own;
}

// The connection is closed, so what the server sent after the pause is no part of the answer.
void Conversation::end_answer_before_closing() {
  for (Exchange& exchange : exchanges_) {
    if (exchange.request_from != closing_->request_from) continue;
    exchange.end_us = closing_->end_us;
    exchange.answer_to = closing_->answer_to;
    exchange.answer_bytes = closing_->answer_bytes;
  }
  closing_->open = false;
  closing_->stalls.clear();
}

// The connection goes on, so what the server sent after the pause was a part of the answer.
void Conversation::go_on_after_closing(ExplainedRows& out) {
  closing_->open = false;
  for (const StallRow& stall : closing_->stalls) emit(stall, out);
  closing_->stalls.clear();
}

}  // namespace tcplearn
