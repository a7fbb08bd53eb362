// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Drops the first SYNs or SYN-ACKs of each connection on purpose.
#ifndef TCPLEARN_EMULATE_HANDSHAKES_H
#define TCPLEARN_EMULATE_HANDSHAKES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace tcplearn::emulate {

enum class Handshake { kNone, kSyn, kSynAck };

// Returns what an IPv4 or IPv6 packet is to TCP's handshake (RFC 9293 section 3.5). TCP behind an extension
// header of IPv6 is not found.
Handshake handshake_of(const std::uint8_t* packet, std::size_t bytes);

class ForcedDrops {
 public:
  // The numbers of SYNs and of SYN-ACKs to drop of each connection.
  ForcedDrops(std::uint32_t syns, std::uint32_t syn_acks) : syns_(syns), syn_acks_(syn_acks) {}
  bool drops(const std::uint8_t* packet, std::size_t bytes);

 private:
  std::uint32_t syns_, syn_acks_;
  std::unordered_map<std::string, std::uint32_t> dropped_;  // by addresses and ports of a direction
};

}  // namespace tcplearn::emulate

#endif
