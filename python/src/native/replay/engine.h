// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Batches of samples in, one FlowReplay for each flow, metrics out.
#ifndef TCPLEARN_REPLAY_ENGINE_H
#define TCPLEARN_REPLAY_ENGINE_H

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "replay/flow_replay.h"

namespace tcplearn {

// A batch's columns, borrowed. All of `rows` length.
struct Columns {
  std::size_t rows = 0;
  const std::int64_t *time_us, *sent_us, *rtt_us, *armed_us, *head_sent_us;
  const std::uint32_t *flow, *flight_segments;
  const std::uint8_t *retransmitted, *ttl;
  const double *other_rtt_us = nullptr, *other_rto_us = nullptr;  // [row * others + e]
};

class Engine {
 public:
  Engine(std::vector<Chosen> chosen, std::size_t others, double min_rto_us)
      : chosen_(std::move(chosen)), others_(others), min_rto_us_(min_rto_us) {}

  Engine(const Engine&) = delete;  // flows point to its estimators
  Engine& operator=(const Engine&) = delete;

  void feed(const Columns& columns);
  // Takes a flow out; null where it had no row.
  std::unique_ptr<FlowReplay> finish(std::uint32_t flow);
  std::size_t others() const { return others_; }

 private:
  std::vector<Chosen> chosen_;
  std::size_t others_;
  double min_rto_us_;
  std::unordered_map<std::uint32_t, std::unique_ptr<FlowReplay>> flows_;
};

}  // namespace tcplearn

#endif
