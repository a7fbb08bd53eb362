// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/engine.h"

#include <utility>

namespace tcplearn {

void Engine::feed(const Columns& c) {
  FlowReplay* flow = nullptr;
  std::uint32_t flow_id = 0;
  for (std::size_t k = 0; k < c.rows; ++k) {
    if (flow == nullptr || c.flow[k] != flow_id) {
      flow_id = c.flow[k];
      auto& slot = flows_[flow_id];
      if (!slot) slot = std::make_unique<FlowReplay>(chosen_, others_, min_rto_us_);
      flow = slot.get();
    }
    RowView row{};
    row.sample.time_us = c.time_us[k];
    row.sample.sent_us = c.sent_us[k];
    row.sample.rtt_us = c.rtt_us[k];
    row.sample.flight_segments = c.flight_segments[k];
    row.sample.ttl = c.ttl[k];
    row.armed_us = c.armed_us[k];
    row.head_sent_us = c.head_sent_us[k];
    row.retransmitted = c.retransmitted[k] != 0;
    const std::size_t at = k * others_;
    flow->add(row, others_ ? c.other_rtt_us + at : nullptr, others_ ? c.other_rto_us + at : nullptr);
  }
}

std::unique_ptr<FlowReplay> Engine::finish(std::uint32_t flow) {
  const auto it = flows_.find(flow);
  if (it == flows_.end()) return nullptr;
  auto out = std::move(it->second);
  flows_.erase(it);
  return out;
}

}  // namespace tcplearn
