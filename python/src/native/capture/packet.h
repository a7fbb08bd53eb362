// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// One captured frame, as far as its headers go.
#ifndef TCPLEARN_CAPTURE_PACKET_H
#define TCPLEARN_CAPTURE_PACKET_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tcplearn {

// An IPv4 address is held as ::ffff:a.b.c.d; `Endpoint::v6` tells it from a true IPv6 one.
struct Address {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Address& o) const { return high == o.high && low == o.low; }
  bool operator<(const Address& o) const { return high != o.high ? high < o.high : low < o.low; }
};

struct Endpoint {
  Address address;
  std::uint16_t port = 0;
  bool v6 = false;
  bool operator==(const Endpoint& o) const { return address == o.address && port == o.port && v6 == o.v6; }
  bool operator<(const Endpoint& o) const {
    return address == o.address ? port < o.port : address < o.address;
  }
};

// "10.0.0.1:80" or "[2001:db8::1]:80".
std::string to_string(const Endpoint& endpoint);

enum TcpFlag : std::uint8_t { kFin = 0x01, kSyn = 0x02, kRst = 0x04, kAck = 0x10 };

struct SackBlock {
  std::uint32_t left = 0, right = 0;
};

struct Packet {
  Endpoint source, destination;
  std::uint32_t seq = 0, ack = 0;
  std::uint32_t payload_bytes = 0;  // from the IP length: the snapped part counts
  std::uint16_t window = 0;         // unscaled
  std::uint16_t mss_option = 0;     // 0: absent
  std::uint16_t ip_id = 0;          // 0 in IPv6
  std::uint8_t flags = 0;
  std::uint8_t ttl = 0;
  bool has_timestamp = false;
  bool sack_permitted = false;
  std::uint8_t window_scale = 0;
  std::uint8_t sack_count = 0;
  std::uint32_t ts_value = 0, ts_echo = 0;
  std::array<SackBlock, 4> sack;  // at most four fit into the options (RFC 2018, section 3)

  // What decode() writes only where it is there.
  void forget_options() {
    mss_option = ip_id = 0;
    has_timestamp = sack_permitted = false;
    window_scale = sack_count = 0;
    ts_value = ts_echo = 0;
  }

  bool has(TcpFlag flag) const { return (flags & flag) != 0; }
  // SYN and FIN take one sequence number each (RFC 9293, section 3.4).
  std::uint32_t seq_length() const { return payload_bytes + (has(kSyn) ? 1u : 0u) + (has(kFin) ? 1u : 0u); }
};

enum class Decoded : std::uint8_t {
  kTcp,
  kOther,      // not TCP over IP
  kFragment,   // a later fragment of a datagram: it has no TCP header
  kShort,      // cut before the TCP header's first 16 bytes
  kMalformed,  // lengths that contradict one another
};

// The link types decode() knows, as libpcap's DLT_ values.
bool link_type_supported(int link_type);

// Reads `captured` bytes and never beyond them; `wire` is the frame's length before it was cut. Where it is
// TCP all of `out` is written but for what forget_options() has cleared.
Decoded decode(int link_type, const std::uint8_t* data, std::size_t captured, std::size_t wire, Packet& out);

}  // namespace tcplearn

#endif
