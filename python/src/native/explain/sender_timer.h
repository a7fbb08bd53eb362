// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The sender's own timer as Linux reckons it from the round trips that its sender had.
#ifndef TCPLEARN_EXPLAIN_SENDER_TIMER_H
#define TCPLEARN_EXPLAIN_SENDER_TIMER_H

#include <cstdint>
#include <memory>

namespace tcplearn {

class SenderTimer {
 public:
  void sample(std::int64_t now_us, std::int64_t rtt_us);
  // -1: before the first sample.
  std::int64_t srtt_us() const;
  std::int64_t rto_us() const;

 private:
  std::unique_ptr<std::uint64_t[]> state_;
};

}  // namespace tcplearn

#endif
