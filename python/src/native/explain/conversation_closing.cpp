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

bool Conversation::after_unacked_pause(const DataSide::Sent& sent, std::int64_t now_us,
                                       std::int64_t least_us) const {
  if (bare_acks_ || answers_ < kEnoughAnswers) return false;
  if (sent.mid_write || sent.announced || sent.lost_before > 0) return false;
  const std::int64_t last_us = std::max(exchanges_.back().asked_us, ends_[kServer].data.last_sent_us());
  return now_us - last_us - leg_to(kServer).known_us() >= least_us;
}

// Takes data of the server within a second after data that may be its own. Returns whether it may still be.
bool Conversation::stays_own(const Packet& packet, const DataSide::Sent& sent) {
  const std::int64_t bytes = sent.to - closing_->from;
  if (closing_->crosses) return bytes <= Closing::kMostBytes;
  if (!packet.tls || bytes > Closing::kMostBytes) closing_->ping = closing_->closes = false;
  if (bytes > Closing::kFinBytes) closing_->closes_at_once = false;
  return closing_->closes || closing_->closes_at_once || closing_->repeats;
}

// Takes data of the server later after data that may be its own, which may be a row of messages. Returns
// whether the row goes on. A ping or a message before the connection is closed is not of it.
bool Conversation::row_goes_on(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us) {
  if (!closing_->repeats) return false;
  if (!after_pause(kServer, sent, now_us, Closing::kPingPauseUs)) return true;
  if (packet.tls && sent.to - sent.from <= Closing::kMostBytes) {
    closing_->repeats = false;
    return false;
  }
  return ++closing_->pauses < Closing::kLeastPauses;
}

bool Conversation::may_be_own(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us,
                              ExplainedRows& out) {
  const std::int64_t acked = acked_requests(packet);
  const bool pending = !exchanges_.empty() && !exchanges_.back().answered;
  const bool newer = pending && acked > exchanges_.back().request_from;  // it answers a newer request
  if (closing_ && pending && closing_->over) {
    if (!newer) return false;
    closing_->over = false;
  }
  if (may_be_closing()) {
    bool own = closing_->ping;
    if (newer) {
      own = own || closing_->crosses;
    } else if (now_us - closing_->began_us < Closing::kAtOnceUs) {
      if (stays_own(packet, sent)) return true;
      own = false;
    } else if (!own) {
      if (row_goes_on(packet, sent, now_us)) return true;
      own = closing_->repeats;
    }
    if (own) {
      end_answer_before_closing();
    } else {
      go_on_after_closing(out);
    }
  }
  if (closing_ && closing_->over && goes_on(kServer)) return false;
  if (exchanges_.empty()) return false;
  const Exchange& last = exchanges_.back();
  const std::int64_t bytes = sent.to - sent.from;
  const bool small = packet.tls && bytes <= Closing::kMostBytes;
  if (!last.answered && packet.has(kAck) && acked <= last.request_from) {
    // it was sent before the new request arrived, and long after the last answer
    if (exchanges_.size() < 2 || bytes > Closing::kMostBytes) return false;
    const Exchange& before = exchanges_[exchanges_.size() - 2];
    if (before.end_us < 0 || !after_pause(kServer, sent, now_us, Closing::kLeastPauseUs)) return false;
    open_closing(before, sent, now_us);
    closing_->closes = closing_->crosses = true;
    return true;
  }
  const auto paused = [&](std::int64_t least_us) {
    return last.answered ? after_pause(kServer, sent, now_us, least_us)
                         : now_us - ends_[kClient].data.last_sent_us() >= least_us;
  };
  const bool long_ago = paused(Closing::kPingPauseUs);
  if (last.answered) {
    if (last.end_us < 0 || !paused(small ? Closing::kLeastPauseUs : Closing::kPingPauseUs)) return false;
  } else {
    const bool message = last.request_to - last.request_from <= Closing::kPingBytes;
    if (!small || !message || sent.announced || !long_ago) return false;
  }
  open_closing(last, sent, now_us);
  closing_->no_request = !last.answered;
  closing_->closes = small;
  closing_->ping = small && long_ago && bytes <= Closing::kPingBytes;
  closing_->closes_at_once = last.answered && paused(Closing::kFinPauseUs) && bytes <= Closing::kFinBytes;
  closing_->repeats = last.answered && long_ago;
  closing_->pauses = 1;
  return true;
}

