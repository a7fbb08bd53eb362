// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// When a packet that has left the queue of a hop arrives: delay, jitter, slots, reordering.
#ifndef TCPLEARN_EMULATE_DELAY_H
#define TCPLEARN_EMULATE_DELAY_H

#include <cstdint>

#include "emulate/direction.h"
#include "emulate/draw.h"

namespace tcplearn::emulate {

// Returns the quantile `chance` of a distribution of jitter, in deviations (normal, pareto) or in halves of
// the width (uniform, uniform-above). Normal and Pareto end at four deviations, as netem's tables do.
double jitter_quantile(const std::string& distribution, double chance);

class Delay {
 public:
  // `direction` must outlive this object.
  Delay(const Direction& direction, std::uint64_t seed, std::uint64_t hop, bool forward);

  // Returns when a packet that passes at `now_ns` arrives. Times must not fall. Arrivals fall only where the
  // direction reorders.
  std::int64_t arrives_ns(std::int64_t now_ns);

 private:
  double jitter_ns(std::int64_t deviation_ns);

  const Direction& d_;
  Draw jitter_, tail_, reorder_, slots_;
  double last_normal_ = 0;
  std::int64_t last_ns_ = 0, slot_ns_ = 0;
};

}  // namespace tcplearn::emulate

#endif
