// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// One captured frame, reduced to what its headers contain.
#ifndef TCPLEARN_CAPTURE_PACKET_H
#define TCPLEARN_CAPTURE_PACKET_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tcplearn {

// An IPv4 address is stored as ::ffff:a.b.c.d; `Endpoint::v6` distinguishes it from a true IPv6 address.
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

// Returns "10.0.0.1:80" or "[2001:db8::1]:80".
std::string to_string(const Endpoint& endpoint);

enum TcpFlag : std::uint8_t { kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10 };

// Returns whether hosts send packets with this hop limit, so that such a packet has passed no router.
inline bool initial_ttl(std::uint8_t ttl) { return ttl == 64 || ttl == 128 || ttl == 255; }

struct SackBlock {
  std::uint32_t left = 0, right = 0;
};

struct Packet {
  Endpoint source, destination;
  std::uint32_t seq = 0, ack = 0;
  std::uint32_t payload_bytes = 0;  // from the IP length, so it includes what a snap length cut off
  std::uint16_t window = 0;         // before window scaling
  std::uint16_t mss_option = 0;     // 0: absent
  std::uint16_t ip_id = 0;          // 0 for IPv6
  std::uint8_t flags = 0;
  std::uint8_t ttl = 0;
  bool has_timestamp = false;
  bool sack_permitted = false;
  bool options_cut = false;  // the snap length cut the TCP options
  std::uint8_t window_scale = 0;
  std::uint8_t sack_count = 0;
  bool tls = false;  // the payload begins like a record of TLS (RFC 8446, 5.1)
  std::uint32_t ts_value = 0, ts_echo = 0;
  std::uint32_t link_source = 0;  // last four bytes of Ethernet's source address; 0: no Ethernet
  std::array<SackBlock, 4> sack;  // at most four fit into the options (RFC 2018, section 3)

  // Clears the fields that decode() writes only if the frame has them.
  void forget_options() {
    mss_option = ip_id = 0;
    has_timestamp = sack_permitted = options_cut = tls = false;
    window_scale = sack_count = 0;
    ts_value = ts_echo = link_source = 0;
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
  kMalformed,  // contradictory lengths
};

// Returns whether decode() knows this link type (a DLT_ value of libpcap).
bool link_type_supported(int link_type);

// Decodes a frame. Reads only the `captured` bytes; `wire` is the frame's length before it was cut. For a
// TCP frame, all of `out` is written except what forget_options() clears.
Decoded decode(int link_type, const std::uint8_t* data, std::size_t captured, std::size_t wire, Packet& out);

}  // namespace tcplearn

#endif