void Conversation::open_closing(const Exchange& last, const DataSide::Sent& sent, std::int64_t now_us) {
  if (!closing_) closing_ = std::make_unique<Closing>();
  closing_->open = true;
  closing_->ping = closing_->closes = closing_->closes_at_once = false;
  closing_->repeats = closing_->crosses = closing_->no_request = false;
  closing_->request_from = last.request_from;
  closing_->began_us = now_us;
  closing_->from = sent.from;
  closing_->before = last.answer_end();
}

void Conversation::close_after(unsigned end, const Packet& packet, std::int64_t now_us, ExplainedRows& out) {
  if (may_be_closing()) {
    const std::int64_t since_us = now_us - ends_[kServer].data.last_sent_us();
    const bool at_once = end == kServer && packet.has(kFin) && since_us <= Closing::kFinUs;
    if (closing_->closes || (at_once && closing_->closes_at_once)) {
      end_answer_before_closing();
    } else {
      go_on_after_closing(out);
    }
  }
  const DataSide& answers = ends_[kServer].data;
  if (end != kClient || exchanges_.empty() || answers.outstanding() || after_fin_until_us_ >= 0) return;
  const Exchange& last = exchanges_.back();
  // a longer message that is acknowledged may be a request whose client gave up
  if (!last.answered && (last.acknowledged_us < 0 || last.request_bytes() > Closing::kPingBytes)) return;
  const bool idle = last.answered && now_us - answers.last_advance_us() >= Closing::kPingPauseUs;
  after_fin_until_us_ = idle ? INT64_MAX : now_us + leg_to(kServer).known_us() + Closing::kAfterFinUs;
}

// Returns whether the server's data is no part of an answer because the client had sent its FIN.
bool Conversation::after_fin(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us) {
  if (now_us > after_fin_until_us_) return false;
  const std::int64_t bytes = sent.to - sent.from;
  // if the client's last message was only acknowledged, more than a close_notify may answer it
  const bool answered = !exchanges_.empty() && exchanges_.back().answered;
  const std::int64_t most = answered ? Closing::kAfterFinBytes : packet.tls ? Closing::kAlertBytes : 0;
  if (after_fin_bytes_ + bytes <= most) {
    after_fin_bytes_ += static_cast<std::int32_t>(bytes);
    return true;
  }
  // so much is the rest of the answer
  after_fin_until_us_ = 0;
  if (!exchanges_.empty()) exchanges_.back().answer_bytes += after_fin_bytes_;
  return false;
}

// What the server sent after the pause is no part of the answer.
void Conversation::end_answer_before_closing() {
  const auto of = std::find_if(exchanges_.begin(), exchanges_.end(), [&](const Exchange& exchange) {
    return exchange.request_from == closing_->request_from;
  });
  if (of != exchanges_.end() && closing_->no_request) {
    exchanges_.erase(of);
  } else if (of != exchanges_.end()) {
    of->end_answer(closing_->before);
  }
  // unless it came before the answer to a newer request
  const bool messages = closing_->ping || closing_->repeats;
  closing_->over = messages && (exchanges_.empty() || exchanges_.back().answered);
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
  if (closing_->ping || closing_->crosses) {
    end_answer_before_closing();
  } else if (!closing_->closes || bytes > Closing::kMostBytes) {
    go_on_after_closing(out);
  }
}

}  // namespace tcplearn
