// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/handshakes.h"

namespace tcplearn::emulate {

namespace {

constexpr std::uint8_t kTcp = 6, kSynFlag = 0x02, kAckFlag = 0x10;
constexpr std::size_t kFlagsAt = 13, kIpv6Header = 40;
constexpr std::size_t kMostConnections = 1'000'000;  // their counts take some 100 MB

// Returns where the TCP header of a packet begins, or 0 if it has none or only a part of it.
std::size_t tcp_at(const std::uint8_t* packet, std::size_t bytes) {
  if (bytes < 20) return 0;
  std::size_t at = 0;
  if (packet[0] >> 4 == 4) {
    const bool later_fragment = (packet[6] & 0x1F) != 0 || packet[7] != 0;
    at = static_cast<std::size_t>(packet[0] & 0x0F) * 4;
    if (packet[9] != kTcp || later_fragment || at < 20) return 0;
  } else if (packet[0] >> 4 == 6) {
    at = kIpv6Header;
    if (packet[6] != kTcp) return 0;
  }
  return at != 0 && bytes >= at + 20 ? at : 0;
}

}  // namespace

Handshake handshake_of(const std::uint8_t* packet, std::size_t bytes) {
  const std::size_t at = tcp_at(packet, bytes);
  if (at == 0 || (packet[at + kFlagsAt] & kSynFlag) == 0) return Handshake::kNone;
  return (packet[at + kFlagsAt] & kAckFlag) != 0 ? Handshake::kSynAck : Handshake::kSyn;
}

bool ForcedDrops::drops(const std::uint8_t* packet, std::size_t bytes) {
  if (syns_ == 0 && syn_acks_ == 0) return false;
  const Handshake kind = handshake_of(packet, bytes);
  const std::uint32_t most = kind == Handshake::kSyn ? syns_ : kind == Handshake::kSynAck ? syn_acks_ : 0;
  if (most == 0) return false;
  const std::size_t ports = tcp_at(packet, bytes);
  const bool ipv6 = packet[0] >> 4 == 6;
  const auto* text = reinterpret_cast<const char*>(packet);
  std::string key(text + (ipv6 ? 8 : 12), ipv6 ? 32 : 8);
  key.append(text + ports, 4);
  if (dropped_.size() >= kMostConnections && dropped_.count(key) == 0) return false;
  std::uint32_t& count = dropped_[key];
  return count < most && ++count > 0;
}

}  // namespace tcplearn::emulate
