// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "explainer.h"

namespace tcplearn {

Explainer::Explainer(const std::vector<std::string>& candidates) : candidates_(candidates) {
  rows_.candidates = candidates_.size();
}

void Explainer::on_packet(std::uint32_t connection, unsigned side, const Packet& packet,
                          std::int64_t now_us) {
  if (last_ == nullptr || last_number_ != connection) {
    std::unique_ptr<Conversation>& entry = alive_[connection];
    if (!entry) {
      const bool by_client = Conversation::client_side(packet) == 0;
      const Endpoint& client = by_client ? packet.source : packet.destination;
      const Endpoint& server = by_client ? packet.destination : packet.source;
      Path& path = paths_[{client.address, server.address}];
      path.begin();
      entry = std::make_unique<Conversation>(connection, packet, now_us, path, near_clients_, candidates_,
                                             learned_);
    }
    last_ = entry.get();
    last_number_ = connection;
  }
  last_->on_packet(side, packet, now_us, rows_);
}

ExplainedRows Explainer::take() {
  ExplainedRows out = std::move(rows_);
  rows_ = {};
  rows_.candidates = candidates_.size();
  return out;
}

void Explainer::on_end(std::uint32_t connection) {
  const auto it = alive_.find(connection);
  if (it == alive_.end()) return;
  it->second->finish(rows_);
  if (!it->second->closed()) it->second->keep_learned();
  it->second->path().end();
  alive_.erase(it);
  last_ = nullptr;
}

}  // namespace tcplearn
