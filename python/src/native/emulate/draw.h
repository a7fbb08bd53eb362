// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Random numbers of a stream of its own for each purpose, so that one draw more or less for one purpose
// changes no other. They are the same on every machine.
#ifndef TCPLEARN_EMULATE_DRAW_H
#define TCPLEARN_EMULATE_DRAW_H

#include <cmath>
#include <cstdint>

namespace tcplearn::emulate {

enum class Purpose : std::uint64_t {
  kLoss = 1,
  kBursts,
  kBurstLoss,
  kJitter,
  kTail,
  kReorder,
  kSlot,
  kFades
};

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t hop, bool forward, Purpose purpose)
      : state_(mixed(mixed(seed) + (hop * 2 + forward) * 64 + static_cast<std::uint64_t>(purpose))) {}

  // Returns a number in [0, 1).
  double uniform() {
    state_ += 0x9E3779B97F4A7C15u;
    return static_cast<double>(mixed(state_) >> 11) / 9007199254740992.0;
  }
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

}  // namespace tcplearn::emulate

#endif
