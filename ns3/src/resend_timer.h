// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A resend policy of the core (when the retransmission timer sends again) with the state of one
// connection. The answer to each event is the wait until the timer expires. Events and answers can be
// stored, to compare the answers with the core's answers to the same events.
#ifndef TCPLEARN_NS3_RESEND_TIMER_H
#define TCPLEARN_NS3_RESEND_TIMER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithm.h"
#include "path_statistics.h"

namespace tcplearn {

struct ResendEvent {
  enum Kind { kSent, kFired, kAcknowledged } kind;
  tl_resend_ack in;  // for kSent and kFired: the time and the segments in flight
  tl_resend_wait answer;
  bool armed = false;  // the timer was set to this wait
};

class ResendTimer {
 public:
  // throws std::invalid_argument; the default arithmetic is the kernel's
  explicit ResendTimer(const Spec& spec);

  std::int64_t sent_us(std::int64_t time_us, std::size_t out_segments);
  std::int64_t fired_us(std::int64_t time_us, std::size_t out_segments);  // called before the retransmission
  std::int64_t acknowledged_us(const tl_resend_ack& ack);
  std::int64_t wait_us() const { return wait_.wait_us; }  // the last answer
  bool ends_in_probe() const { return wait_.probe != 0; }

  // Returns the state of the next connection to the same destination, which inherits what this one
  // learned.
  std::unique_ptr<ResendTimer> next_connection(const Spec& spec) const;

  void armed();  // the timer was set by the last answer
  // Sets the waits by the statistics of the path, whatever the policy says; all of them end in a probe.
  void know(std::shared_ptr<const PathStatistics> path) { statistical_.emplace(std::move(path)); }
  void keep_events(std::vector<ResendEvent>* events) { events_ = events; }

 private:
  std::int64_t answered(ResendEvent::Kind kind, const tl_resend_ack& in);

  Algorithm<tl_resend_policy> policy_;
  std::optional<StatisticalTimer> statistical_;
  tl_resend_wait wait_{};
  std::vector<ResendEvent>* events_ = nullptr;
};

}  // namespace tcplearn

#endif
