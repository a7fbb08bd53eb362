// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A path as its file describes it (docs/paths.md): two directions, and values that change with time.
#ifndef TCPLEARN_NS3_DESCRIBED_H
#define TCPLEARN_NS3_DESCRIBED_H

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tcplearn {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Dated {  // applies from at_s on for lasts_s, and again in each period of every_s
  double at_s = 0, lasts_s = kInfinite, every_s = kInfinite;
  bool holds(double now_s) const;
};

struct Changed : Dated {
  std::optional<double> rate_mbps, delay_ms, jitter_ms, loss;
};

struct LossBursts {  // the Gilbert-Elliott model
  bool in_time;      // states last for exponential times; otherwise each packet may change the state
  double leave_good, leave_bad;  // mean in ms, or a probability for each packet
  double loss_in_good, loss_in_bad;
};

struct Direction {
  double rate_mbps = kInfinite;
  std::string queue_limit;                           // a queue size in ns-3's syntax
  std::optional<std::pair<double, double>> policer;  // Mbit/s; bytes of its bucket
  double delay_ms = 0, jitter_ms = 0, tail_ms = 0;
  std::string distribution;  // normal, uniform, uniform-above, pareto
  double correlation = 0;
  bool jitter_reorders = false;
  double reorder = 0, reorder_ms = 0;
  double loss = 0;
  std::optional<LossBursts> bursts;
  std::optional<std::pair<double, double>> slot_ms;
  std::vector<Changed> changes;
  std::vector<Dated> fades;
  bool drawn_fades = false;

  // Returns the values at time `now_s`. If two changes overlap, the one that began later applies.
  Changed now(double now_s) const;
};

struct DrawnFades {
  std::pair<double, double> lasts_s;
  double apart_s;
  bool exponential;
};

struct Described {
  Direction forward, reverse;
  std::optional<DrawnFades> drawn;
};

Described read_described(const nlohmann::json& j);

}  // namespace tcplearn

#endif
