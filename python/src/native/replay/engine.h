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
  const std::int64_t* ack_delay_us = nullptr;                     // null: the trace does not know it
  const double *other_rtt_us = nullptr, *other_rto_us = nullptr;  // [row * others + e]
};

// The losses of a batch in order of its rows, borrowed.
struct LossColumns {
  std::size_t rows = 0;
  const std::uint32_t *flow, *row, *id;
  const std::int64_t *sent_us, *resent_us, *armed_us, *head_sent_us, *probe_from_us, *delivered_us, *rack_us,
      *rtt_us;
  const std::uint8_t *tail, *alone;
  std::size_t withdrawn = 0;
  const std::uint32_t *withdrawn_flow, *withdrawn_id;
};

class Engine {
 public:
  Engine(std::vector<Chosen> chosen, std::size_t others, double min_rto_us)
      : chosen_(std::move(chosen)), others_(others), min_rto_us_(min_rto_us) {}

  Engine(const Engine&) = delete;  // flows point to its estimators
  Engine& operator=(const Engine&) = delete;

  // A loss may be withdrawn while it is among its flow's last kUnsettled.
  static constexpr std::size_t kUnsettled = 256;

  void feed(const Columns& columns, const LossColumns& losses);
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
