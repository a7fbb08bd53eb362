// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "explainer.h"

#include <utility>

namespace tcplearn {

Explainer::Explainer(const std::vector<std::string>& candidates, std::size_t twice)
    : candidates_(candidates), twice_(twice) {
  rows_.candidates = candidates_.size();
}

void Explainer::on_packet(std::uint32_t connection, unsigned side, const Packet& packet,
                          std::int64_t now_us) {
  if (!all_ && packets_ == twice_) read_first();
  if (all_) {
    all_->on_packet(connection, side, packet, now_us, rows_);
    return;
  }
  first_.push_back({connection, side, false, now_us, packet});
  ++packets_;
}

void Explainer::on_end(std::uint32_t connection) {
  if (all_)
    all_->on_end(connection, rows_);
  else
    first_.push_back({connection, 0, true, 0, {}});
}

void Explainer::read_first() {
  const std::vector<Event> first = std::move(first_);
  const auto read = [&](Conversations& by, ExplainedRows& out) {
    for (const Event& event : first) {
      if (event.ends)
        by.on_end(event.connection, out);
      else
        by.on_packet(event.connection, event.side, event.packet, event.now_us, out);
    }
  };
  FirstReading seen;
  {
    const Candidates none;
    Conversations scout(none);
    ExplainedRows dropped;
    read(scout, dropped);
    seen = scout.seen();
  }
  all_ = std::make_unique<Conversations>(candidates_, std::move(seen));
  read(*all_, rows_);
}

ExplainedRows Explainer::take(bool over) {
  if (over && !all_) read_first();
  ExplainedRows out = std::move(rows_);
  rows_ = {};
  rows_.candidates = candidates_.size();
  return out;
}

}  // namespace tcplearn
