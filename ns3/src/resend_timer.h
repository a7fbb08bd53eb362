// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A resend policy of the core with one connection's state: each event is answered with the wait until the
// timer. Events and answers can be stored, for a comparison with the core's answers to the same events.
#ifndef TCPLEARN_NS3_RESEND_TIMER_H
#define TCPLEARN_NS3_RESEND_TIMER_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithm.h"

namespace tcplearn {

struct ResendEvent {
  enum Kind { kSent, kFired, kAcknowledged } kind;
  tl_resend_ack in;  // kSent and kFired have the time and the segments out
  tl_resend_wait answer;
  bool armed = false;  // the timer was set by this answer
};

class ResendTimer {
 public:
  explicit ResendTimer(const Spec& spec);  // throws std::invalid_argument; usually a kernel's arithmetic

  std::int64_t sent_us(std::int64_t time_us, std::size_t out_segments);
  std::int64_t fired_us(std::int64_t time_us, std::size_t out_segments);  // before it sends again
  std::int64_t acknowledged_us(const tl_resend_ack& ack);
  std::int64_t wait_us() const { return wait_.wait_us; }  // the last answer
  bool ends_in_probe() const { return wait_.probe != 0; }

  // Returns the state of another connection to the same place, which begins with what this one has learned.
  std::unique_ptr<ResendTimer> next_connection(const Spec& spec) const;

  void armed();  // the timer was set by the last answer
  void keep_events(std::vector<ResendEvent>* events) { events_ = events; }

 private:
  std::int64_t answered(ResendEvent::Kind kind, const tl_resend_ack& in);

  Algorithm<tl_resend_policy> policy_;
  tl_resend_wait wait_{};
  std::vector<ResendEvent>* events_ = nullptr;
};

}  // namespace tcplearn

#endif
