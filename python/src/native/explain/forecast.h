// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Computes what resend policies of the core would have done with the captured packets of one end: when
// each policy would have retransmitted a lost segment, and how often spuriously.
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

// The settings to compare. A setting is modelled by a resend policy, or by several, such as "priced + stock";
// then each wait is the longest of theirs. In the policies' parameters, {N} stands for N us rounded up to
// whole ticks of the sender's timers, and {N ticks} for N ticks. The policies run in fixed point. The
// constructor throws std::invalid_argument.
class Candidates {
 public:
  Candidates() = default;
  explicit Candidates(const std::vector<std::string>& specs);
  std::size_t size() const { return all_.size(); }
  std::size_t words() const { return words_; }  // the size of all policies' states

 private:
  friend class Forecast;
  struct Policy {
    const tl_resend_policy* core = nullptr;
    std::array<std::vector<std::uint64_t>, TimerTicks::kTicksUs.size()> params;  // for each tick
    std::size_t at = 0;                                                          // offset of its state
  };
  using Candidate = std::vector<Policy>;
  Policy read(const std::string& spec);
  std::vector<Candidate> all_;
  std::size_t words_ = 0;
};

// A loss that the timer repaired.
struct TimedLoss {
  std::int64_t start_us = 0, end_us = 0, silent_until_us = 0;
  std::uint32_t resends = 1;    // number of the retransmission that arrived
  std::int64_t waited_us = -1;  // wait until the first retransmission of a lone segment; -1: not known
};

// An ACK that answers a retransmission, although the first transmission had arrived: the ACKs of the first
// transmission and of earlier copies were lost.
struct UnheardAcks {
  std::uint32_t copies = 0;   // number of the retransmission that the ACK answers; 0: no ACK was lost
  std::int64_t round_us = 0;  // time from this retransmission to the ACK
};

class Forecast {
 public:
  // `ticks`: the timer ticks of the sender's host, which outlive the forecast. `earlier`: the states of an
  // earlier connection to the same host, from which the policies inherit, or null.
  Forecast(const Candidates& candidates, TimerTicks& ticks, const std::vector<std::uint64_t>* earlier);

  // Takes the first transmission of a segment; `out`: segments in flight, this one included.
  void on_sent(std::int64_t now_us, std::uint32_t out);
  // Takes an ACK of new data. `rtt_us`: RTT of its newest segment, or -1. `lost`: the loss of the oldest
  // segment, or null. `unheard`: earlier ACKs of the oldest segment that were lost. `clear`: ACKs show which
  // copy they answer (timestamps).
  void on_ack(std::int64_t now_us, std::int64_t rtt_us, std::uint32_t out, const TimedLoss* lost,
              const UnheardAcks& unheard, bool clear, Fates& fates);
  // Takes a lone segment that was lost before the capture point, and whose retransmission is seen now.
  void on_unseen(std::int64_t due_us, Fates& fates);

  // Returns the states of all policies.
  const std::vector<std::uint64_t>& states() const { return states_; }
  // Returns the number of spurious retransmissions of each candidate.
  const PerCandidate& spurious() const { return spurious_; }

 private:
  struct Running {
    std::int64_t due_us = -1;           // when the running wait ends; -1: nothing is in flight
    std::vector<std::int64_t> sent_us;  // times of its retransmissions since the last ACK
  };
  void fire(std::size_t k, std::int64_t until_us);
  Running until_now(std::size_t k);
  void repair(std::size_t k, const TimedLoss& lost, Fates& fates);
  // Returns when the candidate's first heard ACK would have come: that of as many copies as the sender's.
  std::int64_t heard_us(std::size_t k, const UnheardAcks& unheard);
  // The states of a candidate's policies.
  std::vector<std::uint64_t> copied(std::size_t k) const;
  void restore(std::size_t k, const std::vector<std::uint64_t>& kept);
  void arm(std::size_t k, std::int64_t from_us, std::int64_t wait_us);
  // Return the longest wait of the candidate's policies, after this event.
  template <typename Tell>
  std::int64_t longest(std::size_t k, Tell tell);
  std::int64_t sent(std::size_t k, const tl_resend_event& event);
  std::int64_t expired(std::size_t k, const tl_resend_event& event);
  std::int64_t acked(std::size_t k, const tl_resend_ack& ack);
  void* state(const Candidates::Policy& one) { return states_.data() + one.at; }

  const Candidates& candidates_;
  TimerTicks& ticks_;
  std::vector<std::uint64_t> states_;
  std::array<Running, kMostCandidates> running_{};
  PerCandidate spurious_{};
  std::int64_t now_us_ = 0;
  std::int64_t asked_us_ = 0;  // the first candidate's wait at the last transmission
  std::uint32_t out_ = 1;
};

}  // namespace tcplearn

#endif
