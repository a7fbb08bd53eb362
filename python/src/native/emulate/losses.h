// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Which packets one direction of a hop loses, and by what cause.
#ifndef TCPLEARN_EMULATE_LOSSES_H
#define TCPLEARN_EMULATE_LOSSES_H

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulate/direction.h"
#include "emulate/draw.h"

namespace tcplearn::emulate {

enum class Cause : std::uint8_t { kNone, kQueue, kPolicer, kRandom, kBurst, kFade, kForced };
constexpr std::size_t kCauses = 7;

// The drawn fades of a hop, as far as they have been asked for.
class FadeTimes {
 public:
  FadeTimes(const DrawnFades& drawn, std::uint64_t seed, std::uint64_t hop)
      : drawn_(drawn), draw_(seed, hop, true, Purpose::kFades) {}
  bool holds(std::int64_t now_ns);

 private:
  DrawnFades drawn_;
  Draw draw_;
  std::vector<std::int64_t> ends_ns_;  // of pause, fade, pause, ...
};

class Losses {
 public:
  // `direction` must outlive this object; `drawn` is null where no fades are drawn.
  Losses(const Direction& direction, std::shared_ptr<FadeTimes> drawn, std::uint64_t seed, std::uint64_t hop,
         bool forward);

  // Returns why the packet of this size that passes at `now_ns` is lost, or kNone. Times must not fall.
  Cause cause(std::int64_t now_ns, std::int64_t bytes);

 private:
  bool over_rate(std::int64_t now_ns, std::int64_t bytes);
  bool in_fade(std::int64_t now_ns);
  bool in_burst(std::int64_t now_ns);
  bool after(std::int64_t now_ns, bool found_bad);

  const Direction& d_;
  std::shared_ptr<FadeTimes> drawn_;
  Draw random_, bursts_, burst_loss_;
  bool bad_ = false;
  std::int64_t state_ends_ns_ = 0;  // of bursts in time
  double tokens_ = 0;               // of the policer, in bytes
  std::int64_t filled_ns_ = 0;      // when they were counted
};

}  // namespace tcplearn::emulate

#endif
