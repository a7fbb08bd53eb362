// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A path as its file describes it (docs/paths.md): two directions, and what changes with time.
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

struct Dated {  // within each period of every_s, from at_s on for lasts_s
  double at_s = 0, lasts_s = kInfinite, every_s = kInfinite;
  bool holds(double now_s) const;
};

struct Changed : Dated {
  std::optional<double> rate_mbps, delay_ms, jitter_ms, loss;
};

struct LossBursts {  // the Gilbert-Elliott model
  bool in_time;      // states last for exponential times; else there is a transition for each packet
  double leave_good, leave_bad;  // mean ms, or a probability for each packet
  double loss_in_good, loss_in_bad;
};

struct Direction {
  double rate_mbps = kInfinite;
  std::string queue_limit;  // in ns-3's form of a queue size
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

  // The present values; if two changes overlap, the later beginning takes precedence.
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
