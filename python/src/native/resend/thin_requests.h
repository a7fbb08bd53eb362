// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Simulates a connection that sends one segment at a time over recorded RTTs with a given loss process.
// The result says when a resend policy retransmits, which transmission arrives, and how long each request
// takes. The loop is open: a transmission does not change the RTTs.
#ifndef TCPLEARN_THIN_REQUESTS_H
#define TCPLEARN_THIN_REQUESTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tcplearn/tcplearn.h"

namespace tcplearn {

// Recorded RTTs with rising times from 0; the record repeats.
struct RttRecord {
  const std::int64_t* time_us;
  const std::int64_t* rtt_us;
  std::size_t rows;
};

// Losses of packets or their ACKs: at random, in a fade [begin, end) (a period in which the path delivers
// little), and while the RTT is at least `queue_us`.
struct LossProcess {
  const std::int64_t* fade_begin_us;  // begins and ends rise
  const std::int64_t* fade_end_us;
  std::size_t fades;
  double in_fade, anywhere, in_queue;
  std::int64_t queue_us;
};

struct ThinRequests {
  std::vector<std::int64_t> start_us, response_us;
  std::vector<std::uint32_t> resends, needless;
  std::vector<std::uint32_t> answered;  // the transmission of each request that arrived first
};

// What becomes of a transmission: its RTT, and whether it or its ACK is lost. Policies do not know it.
struct Fate {
  std::int64_t rtt_us;
  bool lost;
};

// Says how long to wait for the answer to a transmission of a request before the next one.
class RequestTimer {
 public:
  virtual ~RequestTimer() = default;
  virtual std::int64_t sent_us(std::int64_t at_us, const Fate& fate) = 0;   // the first transmission
  virtual std::int64_t fired_us(std::int64_t at_us, const Fate& fate) = 0;  // a later one
  virtual void acknowledged(const tl_resend_ack& ack) = 0;
};

class PolicyTimer : public RequestTimer {
 public:
  PolicyTimer(const tl_resend_policy* policy, void* state) : policy_(policy), state_(state) {}
  std::int64_t sent_us(std::int64_t at_us, const Fate& fate) override;
  std::int64_t fired_us(std::int64_t at_us, const Fate& fate) override;
  void acknowledged(const tl_resend_ack& ack) override;

 private:
  const tl_resend_policy* policy_;
  void* state_;  // initialized
  tl_resend_wait wait_{};
};

// `wanted_us` has the intended start of each request; a request waits for the one before. With `clear`,
// timestamps show which transmission is answered.
ThinRequests run_thin_requests(RequestTimer& timer, const RttRecord& record, const LossProcess& losses,
                               const std::int64_t* wanted_us, std::size_t count, std::uint64_t seed,
                               bool clear);

}  // namespace tcplearn

#endif
