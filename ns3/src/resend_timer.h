// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A resend policy of the core with one connection's state: each event is answered with the wait from then to
// the timer. What was given and answered can be kept, to be compared with the core's answers to the same
// events.
#ifndef TCPLEARN_NS3_RESEND_TIMER_H
#define TCPLEARN_NS3_RESEND_TIMER_H

#include <cstdint>
#include <string>
#include <vector>

#include "core_params.h"
#include "tcplearn/tcplearn.h"

namespace tcplearn {

struct ResendSpec {
  std::string name;  // "": no policy, the timer is ns-3's with the estimator's RTO
  Params params;
  tl_arithmetic arithmetic = TL_FIX;  // a kernel's
};

// "stock:rto_min_us=5000", as users type it. Throws std::invalid_argument with one line.
ResendSpec parse_resend_spec(const std::string& text);

struct ResendEvent {
  enum Kind { kSent, kFired, kAcknowledged } kind;
  tl_resend_ack in;  // of kSent and kFired the time and what is out
  tl_resend_wait answer;
  bool armed = false;  // the timer was set by this answer
};

class ResendTimer {
 public:
  explicit ResendTimer(const ResendSpec& spec);  // throws std::invalid_argument

  std::int64_t sent_us(std::int64_t time_us, std::size_t out_segments);
  std::int64_t fired_us(std::int64_t time_us, std::size_t out_segments);  // before it sends again
  std::int64_t acknowledged_us(const tl_resend_ack& ack);
  std::int64_t wait_us() const { return wait_.wait_us; }  // the last answer
  bool ends_in_probe() const { return wait_.probe != 0; }

  void armed();  // the timer was set by the last answer
  void keep_events(std::vector<ResendEvent>* events) { events_ = events; }

 private:
  std::int64_t answered(ResendEvent::Kind kind, const tl_resend_ack& in);

  const tl_resend_policy* policy_;
  std::vector<std::int64_t> state_;
  tl_resend_wait wait_{};
  std::vector<ResendEvent>* events_ = nullptr;
};

}  // namespace tcplearn

#endif
