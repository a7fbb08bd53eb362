// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/engine.h"

#include <utility>

namespace tcplearn {

namespace {
RowView row_at(const Columns& c, std::size_t k) {
  RowView row{};
  row.sample = {c.time_us[k], c.sent_us[k], c.rtt_us[k], c.ack_delay_us_at(k), c.flight_segments_at(k),
                c.ttl_at(k),  c.hops_at(k)};
  row.armed_us = c.armed_us[k];
  row.head_sent_us = c.head_sent_us[k];
  row.retransmitted = c.retransmitted_at(k) != 0;
  return row;
}

Loss loss_at(const LossColumns& l, std::size_t i) {
  return {l.id[i],           l.sent_us[i],       l.resent_us[i],    l.armed_us[i],
          l.head_sent_us[i], l.probe_from_us[i], l.delivered_us[i], l.rack_us[i],
          l.rtt_us[i],       l.tail[i] != 0,     l.alone[i] != 0};
}
}  // namespace

// Returns a FlowReplay for `flow`, with the stored early rows already added.
std::unique_ptr<FlowReplay> Engine::begun(const Flow& flow) const {
  auto out = std::make_unique<FlowReplay>(chosen_, others_, min_rto_us_, sums_only_);
  early_.replay(flow.early, *out);
  return out;
}

FlowReplay& Engine::state_of(Flow& flow) {
  if (!flow.replay) {
    flow.replay = begun(flow);
    early_.clear(flow.early);
  }
  return *flow.replay;
}

void Engine::feed(const Columns& c, const LossColumns& losses, const OtherColumns& others) {
  std::size_t loss = 0;
  Flow* flow = nullptr;
  std::uint32_t flow_id = 0;
  for (std::size_t k = 0; k < c.rows; ++k) {
    if (flow == nullptr || c.flow[k] != flow_id) {
      flow_id = c.flow[k];
      flow = &flows_[flow_id];
    }
    if (!flow->replay && !others_ && flow->early.count < kEarly) {
      early_.add(flow->early, row_at(c, k));
    } else {
      const std::size_t at = k * others_;
      state_of(*flow).add(row_at(c, k), others_ ? others.rtt_us + at : nullptr,
                          others_ ? others.rto_us + at : nullptr);
    }
    for (; loss < losses.rows && losses.row[loss] == k; ++loss) state_of(*flow).lost(loss_at(losses, loss));
  }
  for (std::size_t i = 0; i < losses.withdrawn; ++i) {
    const auto it = flows_.find(losses.withdrawn_flow[i]);
    if (it != flows_.end() && it->second.replay) it->second.replay->withdraw(losses.withdrawn_id[i]);
  }
  for (std::size_t i = 0; i < losses.rows; ++i) flows_[losses.flow[i]].replay->settle(kUnsettled);
}

const FlowReplay* Engine::flow(std::uint32_t flow) {
  const auto it = flows_.find(flow);
  return it == flows_.end() ? nullptr : &state_of(it->second);
}

std::unique_ptr<FlowReplay> Engine::so_far(std::uint32_t flow) const {
  const auto it = flows_.find(flow);
  if (it == flows_.end()) return nullptr;
  auto out = it->second.replay ? std::make_unique<FlowReplay>(*it->second.replay) : begun(it->second);
  out->settle(0);
  return out;
}

std::unique_ptr<FlowReplay> Engine::finish(std::uint32_t flow) {
  const auto it = flows_.find(flow);
  if (it == flows_.end()) return nullptr;
  state_of(it->second);
  auto out = std::move(it->second.replay);
  flows_.erase(it);
  out->settle(0);
  return out;
}

}  // namespace tcplearn
