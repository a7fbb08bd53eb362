// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "handshake.h"

#include <algorithm>

namespace tcplearn {
namespace {

// An ACK this far beyond the SYN, or before it, is of an older connection.
constexpr std::uint32_t kFarBytes = 1 << 24;
constexpr std::size_t kMostHandshakeCopies = 16;
// Handshake timers are never shorter than this. Two copies within this time are a duplicate in the
// capture, or the server's timer and its answer to a SYN coincided.
constexpr std::int64_t kTwiceUs = 20'000;
// A second SYN-ACK within this time of the first answers another event than the first: no timer of the
// server is so short.
constexpr std::int64_t kBothUs = 200'000;
// Timestamps count milliseconds, or up to ten of them: sent at once; sent apart, at least and at most.
constexpr std::uint32_t kTwiceTicks = 20, kApartTicks = 100, kMostTicks = 120'000;

}  // namespace

void Handshake::Kind::add(const Packet& packet, std::int64_t now_us) {
  if (sent.size() < kMostHandshakeCopies) sent.emplace_back(packet.ts_value, now_us);
  if (copies > 0 && now_us - last_us < kTwiceUs) return;
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
}

StallRow Handshake::row(Cause cause, const Kind& kind, bool by_server) {
  StallRow out;
  out.by_server = by_server ? 1 : 0;
  out.cause = static_cast<std::uint8_t>(cause);
  out.ended_by = static_cast<std::uint8_t>(End::kTimer);
  out.start_us = kind.first_us;
  out.duration_us = kind.last_us - kind.first_us;
  out.waited_us = kind.second_us - kind.first_us;
  out.resends = kind.copies - 1;
  out.silent_until_us = kind.before_us;
  out.out_segments = 1;
  return out;
}

void Handshake::on_packet(const Packet& packet, bool by_client, std::int64_t now_us, Leg& to_server,
                          Leg& to_client) {
  if (packet.has(kRst)) refused_ = refused_ || (!by_client && syn_ack_.copies == 0);
  if (packet.has(kSyn) && !by_client && syn_ack_.copies > 0)
    twice_ = twice_ || now_us - syn_ack_.first_us < kBothUs;
  if (packet.has(kSyn) && !by_client) note_held(packet, now_us);
  if (third_us_ >= 0 || packet.has(kRst)) return;
  // an ACK of an older connection between these ports (a challenge ACK, RFC 5961, 4.2): the server is there
  const bool older =
      packet.has(kAck) && !packet.has(kSyn) && packet.payload_bytes == 0 && packet.ack - syn_seq_ > kFarBytes;
  if (!by_client && syn_.copies > 0 && syn_ack_.copies == 0 && older) refused_ = true;
  if (packet.has(kSyn) && by_client) {
    syn_seq_ = packet.seq;
    const std::uint32_t before = syn_.copies;
    syn_.add(packet, now_us);
    if (syn_ack_.copies > 0 && syn_.copies > before && crossed_us_ < 0) crossed_us_ = now_us;
    return;
  }
  if (packet.has(kSyn)) {
    syn_ack_.add(packet, now_us);
    echo_ = packet.has_timestamp ? packet.ts_echo : 0;
    if (syn_ack_.copies == 1 && syn_.copies == 1) to_server.add(now_us - syn_.first_us, true);
    return;
  }
  if (!by_client || syn_ack_.copies == 0) return;
  third_us_ = now_us;
  third_pure_ = packet.payload_bytes == 0;
  if (packet.has_timestamp) third_echo_ = packet.ts_echo;
  // with data, this may be a later packet than the handshake's third, which the capture lacks
  if (syn_ack_.copies == 1 && packet.payload_bytes == 0) to_client.add(now_us - syn_ack_.first_us, true);
  if (syn_ack_.copies == 2 && syn_ack_.first_ts != syn_ack_.last_ts && third_echo_ == syn_ack_.last_ts)
    to_client.add(now_us - syn_ack_.last_us, true);
}

// Notes whether nothing was lost, but the path held packets back. Then two SYN-ACKs come together although
// their timestamps differ by a tenth of a second or more; or they answer two SYNs, by the timestamps that
// they echo, and were sent at once.
void Handshake::note_held(const Packet& packet, std::int64_t now_us) {
  if (syn_ack_.sent.empty() || !packet.has_timestamp || !syn_ack_.has_ts) return;
  const auto& [before_ts, before_us] = syn_ack_.sent.back();
  if (now_us - before_us > kTwiceUs) return;
  const std::uint32_t apart = packet.ts_value - before_ts;
  const bool answers_both = packet.ts_echo != echo_ && apart <= kTwiceTicks;
  held_ = held_ || (apart >= kApartTicks && apart <= kMostTicks) || answers_both;
}

// Returns whether the retransmission came before the awaited packet could, so that nothing was lost.
bool Handshake::late(const Leg& to_server, const Leg& to_client) const {
  if (syn_.copies > 1) {
    // not late if the first captured SYN-ACK came more than two round trips after the SYN: it is the
    // server's retransmission of a lost one
    if (syn_ack_.first_us - syn_.first_us > 2 * to_server.known_us()) return false;
    if (crossed_us_ >= 0) return crossed_us_ - syn_ack_.first_us < to_client.known_us() * 3 / 4;
    return syn_ack_.first_us - syn_.last_us < to_server.known_us() * 3 / 4;
  }
  return third_us_ - syn_ack_.last_us < to_client.known_us() * 3 / 4;
}

// Returns whether the first SYN-ACK seen answers a SYN before the last one, without timestamps. It came from
// the server's own timer, which runs since an earlier SYN arrived, if it came sooner than the last SYN's
// answer could; or if a second SYN-ACK came with it, since the server answers one SYN once.
bool Handshake::answers_earlier(const Leg& to_server) const {
  if (syn_ack_.first_us - syn_.last_us < to_server.known_us() * 3 / 4) return true;
  const bool duplicated = syn_.sent.size() > syn_.copies;  // the capture has packets twice
  return twice_ && !duplicated;
}

// Returns whether the server retransmitted its SYN-ACK by its own timer after the client's last SYN, and the
// client answered only then.
bool Handshake::last_answer_counts(const Leg& to_server, const Leg& to_client) const {
  if (syn_.copies < 2 || syn_ack_.copies < 2) return false;
  if (third_echo_ && *third_echo_ != syn_ack_.last_ts) return false;
  // the shortest round trip to the client may be too long by a pause of the client
  return syn_ack_.last_us - syn_.last_us > to_server.known_us() + kBothUs &&
         third_us_ - syn_ack_.last_us >= to_client.known_us() / 3;
}

std::optional<StallRow> Handshake::judged(const Leg& to_server) const {
  if (syn_.copies > 1) {
    if (crossed_us_ >= 0) return row(Cause::kSynAckLost, syn_, true);
    const bool told = syn_.has_ts && echo_ != 0 && syn_.first_ts != syn_.last_ts;
    if (told && echo_ == syn_.first_ts) return row(Cause::kSynAckLost, syn_, true);
    if (told) return row(Cause::kSynLost, syn_, false);
    if (answers_earlier(to_server)) return row(Cause::kSynAckLost, syn_, true);
    return row(Cause::kHandshakeLost, syn_, false);
  }
  if (syn_ack_.copies > 1) {
    const bool told = third_echo_ && syn_ack_.has_ts && syn_ack_.first_ts != syn_ack_.last_ts;
    const bool first_arrived = told && *third_echo_ == syn_ack_.first_ts;
    return row(first_arrived ? Cause::kHandshakeLost : Cause::kSynAckLost, syn_ack_, true);
  }
  return std::nullopt;
}

// Shortens the stall to the wait for the copy that arrived, if the capture shows it. The server's own
// timer may have retransmitted the SYN-ACK before the second SYN arrived.
void Handshake::shorten(StallRow& stall, const Leg& to_server) const {
  const auto echoed = std::find_if(syn_ack_.sent.begin(), syn_ack_.sent.end(),
                                   [&](const auto& copy) { return third_echo_ == copy.first; });
  if (syn_ack_.copies > 1 && echoed != syn_ack_.sent.end() && echoed->second > syn_ack_.first_us) {
    stall.start_us = syn_ack_.first_us;
    stall.duration_us = echoed->second - syn_ack_.first_us;
  } else if (stall.start_us == syn_.first_us) {
    // the first SYN-ACK seen came one round trip plus the wait after the first SYN
    const std::int64_t waited_us = syn_ack_.first_us - syn_.first_us - to_server.known_us();
    if (to_server.min_us >= 0 && waited_us > stall.duration_us / 2)
      stall.duration_us = std::min(stall.duration_us, waited_us);
    // the server's own timer ended the wait, if the last SYN would have been answered sooner
    if (waited_us - stall.duration_us > kBothUs + to_server.known_us()) stall.duration_us = waited_us;
  }
}

std::optional<StallRow> Handshake::stall(const Leg& to_server, const Leg& to_client) const {
  if (third_us_ >= 0) {
    if (held_ || late(to_server, to_client)) return std::nullopt;
    std::optional<StallRow> out = judged(to_server);
    if (out && static_cast<Cause>(out->cause) == Cause::kSynAckLost) shorten(*out, to_server);
    if (out && last_answer_counts(to_server, to_client)) {
      out->duration_us = std::max(out->duration_us, syn_ack_.last_us - out->start_us);
      out->resends = std::max(out->resends, syn_.copies + syn_ack_.copies - 2);
    }
    return out;
  }
  if (syn_ack_.copies > 0 || syn_.copies < 2 || refused_) return std::nullopt;
  return row(Cause::kHandshakeLost, syn_, false);
}

}  // namespace tcplearn
