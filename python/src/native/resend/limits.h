// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Timers that know what no sender can know: limits of what a resend policy can give over recorded RTTs.
#ifndef TCPLEARN_RESEND_LIMITS_H
#define TCPLEARN_RESEND_LIMITS_H

#include "resend/thin_requests.h"
#include "tcplearn/limits/statistical_wait.hpp"

namespace tcplearn {

// Knows which transmissions are lost, and the RTT that each has or would have had. It retransmits exactly
// when the answer is overdue, and never in vain. With `doubles` it waits its first wait twice (the first
// retransmission stands for a probe), then two times, four times, ... as long.
class Clairvoyant : public RequestTimer {
 public:
  explicit Clairvoyant(bool doubles) : doubles_(doubles) {}
  std::int64_t sent_us(std::int64_t at_us, const Fate& fate) override;
  std::int64_t fired_us(std::int64_t at_us, const Fate& fate) override;
  void acknowledged(const tl_resend_ack&) override {}

 private:
  bool doubles_;
  std::int64_t next_us_ = 0;
  std::uint32_t resends_ = 0;
};

// Knows the distribution of the RTTs near the time of sending and the shares of transmissions that are lost
// (StatisticalWait), not what becomes of a transmission.
class Statistical : public RequestTimer {
 public:
  Statistical(const RttRecord& record, double lost, double lost_again, std::int64_t price_us)
      : record_(record), wait_(lost, lost_again, price_us) {}
  std::int64_t sent_us(std::int64_t at_us, const Fate& fate) override;
  std::int64_t fired_us(std::int64_t at_us, const Fate& fate) override;
  void acknowledged(const tl_resend_ack&) override {}

 private:
  RttRecord record_;
  StatisticalWait wait_;
  std::int64_t began_us_ = 0;
};

}  // namespace tcplearn

#endif
