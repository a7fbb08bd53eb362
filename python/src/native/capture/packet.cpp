// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "packet.h"

#include <arpa/inet.h>
#include <pcap/dlt.h>

#include "big_endian.h"
#include "tcp_options.h"

namespace tcplearn {
namespace {

// The bytes of a frame that are not decoded yet. `wire` includes the bytes that a snap length cut off.
struct View {
  const std::uint8_t* data;
  std::size_t captured;
  std::size_t wire;

  void skip(std::size_t n) {
    data += n;
    captured -= n;
    wire -= n;
  }
};

constexpr std::uint8_t kProtocolTcp = 6;
// The deepest nesting of tunnels, which also bounds the stack.
constexpr int kMostTunnels = 4;

Decoded decode_ip(const View& v, Packet& out, int tunnels);
Decoded decode_ether_type(std::uint16_t type, View v, Packet& out, int tunnels);
Decoded decode_ethernet(View v, Packet& out, int tunnels);

// `ip_payload` is the length of the IP payload according to the IP header.
Decoded decode_tcp(View v, std::size_t ip_payload, Packet& out) {
  // The first 16 bytes end with the window; the checksum and the urgent pointer are not used.
  if (v.captured < 16) return Decoded::kShort;
  const std::size_t header = static_cast<std::size_t>(v.data[12] >> 4) * 4;
  if (header < 20 || header > ip_payload) return Decoded::kMalformed;
  out.source.port = be16(v.data);
  out.destination.port = be16(v.data + 2);
  out.seq = be32(v.data + 4);
  out.ack = be32(v.data + 8);
  out.flags = v.data[13];
  out.window = be16(v.data + 14);
  out.payload_bytes = static_cast<std::uint32_t>(ip_payload - header);
  const std::size_t end = header < v.captured ? header : v.captured;
  if (end > 20) decode_options(v.data + 20, end - 20, out);
  out.options_cut = end < header;
  // the type of the record's content (20 to 23), and the version 3.x
  if (v.captured >= header + 2)
    out.tls = v.data[header] >= 20 && v.data[header] <= 23 && v.data[header + 1] == 3;
  return Decoded::kTcp;
}

// GRE (RFC 2784, 2890): flags say whether checksum, key and sequence number are present.
Decoded decode_gre(View v, Packet& out, int tunnels) {
  if (v.captured < 4) return Decoded::kShort;
  const std::uint16_t flags = be16(v.data), type = be16(v.data + 2);
  std::size_t header = 4;
  for (const int field : {0x8000, 0x2000, 0x1000}) header += (flags & field) != 0 ? 4u : 0u;
  if ((flags & 7) != 0) return Decoded::kOther;  // version 1: PPTP
  if (v.captured < header) return Decoded::kShort;
  v.skip(header);
  if (type == 0x6558) return decode_ethernet(v, out, tunnels);
  return decode_ether_type(type, v, out, tunnels);
}

// Tunnels over UDP, recognized by port: VXLAN (RFC 7348), Geneve (RFC 8926), GTP-U (3GPP TS 29.281).
Decoded decode_udp(View v, Packet& out, int tunnels) {
  if (v.captured < 16) return Decoded::kOther;
  const std::uint16_t port = be16(v.data + 2);
  v.skip(8);
  if (port == 4789 && v.data[0] == 0x08) {
    v.skip(8);
    return decode_ethernet(v, out, tunnels);
  }
  if (port == 6081 && (v.data[0] >> 6) == 0) {
    const std::size_t header = 8 + static_cast<std::size_t>(v.data[0] & 0x3f) * 4;
    const std::uint16_t type = be16(v.data + 2);
    if (v.captured < header) return Decoded::kShort;
    v.skip(header);
    if (type == 0x6558) return decode_ethernet(v, out, tunnels);
    return decode_ether_type(type, v, out, tunnels);
  }
  // version 1, a user's packet, no extension header
  if (port == 2152 && (v.data[0] & 0xf4) == 0x30 && v.data[1] == 0xff) {
    const std::size_t header = (v.data[0] & 3) != 0 ? 12 : 8;
    if (v.captured < header) return Decoded::kShort;
    v.skip(header);
    return decode_ip(v, out, tunnels);
  }
  return Decoded::kOther;
}

// Decodes the payload of an IP packet that is not TCP; it may be a tunnel's packet.
Decoded decode_tunnel(std::uint8_t protocol, View v, Packet& out, int tunnels) {
  if (tunnels >= kMostTunnels) return Decoded::kOther;
  switch (protocol) {
    case 4:   // RFC 2003
    case 41:  // RFC 4213
      return decode_ip(v, out, tunnels + 1);
    case 47:
      return decode_gre(v, out, tunnels + 1);
    case 17:
      return decode_udp(v, out, tunnels + 1);
    default:
      return Decoded::kOther;
  }
}

Decoded decode_ipv4(View v, Packet& out, int tunnels) {
  if (v.captured < 20) return Decoded::kShort;
  const std::size_t header = static_cast<std::size_t>(v.data[0] & 0x0f) * 4;
  if (header < 20) return Decoded::kMalformed;
  const std::uint8_t protocol = v.data[9];
  if (protocol != kProtocolTcp) {
    if ((be16(v.data + 6) & 0x1fff) != 0 || v.captured < header) return Decoded::kOther;
    v.skip(header);
    return decode_tunnel(protocol, v, out, tunnels);
  }
  if ((be16(v.data + 6) & 0x1fff) != 0) return Decoded::kFragment;
  if (v.captured < header) return Decoded::kShort;
  std::size_t total = be16(v.data + 2);
  // 0: segmentation offload made a datagram above 65,535 bytes, or the driver always writes 0.
  if (total == 0) total = v.wire;
  if (total < header) return Decoded::kMalformed;
  out.ip_id = be16(v.data + 4);
  out.ttl = v.data[8];
  out.source.v6 = out.destination.v6 = false;
  out.source.address = {0, 0xffff00000000ull | be32(v.data + 12)};
  out.destination.address = {0, 0xffff00000000ull | be32(v.data + 16)};
  v.skip(header);
  return decode_tcp(v, total - header, out);
}

Decoded decode_ipv6(View v, Packet& out, int tunnels) {
  if (v.captured < 40) return Decoded::kShort;
  std::size_t left = be16(v.data + 4);
  // 0: a jumbogram (RFC 2675) or segmentation offload.
  if (left == 0) left = v.wire - 40;
  std::uint8_t next = v.data[6];
  out.ttl = v.data[7];
  out.source.v6 = out.destination.v6 = true;
  out.source.address = {be64(v.data + 8), be64(v.data + 16)};
  out.destination.address = {be64(v.data + 24), be64(v.data + 32)};
  v.skip(40);
  while (next != kProtocolTcp) {
    std::size_t size = 0;
    switch (next) {
      case 0:    // hop-by-hop options
      case 43:   // routing
      case 60:   // destination options
      case 135:  // mobility
        if (v.captured < 8) return Decoded::kShort;
        size = (static_cast<std::size_t>(v.data[1]) + 1) * 8;
        break;
      case 44:  // fragment
        if (v.captured < 8) return Decoded::kShort;
        // A later fragment has no TCP header; its own header says whether it is TCP.
        if ((be16(v.data + 2) & 0xfff8) != 0) {
          return v.data[0] == kProtocolTcp ? Decoded::kFragment : Decoded::kOther;
        }
        size = 8;
        break;
      case 51:  // authentication header: length in words of four bytes, minus two
        if (v.captured < 8) return Decoded::kShort;
        size = (static_cast<std::size_t>(v.data[1]) + 2) * 4;
        break;
      default:
        return decode_tunnel(next, v, out, tunnels);
    }
    if (size > left) return Decoded::kMalformed;
    if (size > v.captured) return Decoded::kShort;
    next = v.data[0];
    v.skip(size);
    left -= size;
  }
  return decode_tcp(v, left, out);
}

Decoded decode_ip(const View& v, Packet& out, int tunnels) {
  if (v.captured < 1) return Decoded::kShort;
  const int version = v.data[0] >> 4;
  if (version == 4) return decode_ipv4(v, out, tunnels);
  if (version == 6) return decode_ipv6(v, out, tunnels);
  return Decoded::kOther;
}

Decoded decode_mpls(View v, Packet& out, int tunnels) {
  while (v.captured >= 4) {
    const bool bottom = (v.data[2] & 1) != 0;
    v.skip(4);
    if (bottom) return decode_ip(v, out, tunnels);
  }
  return Decoded::kShort;
}

// Decodes PPP from its protocol number on (RFC 1661); a first byte of 0 may be omitted.
Decoded decode_ppp(View v, Packet& out, int tunnels) {
  if (v.captured >= 2 && v.data[0] == 0xff && v.data[1] == 0x03) v.skip(2);  // as in HDLC frames (RFC 1662)
  if (v.captured < 2) return Decoded::kShort;
  const bool one_byte = (v.data[0] & 1) != 0;
  const std::uint16_t protocol = one_byte ? v.data[0] : be16(v.data);
  v.skip(one_byte ? 1 : 2);
  return protocol == 0x0021 || protocol == 0x0057 ? decode_ip(v, out, tunnels) : Decoded::kOther;
}

// LLC with SNAP (RFC 1042), which has a type field like Ethernet.
Decoded decode_llc(View v, Packet& out, int tunnels) {
  if (v.captured < 8) return Decoded::kOther;
  if (v.data[0] != 0xaa || v.data[1] != 0xaa || v.data[2] != 0x03) return Decoded::kOther;
  const std::uint16_t type = be16(v.data + 6);
  v.skip(8);
  return decode_ether_type(type, v, out, tunnels);
}

Decoded decode_ether_type(std::uint16_t type, View v, Packet& out, int tunnels) {
  // 802.1Q, 802.1ad and older tags of stacked VLANs; each has four bytes.
  while (type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200) {
    if (v.captured < 4) return Decoded::kShort;
    type = be16(v.data + 2);
    v.skip(4);
  }
  if (type <= 1500) return decode_llc(v, out, tunnels);  // a length (IEEE 802.3)
  switch (type) {
    case 0x0800:
    case 0x86dd:
      return decode_ip(v, out, tunnels);
    case 0x8847:
    case 0x8848:
      return decode_mpls(v, out, tunnels);
    case 0x8864:  // PPPoE session: six bytes before PPP's protocol number (RFC 2516)
      if (v.captured < 8) return Decoded::kShort;
      v.skip(6);
      return decode_ppp(v, out, tunnels);
    default:
      return Decoded::kOther;
  }
}

// Decodes IEEE 802.11 data frames that are not encrypted.
Decoded decode_wifi(View v, Packet& out) {
  if (v.captured < 24) return Decoded::kShort;
  const std::uint8_t control = v.data[0], flags = v.data[1];
  // not a data frame, without data, or encrypted
  if ((control & 0x0c) != 0x08 || (control & 0x40) != 0 || (flags & 0x40) != 0) return Decoded::kOther;
  const bool four_addresses = (flags & 3) == 3, qos = (control & 0x80) != 0;
  const std::size_t header =
      24 + (four_addresses ? 6u : 0u) + (qos ? 2u : 0u) + (qos && (flags & 0x80) ? 4u : 0u);
  if (v.captured < header) return Decoded::kShort;
  v.skip(header);
  return decode_llc(v, out, 0);
}

// Skips the radiotap header: its length is little-endian, and flags say whether padding follows.
Decoded decode_radiotap(View v, Packet& out) {
  if (v.captured < 8) return Decoded::kShort;
  const std::size_t header = static_cast<std::size_t>(v.data[2]) | static_cast<std::size_t>(v.data[3]) << 8;
  if (header < 8) return Decoded::kMalformed;
  if (v.captured < header) return Decoded::kShort;
  v.skip(header);
  return decode_wifi(v, out);
}

// BSD loopback: the address family is in the byte order of the capturing host. AF_INET is 2 everywhere,
// AF_INET6 is 10, 24, 28 or 30. The family only excludes other protocols; the IP version field decides.
Decoded decode_null(View v, Packet& out) {
  if (v.captured < 4) return Decoded::kShort;
  std::uint32_t family = be32(v.data);
  if (family > 0xffff) family = ((family >> 24) & 0xff) | ((family >> 8) & 0xff00);
  v.skip(4);
  switch (family) {
    case 2:
    case 10:
    case 24:
    case 28:
    case 30:
      return decode_ip(v, out, 0);
    default:
      return Decoded::kOther;
  }
}

Decoded decode_at(std::size_t link_header, std::size_t type_offset, View v, Packet& out, int tunnels = 0) {
  if (v.captured < link_header) return Decoded::kShort;
  const std::uint16_t type = be16(v.data + type_offset);
  v.skip(link_header);
  return decode_ether_type(type, v, out, tunnels);
}

Decoded decode_ethernet(View v, Packet& out, int tunnels) {
  const std::uint32_t source = v.captured < 14 ? 0 : be32(v.data + 8);
  const Decoded decoded = decode_at(14, 12, v, out, tunnels);
  out.link_source = source;
  return decoded;
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  std::uint8_t bytes[16];
  for (unsigned i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(endpoint.address.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(endpoint.address.low >> (56 - 8 * i));
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (endpoint.v6) {
    inet_ntop(AF_INET6, bytes, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(endpoint.port);
  }
  inet_ntop(AF_INET, bytes + 12, text, sizeof text);
  return std::string(text) + ":" + std::to_string(endpoint.port);
}

bool link_type_supported(int link_type) {
  switch (link_type) {
    case DLT_EN10MB:
    case DLT_LINUX_SLL:
    case DLT_LINUX_SLL2:
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
    case DLT_NULL:
    case DLT_LOOP:
    case DLT_PPP:
    case DLT_PPP_SERIAL:
    case DLT_C_HDLC:
    case DLT_IEEE802_11:
    case DLT_IEEE802_11_RADIO:
      return true;
    default:
      return false;
  }
}

Decoded decode(int link_type, const std::uint8_t* data, std::size_t captured, std::size_t wire, Packet& out) {
  const View v{data, captured, wire < captured ? captured : wire};
  switch (link_type) {
    case DLT_EN10MB:
      return decode_ethernet(v, out, 0);
    case DLT_LINUX_SLL:
      return decode_at(16, 14, v, out);
    case DLT_LINUX_SLL2:
      return decode_at(20, 0, v, out);
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
      return decode_ip(v, out, 0);
    case DLT_NULL:
    case DLT_LOOP:
      return decode_null(v, out);
    case DLT_PPP:
    case DLT_PPP_SERIAL:
      return decode_ppp(v, out, 0);
    case DLT_C_HDLC:
      return decode_at(4, 2, v, out);
    case DLT_IEEE802_11:
      return decode_wifi(v, out);
    case DLT_IEEE802_11_RADIO:
      return decode_radiotap(v, out);
    default:
      return Decoded::kOther;
  }
}

}  // namespace tcplearn
