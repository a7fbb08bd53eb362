// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// One direction of a hop as its path file describes it (docs/paths.md). Times are in nanoseconds, because a
// packet of 1,500 bytes takes 1.2 us at 10 Gbit/s. They count from the start of the link.
#ifndef TCPLEARN_EMULATE_DIRECTION_H
#define TCPLEARN_EMULATE_DIRECTION_H

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tcplearn::emulate {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Dated {  // holds from at_ns on for lasts_ns, and again in each period of every_ns
  std::int64_t at_ns = 0, lasts_ns = kNever, every_ns = kNever;
  bool holds(std::int64_t now_ns) const {
    const std::int64_t at = every_ns == kNever ? now_ns : now_ns % every_ns;
    return at >= at_ns && at - at_ns < lasts_ns;
  }
};

struct Changed : Dated {  // what is absent is unchanged
  std::optional<double> rate_mbps, loss;
  std::optional<std::int64_t> delay_ns, jitter_ns;
};

struct Bursts {  // the Gilbert-Elliott model
  bool in_time;  // states last for exponential times; otherwise each packet may change the state
  double leave_good, leave_bad;  // mean in ns, or a probability for each packet
  double loss_in_good, loss_in_bad;
};

// Fades whose lengths and pauses are drawn; both directions of a hop meet the same ones.
struct DrawnFades {
  std::pair<double, double> lasts_ns;  // shortest and longest; log-uniform
  double apart_ns;                     // mean pause
  bool exponential;                    // pauses are exponential; otherwise half to one and a half of the mean
  bool forward, reverse;               // which directions they are in
};

// A bucket of tokens that fills at a rate; packets that find too few tokens are dropped.
struct Policer {
  double mbps;
  std::int64_t bytes;  // size of the bucket
};

struct Direction {
  std::optional<double> rate_mbps;                                    // absent: nothing waits
  std::shared_ptr<const std::vector<std::int64_t>> opportunities_ns;  // of a trace, in place of a rate
  std::int64_t limit_packets = 100;         // of the queue, with the packet that is being sent
  std::optional<std::int64_t> limit_bytes;  // in place of limit_packets
  std::optional<Policer> policer;           // behind the queue
  std::int64_t delay_ns = 0, jitter_ns = 0, tail_ns = 0;
  std::string distribution = "normal";  // normal, uniform, uniform-above, pareto
  double correlation = 0;
  bool jitter_reorders = false;
  double reorder = 0;  // share of packets that get reorder_ns and may be overtaken
  std::int64_t reorder_ns = 0;
  double loss = 0;
  std::optional<Bursts> bursts;
  std::optional<std::pair<std::int64_t, std::int64_t>> slot_ns;  // least and most between two slots
  std::vector<Changed> changes;                                  // in the order of at_ns
  std::vector<Dated> fades;
};

// Values in force at a time.
struct InForce {
  double rate_mbps, loss;
  std::int64_t delay_ns, jitter_ns;
};

// Returns the values in force at `now_ns`. If two changes overlap, the one that began later applies.
InForce in_force(const Direction& direction, std::int64_t now_ns);

}  // namespace tcplearn::emulate

#endif
