// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "explainer.h"

#include <utility>

namespace tcplearn {

Explainer::Explainer(const std::vector<std::string>& candidates) : candidates_(candidates) {
  rows_.candidates = candidates_.size();
}

void Explainer::on_packet(std::uint32_t connection, unsigned side, const Packet& packet,
                          std::int64_t now_us) {
  if (all_) {
    all_->on_packet(connection, side, packet, now_us, rows_);
    return;
  }
  add({connection, side, false, now_us, packet});
}

void Explainer::on_end(std::uint32_t connection) {
  if (all_)
    all_->on_end(connection, rows_);
  else
    add({connection, 0, true, 0, {}});
}

void Explainer::add(const Event& event) {
  ahead_->events.push_back(event);
  if (ahead_->events.size() >= kTwice) read_again();
}

void Explainer::read_again() {
  const std::unique_ptr<Ahead> ahead = std::move(ahead_);
  const auto read = [&](Conversations& by, ExplainedRows& out) {
    for (const Event& event : ahead->events) {
      if (event.ends)
        by.on_end(event.connection, out);
      else
        by.on_packet(event.connection, event.side, event.packet, event.now_us, out);
    }
  };
  ExplainedRows dropped;
  read(ahead->first, dropped);
  all_ = std::make_unique<Conversations>(candidates_, ahead->first.seen());
  read(*all_, rows_);
}

ExplainedRows Explainer::take(bool over) {
  if (over && !all_) read_again();
  ExplainedRows out = std::move(rows_);
  rows_ = {};
  rows_.candidates = candidates_.size();
  return out;
}

}  // namespace tcplearn
