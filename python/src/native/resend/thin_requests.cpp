// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "resend/thin_requests.h"

#include <algorithm>
#include <limits>

namespace tcplearn {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// The most transmissions of a segment. A policy that gets no answer to 400 of them has waited for days.
constexpr std::uint32_t kMostSendings = 400;

enum class Draw : std::uint64_t { kRtt = 1, kLoss = 2 };

// Returns a number in [0, 1) that depends only on the transmission: all policies meet the same path.
double drawn(std::uint64_t seed, std::size_t request, std::uint32_t sending, Draw what) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15u + request * 0xBF58476D1CE4E5B9u +
                    std::uint64_t{sending} * 0x94D049BB133111EBu +
                    static_cast<std::uint64_t>(what) * 0xD6E8FEB86659FD93u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

// Returns the RTT at a time. Between two rows it returns one of the two RTTs, more likely that of the
// nearer row; this preserves the recorded jitter.
std::int64_t rtt_at(const RttRecord& record, std::int64_t at_us, double odds) {
  const std::int64_t length_us = std::max<std::int64_t>(record.time_us[record.rows - 1], 1);
  const std::int64_t within_us = at_us % length_us;
  const auto* end = record.time_us + record.rows;
  const auto row =
      static_cast<std::size_t>(std::lower_bound(record.time_us, end, within_us) - record.time_us);
  if (row == 0) return record.rtt_us[0];
  if (row >= record.rows) return record.rtt_us[record.rows - 1];
  const auto step_us = static_cast<double>(record.time_us[row] - record.time_us[row - 1]);
  const auto past_us = static_cast<double>(within_us - record.time_us[row - 1]);
  return odds * std::max(step_us, 1e-6) < past_us ? record.rtt_us[row] : record.rtt_us[row - 1];
}

bool in_fade(const LossProcess& losses, std::int64_t at_us) {
  const auto* end = losses.fade_begin_us + losses.fades;
  const auto* next = std::lower_bound(losses.fade_begin_us, end, at_us);
  return next != losses.fade_begin_us && at_us < losses.fade_end_us[next - losses.fade_begin_us - 1];
}

bool is_lost(const LossProcess& losses, std::int64_t at_us, std::int64_t rtt_us, double odds) {
  double arrives = 1 - losses.anywhere - (rtt_us >= losses.queue_us ? losses.in_queue : 0);
  for (const std::int64_t passing_us : {at_us, at_us + rtt_us})
    if (in_fade(losses, passing_us)) arrives *= 1 - losses.in_fade;
  return odds < 1 - arrives;
}

}  // namespace

std::int64_t PolicyTimer::sent_us(std::int64_t at_us, const Fate&) {
  const tl_resend_event event{at_us, 1};
  policy_->send(state_, &event, &wait_);
  return wait_.wait_us;
}

std::int64_t PolicyTimer::fired_us(std::int64_t at_us, const Fate&) {
  const tl_resend_event event{at_us, 1};
  policy_->timer(state_, &event, &wait_);
  return wait_.wait_us;
}

void PolicyTimer::acknowledged(const tl_resend_ack& ack) { policy_->ack(state_, &ack, &wait_); }

ThinRequests run_thin_requests(RequestTimer& timer, const RttRecord& record, const LossProcess& losses,
                               const std::int64_t* wanted_us, std::size_t count, std::uint64_t seed,
                               bool clear) {
  ThinRequests out;
  std::int64_t now_us = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t start_us = std::max(wanted_us[i], now_us + 1000);
    std::int64_t sent_us = start_us, through_us = start_us, done_us = kNever;
    std::uint32_t sending = 0, answered = 0, needless = 0;
    for (;; ++sending) {
      const std::int64_t rtt_us = rtt_at(record, sent_us, drawn(seed, i, sending, Draw::kRtt));
      const bool lost =
          done_us == kNever && is_lost(losses, sent_us, rtt_us, drawn(seed, i, sending, Draw::kLoss));
      if (done_us != kNever) {
        ++needless;  // a copy is on its way already, and this one does not overtake it
      } else if (!lost) {
        through_us = sent_us;
        answered = sending;
        done_us = sent_us + rtt_us;
      }
      const Fate fate{rtt_us, lost};
      const std::int64_t wait_us =
          sending == 0 ? timer.sent_us(sent_us, fate) : timer.fired_us(sent_us, fate);
      if (done_us != kNever && done_us - sent_us <= wait_us) break;
      if (sending + 2 >= kMostSendings) {
        if (done_us == kNever) done_us = sent_us;
        break;
      }
      sent_us += wait_us;
    }
    const std::uint32_t answers = !clear          ? std::uint32_t{TL_RESEND_UNCLEAR}
                                  : answered == 0 ? std::uint32_t{TL_RESEND_FIRST}
                                                  : std::uint32_t{TL_RESEND_LATER};
    timer.acknowledged({done_us, done_us - through_us, 0, answers});
    now_us = done_us;
    out.start_us.push_back(start_us);
    out.response_us.push_back(done_us - start_us);
    out.resends.push_back(sending);
    out.needless.push_back(needless);
    out.answered.push_back(answered);
  }
  return out;
}

}  // namespace tcplearn
