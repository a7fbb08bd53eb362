// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "conversations.h"

namespace tcplearn {

Conversations::Conversations(const Candidates& candidates, FirstReading seen)
    : seen_(std::move(seen)), candidates_(candidates), near_clients_(std::move(seen_.near_clients)) {}

Conversation& Conversations::begun(std::uint32_t connection, const Packet& first, std::int64_t now_us) {
  std::unique_ptr<Conversation>& entry = alive_[connection];
  if (entry) return *entry;
  const bool by_client = Conversation::client_side(first) == 0;
  const Endpoint& client = by_client ? first.source : first.destination;
  const Endpoint& server = by_client ? first.destination : first.source;
  const std::pair<Address, Address> ends{client.address, server.address};
  const auto [path, is_new] = paths_.try_emplace(ends);
  if (is_new) {
    const auto known = seen_.paths.extract(ends);
    if (known) path->second.take(known.mapped());
  }
  path->second.begin();
  entry = std::make_unique<Conversation>(connection, first, now_us, path->second, near_clients_, candidates_,
                                         learned_);
  const auto known = seen_.connections.extract(connection);
  if (known) entry->take(known.mapped());
  return *entry;
}

void Conversations::on_packet(std::uint32_t connection, unsigned side, const Packet& packet,
                              std::int64_t now_us, ExplainedRows& out) {
  if (last_ == nullptr || last_number_ != connection) {
    last_ = &begun(connection, packet, now_us);
    last_number_ = connection;
  }
  last_->on_packet(side, packet, now_us, out);
}

void Conversations::on_end(std::uint32_t connection, ExplainedRows& out) {
  const auto it = alive_.find(connection);
  if (it == alive_.end()) return;
  it->second->finish(out);
  if (!it->second->closed()) it->second->keep_learned();
  it->second->path().end();
  if (is_first_) note(connection, *it->second);
  alive_.erase(it);
  last_ = nullptr;
}

void Conversations::note(std::uint32_t connection, const Conversation& one) {
  seen_.connections[connection] = one.seen();
  to_servers_[&one.path()].add(one.direct());
}

FirstReading Conversations::seen() {
  for (const auto& [connection, one] : alive_) note(connection, *one);
  for (const auto& [ends, path] : paths_) {
    Path::Seen& seen = seen_.paths[ends] = path.seen();
    seen.leg = to_servers_[&path];
  }
  seen_.near_clients = near_clients_;
  return std::move(seen_);
}

}  // namespace tcplearn
