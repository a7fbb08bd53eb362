// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Timers that know what no sender can know: limits of what a resend policy can give over recorded RTTs.
#ifndef TCPLEARN_RESEND_LIMITS_H
#define TCPLEARN_RESEND_LIMITS_H

#include "resend/thin_requests.h"

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

// Knows the distribution of the RTTs near the time of sending, the share of first transmissions that are
// lost, and the share of retransmissions that are lost after a loss; not what becomes of a transmission. Its
// next wait has the lowest expected cost, chosen for that wait alone: the waiting for what is lost, and
// `price_us` for each spurious retransmission, one more for each doubling (as `priced` counts them).
class Statistical : public RequestTimer {
 public:
  Statistical(const RttRecord& record, double lost, double lost_again, std::int64_t price_us)
      : record_(record), lost_(lost), lost_again_(lost_again), price_us_(static_cast<double>(price_us)) {}
  std::int64_t sent_us(std::int64_t at_us, const Fate& fate) override;
  std::int64_t fired_us(std::int64_t at_us, const Fate& fate) override;
  void acknowledged(const tl_resend_ack&) override {}

 private:
  std::vector<std::int64_t> near(std::int64_t at_us) const;
  std::size_t rows_until(std::int64_t us) const;
  std::int64_t cheapest_us(double needed, double late, double through) const;

  RttRecord record_;
  double lost_, lost_again_, price_us_;
  std::vector<std::int64_t> rtts_us_;  // near the first transmission, rising
  std::int64_t waited_us_ = 0, began_us_ = 0;
};

}  // namespace tcplearn

#endif
