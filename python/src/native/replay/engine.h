// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The replay engine: takes batches of samples, keeps a FlowReplay for each flow, and returns metrics.
#ifndef TCPLEARN_REPLAY_ENGINE_H
#define TCPLEARN_REPLAY_ENGINE_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "columns.h"
#include "replay/early_rows.h"
#include "replay/flow_replay.h"

namespace tcplearn {

// The caller's predictions just before each row, by estimators that it runs, at [row * others + e].
struct OtherColumns {
  const double *rtt_us = nullptr, *rto_us = nullptr;
};

class Engine {
 public:
  Engine(std::vector<Chosen> chosen, std::size_t others, double min_rto_us, bool sums_only)
      : chosen_(std::move(chosen)), others_(others), min_rto_us_(min_rto_us), sums_only_(sums_only) {}

  Engine(const Engine&) = delete;  // flows point to the engine's estimators
  Engine& operator=(const Engine&) = delete;

  // A loss can be withdrawn while it is among the last kUnsettled losses of its flow.
  static constexpr std::size_t kUnsettled = 256;
  // A flow gets a FlowReplay once it has more rows than this, a loss, or estimators of the caller. A
  // FlowReplay takes the memory of more than a hundred rows.
  static constexpr std::size_t kEarly = 64;

  void feed(const Columns& columns, const LossColumns& losses, const OtherColumns& others);
  // Returns the flow so far; null if it had no row.
  const FlowReplay* flow(std::uint32_t flow);
  // Returns a copy of the flow as finish() would return it, while the flow continues; null without rows.
  std::unique_ptr<FlowReplay> so_far(std::uint32_t flow) const;
  // Removes a flow and returns it; null if it had no row.
  std::unique_ptr<FlowReplay> finish(std::uint32_t flow);
  std::size_t others() const { return others_; }

 private:
  struct Flow {
    EarlyRows::List early;  // rows before there is a FlowReplay
    std::unique_ptr<FlowReplay> replay;
  };
  std::unique_ptr<FlowReplay> begun(const Flow& flow) const;
  FlowReplay& state_of(Flow& flow);

  std::vector<Chosen> chosen_;
  std::size_t others_;
  double min_rto_us_;
  bool sums_only_;
  EarlyRows early_;
  std::unordered_map<std::uint32_t, Flow> flows_;
};

}  // namespace tcplearn

#endif
