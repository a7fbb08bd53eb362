// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A connection that sends one segment at a time over recorded RTTs with a given loss process: when a resend
// policy sends again, which transmission arrives, and how long each request takes. The loop is open: a
// transmission changes no RTT.
#ifndef TCPLEARN_THIN_REQUESTS_H
#define TCPLEARN_THIN_REQUESTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tcplearn/tcplearn.h"

namespace tcplearn {

// Recorded RTTs at rising times from 0 on; the record repeats.
struct RttRecord {
  const std::int64_t* time_us;
  const std::int64_t* rtt_us;
  std::size_t rows;
};

// A packet or its ACK is lost at random, in a fade [begin, end), and while the RTT is at least `queue_us`.
struct LossProcess {
  const std::int64_t* fade_begin_us;  // rising, as the ends
  const std::int64_t* fade_end_us;
  std::size_t fades;
  double in_fade, anywhere, in_queue;
  std::int64_t queue_us;
};

struct ThinRequests {
  std::vector<std::int64_t> start_us, response_us;
  std::vector<std::uint32_t> resends, needless;
  std::vector<std::uint32_t> answered;  // the transmission that arrived first
};

// `wanted_us` are the intended beginnings of the requests, each of which waits for the one before. With
// `clear`, timestamps show which transmission is answered. `state` must be initialised.
ThinRequests run_thin_requests(const tl_resend_policy* policy, void* state, const RttRecord& record,
                               const LossProcess& losses, const std::int64_t* wanted_us, std::size_t count,
                               std::uint64_t seed, bool clear);

}  // namespace tcplearn

#endif
