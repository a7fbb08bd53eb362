// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A connection that sends one segment at a time over recorded RTTs and a stated process of losses: when a
// resend policy sends again, what gets through, and how long each request takes. Open loop: what is sent
// changes no RTT.
#ifndef TCPLEARN_THIN_REQUESTS_H
#define TCPLEARN_THIN_REQUESTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tcplearn/tcplearn.h"

namespace tcplearn {

// Recorded RTTs, rising times from 0 on; the record is begun again at its end.
struct RttRecord {
  const std::int64_t* time_us;
  const std::int64_t* rtt_us;
  std::size_t rows;
};

// A packet or its ACK is lost at random; in a fade, [begin, end); and where the RTT is at least `queue_us`.
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
  std::vector<std::uint32_t> answered;  // which sending got through first
};

// `wanted_us`: when each request would begin; it waits for the one before. With `clear` timestamps tell which
// sending is answered. `state` is initialised.
ThinRequests run_thin_requests(const tl_resend_policy* policy, void* state, const RttRecord& record,
                               const LossProcess& losses, const std::int64_t* wanted_us, std::size_t count,
                               std::uint64_t seed, bool clear);

}  // namespace tcplearn

#endif
