// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "resend/limits.h"

#include <algorithm>
#include <limits>

namespace tcplearn {

namespace {

constexpr std::int64_t kUntilAnswered = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kLongestWait = 120'000'000;  // Linux's TCP_RTO_MAX

}  // namespace

std::int64_t Clairvoyant::sent_us(std::int64_t, const Fate& fate) {
  next_us_ = fate.rtt_us;
  resends_ = 0;
  return fate.lost ? next_us_ : kUntilAnswered;
}

std::int64_t Clairvoyant::fired_us(std::int64_t, const Fate& fate) {
  if (!doubles_)
    next_us_ = fate.rtt_us;
  else if (resends_++ > 0)  // after the first, which stands for a probe, the wait stays
    next_us_ = std::min(2 * next_us_, kLongestWait);
  return fate.lost ? next_us_ : kUntilAnswered;
}

std::int64_t Statistical::sent_us(std::int64_t at_us, const Fate&) {
  const std::int64_t length_us = std::max<std::int64_t>(record_.time_us[record_.rows - 1], 1);
  began_us_ = at_us;  // the record repeats
  return wait_.sent(rtts_near(record_.time_us, record_.rtt_us, record_.rows, at_us % length_us));
}

std::int64_t Statistical::fired_us(std::int64_t at_us, const Fate&) { return wait_.fired(at_us - began_us_); }

}  // namespace tcplearn
