// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The timer of a sender that knows the statistics of its path: how RTTs are distributed at each time, and
// which shares of transmissions are lost. It does not know what becomes of a single transmission. Like the
// clairvoyant sender it is a limit, here for what better statistics could give a retransmission timer.
//
// The statistics come from a first run of the same scenario, with the same seed, by a clairvoyant sender.
#ifndef TCPLEARN_NS3_PATH_STATISTICS_H
#define TCPLEARN_NS3_PATH_STATISTICS_H

#include <cstdint>
#include <memory>
#include <vector>

#include "tcplearn/limits/statistical_wait.hpp"

namespace tcplearn {

struct PathStatistics {
  struct Transmissions {
    std::uint64_t sent = 0, lost = 0;
    double lost_share() const { return sent ? static_cast<double>(lost) / static_cast<double>(sent) : 0; }
  };
  std::vector<std::int64_t> sent_us, rtt_us;  // of segments that were sent once, by rising time
  Transmissions first, again;                 // of data; `again` after a loss
};

// Runs a timer by the statistics of its path. A spurious retransmission has the price of the policy `priced`.
class StatisticalTimer {
 public:
  // Throws std::invalid_argument if `path` has no RTT.
  explicit StatisticalTimer(std::shared_ptr<const PathStatistics> path);

  std::int64_t begun_us(std::int64_t time_us);  // the wait after a first transmission, or after an ACK
  std::int64_t fired_us(std::int64_t time_us);  // the wait after a retransmission

 private:
  std::shared_ptr<const PathStatistics> path_;
  StatisticalWait wait_;
  std::int64_t began_us_ = 0;
};

}  // namespace tcplearn

#endif
