// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What resend policies of the core would have done on the very packets of one end: when each would have sent
// again what was lost, and how often for nothing.
#ifndef TCPLEARN_EXPLAIN_FORECAST_H
#define TCPLEARN_EXPLAIN_FORECAST_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rows.h"
#include "sender_timer.h"
#include "tcplearn/tcplearn.h"

namespace tcplearn {

// Policies with their parameters, as a kernel has them: in fixed point. Throws std::invalid_argument.
class Candidates {
 public:
  Candidates() = default;
  explicit Candidates(const std::vector<std::string>& specs);
  std::size_t size() const { return all_.size(); }
  std::size_t words() const { return words_; }  // that the states of all take

 private:
  friend class Forecast;
  struct Candidate {
    const tl_resend_policy* policy;
    std::vector<std::uint64_t> params;
    std::size_t at;  // its state's place
  };
  std::vector<Candidate> all_;
  std::size_t words_ = 0;
};

// A loss that the timer was for.
struct TimedLoss {
  std::int64_t start_us = 0, end_us = 0, silent_until_us = 0;
  std::uint32_t resends = 1;    // the number of the resend that arrived
  std::int64_t waited_us = -1;  // until the first resend of a lone segment; -1: not known
};

class Forecast {
 public:
  // `ticks`: of the sender, which outlive it.
  Forecast(const Candidates& candidates, TimerTicks& ticks);

  // A segment is sent for the first time; `out`: those out, with it.
  void on_sent(std::int64_t now_us, std::uint32_t out);
  // An ACK advances. rtt_us: of its newest segment, or -1. `lost`: the oldest segment was lost, or null.
  // `clear`: an ACK says which copy it answers.
  void on_ack(std::int64_t now_us, std::int64_t rtt_us, std::uint32_t out, const TimedLoss* lost, bool clear,
              Fates& fates);
  // A lone segment was lost before it came here, and is here now.
  void on_unseen(std::int64_t due_us, Fates& fates);

  // Resends for nothing, by candidate.
  const PerCandidate& spurious() const { return spurious_; }

 private:
  struct Running {
    std::int64_t due_us = -1;           // the end of its wait; -1: nothing is out
    std::vector<std::int64_t> sent_us;  // its resends since the last ACK
  };
  void fire(std::size_t k, std::int64_t until_us);
  void arm(std::size_t k, std::int64_t from_us, std::int64_t wait_us);
  void* state(std::size_t k) { return states_.data() + candidates_.all_[k].at; }

  const Candidates& candidates_;
  TimerTicks& ticks_;
  std::vector<std::uint64_t> states_;
  std::array<Running, kMostCandidates> running_{};
  PerCandidate spurious_{};
  std::int64_t now_us_ = 0;
  std::int64_t asked_us_ = 0;  // the first candidate's wait, since the last sending
  std::uint32_t out_ = 1;
};

}  // namespace tcplearn

#endif
