// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "handshake.h"

#include <algorithm>

namespace tcplearn {
namespace {

constexpr std::size_t kMostCopies = 16;

}  // namespace

void Handshake::Kind::add(const Packet& packet, std::int64_t now_us) {
  if (copies == 0) {
    first_us = before_us = now_us;
    first_ts = packet.ts_value;
    has_ts = packet.has_timestamp;
  } else {
    before_us = last_us;
    if (copies == 1) second_us = now_us;
  }
  last_us = now_us;
  last_ts = packet.ts_value;
  ++copies;
  if (sent.size() < kMostCopies) sent.emplace_back(packet.ts_value, now_us);
}

StallRow Handshake::stall(Cause cause, const Kind& kind, bool by_server) {
  StallRow row;
  row.by_server = by_server ? 1 : 0;
  row.cause = static_cast<std::uint8_t>(cause);
  row.ended_by = static_cast<std::uint8_t>(End::kTimer);
  row.start_us = kind.first_us;
  row.duration_us = kind.last_us - kind.first_us;
  row.waited_us = kind.second_us - kind.first_us;
  row.resends = kind.copies - 1;
  row.silent_until_us = kind.before_us;
  row.out_segments = 1;
  return row;
}

void Handshake::on_packet(const Packet& packet, bool by_client, std::int64_t now_us, Leg& to_server,
                          Leg& to_client) {
  if (third_us_ >= 0 || packet.has(kRst)) return;
  if (packet.has(kSyn) && by_client) {
    syn_ack_between_ = syn_ack_between_ || syn_ack_.copies > 0;
    syn_.add(packet, now_us);
    return;
  }
  if (packet.has(kSyn)) {
    syn_ack_.add(packet, now_us);
    echo_ = packet.has_timestamp ? packet.ts_echo : 0;
    if (syn_ack_.copies == 1 && syn_.copies == 1) to_server.add(now_us - syn_.first_us);
    return;
  }
  if (!by_client || syn_ack_.copies == 0) return;
  third_us_ = now_us;
  if (syn_ack_.copies == 1 && syn_.copies <= 1) to_client.add(now_us - syn_ack_.first_us);
  stall_ = judged(packet);
  if (!stall_ || static_cast<Cause>(stall_->cause) != Cause::kSynAckLost) return;
  // the copy that came through, where it was seen: the server's own timer may have sent it before the second
  // SYN came
  const auto echoed = std::find_if(syn_ack_.sent.begin(), syn_ack_.sent.end(), [&](const auto& copy) {
    return packet.has_timestamp && copy.first == packet.ts_echo;
  });
  if (syn_ack_.copies > 1 && echoed != syn_ack_.sent.end() && echoed->second > syn_ack_.first_us) {
    stall_->start_us = syn_ack_.first_us;
    stall_->duration_us = echoed->second - syn_ack_.first_us;
  }
}

std::optional<StallRow> Handshake::judged(const Packet& third) const {
  if (syn_.copies > 1) {
    if (syn_ack_between_) return stall(Cause::kSynAckLost, syn_, true);
    const bool told = syn_.has_ts && echo_ != 0 && syn_.first_ts != syn_.last_ts;
    if (told && echo_ == syn_.first_ts) return stall(Cause::kSynAckLost, syn_, true);
    if (told) return stall(Cause::kSynLost, syn_, false);
    return stall(Cause::kHandshakeLost, syn_, false);
  }
  if (syn_ack_.copies > 1) {
    const bool told = third.has_timestamp && syn_ack_.has_ts && syn_ack_.first_ts != syn_ack_.last_ts;
    const bool first_arrived = told && third.ts_echo == syn_ack_.first_ts;
    return stall(first_arrived ? Cause::kHandshakeLost : Cause::kSynAckLost, syn_ack_, true);
  }
  return std::nullopt;
}

std::optional<StallRow> Handshake::take(const Leg& to_server, bool at_end) {
  if (at_end && third_us_ < 0 && syn_ack_.copies == 0 && syn_.copies > 1)
    return stall(Cause::kHandshakeLost, syn_, false);
  if (!stall_) return std::nullopt;
  if (static_cast<Cause>(stall_->cause) == Cause::kSynAckLost && stall_->start_us == syn_.first_us) {
    // the one that was seen first came a round trip, and the wait, after the first SYN
    const std::int64_t waited_us = syn_ack_.first_us - syn_.first_us - to_server.known_us();
    const bool known = to_server.min_us >= 0 && waited_us > stall_->duration_us / 2;
    if (!known && !at_end) return std::nullopt;
    if (known) stall_->duration_us = std::min(stall_->duration_us, waited_us);
  }
  return std::exchange(stall_, std::nullopt);
}

}  // namespace tcplearn
