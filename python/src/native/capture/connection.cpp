// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "connection.h"

#include <arpa/inet.h>

#include <algorithm>

#include "error.h"

namespace tcplearn {
namespace {

// One of two times shows which side is nearer to the capture point only if the other time is more than this
// factor longer. Otherwise the next kind of evidence decides.
constexpr std::int64_t kClearly = 2;
// The largest time between the copies of a packet, in captures of several interfaces or of a mirror port
// before and behind a router. kUnnumberedUs: without an IP identification.
constexpr std::int64_t kCopyUs = 100'000, kUnnumberedUs = 1000;

bool clearly_less(std::int64_t a, std::int64_t b) { return a * kClearly < b; }

bool parse_address(const std::string& text, Endpoint& out) {
  std::uint8_t bytes[16] = {};
  if (inet_pton(AF_INET, text.c_str(), bytes + 12) == 1) {
    bytes[10] = bytes[11] = 0xff;
    out.v6 = false;
  } else if (inet_pton(AF_INET6, text.c_str(), bytes) == 1) {
    out.v6 = true;
  } else {
    return false;
  }
  out.address = {};
  for (unsigned i = 0; i < 8; ++i) {
    out.address.high = (out.address.high << 8) | bytes[i];
    out.address.low = (out.address.low << 8) | bytes[8 + i];
  }
  return true;
}

bool parse_port(const std::string& text, Endpoint& out) {
  if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  const unsigned long value = std::stoul(text);
  out.port = static_cast<std::uint16_t>(value);
  return value > 0 && value <= 65535;
}

bool parse_endpoint(const std::string& text, Endpoint& out) {
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string::npos || !parse_address(text.substr(1, close - 1), out)) return false;
    if (close + 1 == text.size()) return true;
    return text[close + 1] == ':' && parse_port(text.substr(close + 2), out);
  }
  if (parse_address(text, out)) return true;
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && parse_address(text.substr(0, colon), out) && !out.v6 &&
         parse_port(text.substr(colon + 1), out);
}

}  // namespace

SenderChoice SenderChoice::parse(const std::string& text) {
  SenderChoice choice;
  if (text == "auto" || text == "near") {
    choice.kind = Kind::kNear;
  } else if (text == "far") {
    choice.kind = Kind::kFar;
  } else if (text == "client") {
    choice.kind = Kind::kClient;
  } else if (text == "server") {
    choice.kind = Kind::kServer;
  } else if (text == "both") {
    choice.kind = Kind::kBoth;
  } else if (parse_endpoint(text, choice.address)) {
    choice.kind = Kind::kAddress;
  } else {
    throw TraceError(
        "sender \"" + text +
        "\" is none of auto, near, far, client, server, both, ADDRESS, ADDRESS:PORT, [IPV6]:PORT");
  }
  return choice;
}

Connection::Connection(const Packet& first, std::uint32_t index, std::int64_t now_us)
    : index_(index), first_us_(now_us), last_us_(now_us) {
  sides_[0].endpoint = first.source;
  sides_[1].endpoint = first.destination;
}

bool Connection::replaced_by(const Packet& packet) const {
  if (!packet.has(kSyn) || packet.has(kRst)) return false;
  const SendSide& send = sides_[side_of(packet)].send;
  if (send.syn_seen() && send.isn() == packet.seq) return false;  // the same SYN again
  // An unacknowledged SYN-ACK may get another number (SYN cookies); SendSide then starts again.
  if (packet.has(kAck)) return send.syn_seen() && send.rows > 0 && !answers_our_syn(side_of(packet), packet);
  return send.seen();
}

bool Connection::answers_our_syn(unsigned side, const Packet& packet) const {
  const SendSide& other = sides_[1 - side].send;
  return packet.has(kSyn) && packet.has(kAck) && other.syn_seen() && packet.ack == other.isn() + 1;
}

// A host gives each packet an IP identification of its own, also a retransmission. Where it is 0 (RFC 6864),
// a packet whose other numbers are equal too is taken for a copy if it has data and comes at once, or if
// another host sent it on: then the link's source differs.
bool Connection::Seen::is_copy(const Packet& packet, std::int64_t now_us) const {
  const bool same = us >= 0 && packet.ip_id == ip_id && packet.seq == seq && packet.seq_length() == length &&
                    packet.ack == ack && packet.ts_value == ts;
  if (ip_id != 0) return same && now_us - us < kCopyUs;
  if (!same || packet.window != window) return false;
  return forwarded(packet) ? now_us - us < kCopyUs : length > 0 && now_us - us < kUnnumberedUs;
}

bool Connection::is_copy(unsigned side, const Packet& packet, std::int64_t now_us) {
  Side& me = sides_[side];
  const bool follows = side == last_side_;  // nothing came from the other side in between
  last_side_ = side;
  // a retransmission has another timestamp, unless it comes in the same tick
  const bool told = packet.ip_id != 0 || follows || packet.has_timestamp || me.last.forwarded(packet);
  bool copy = told && me.last.is_copy(packet, now_us);
  if (!copy && told && me.earlier)
    copy = std::any_of(me.earlier->all.begin(), me.earlier->all.end(),
                       [&](const Seen& one) { return one.is_copy(packet, now_us); });
  if (copy) {
    for (Side& one : sides_)
      if (!one.earlier) one.earlier = std::make_unique<Earlier>();
    return true;
  }
  if (me.earlier) me.earlier->all[me.earlier->next++ % me.earlier->all.size()] = me.last;
  me.last = {now_us,          packet.seq,         packet.seq_length(), packet.ack,
             packet.ts_value, packet.link_source, packet.ip_id,        packet.window};
  return false;
}

void Connection::follow_handshake(unsigned side, const Packet& packet, std::int64_t now_us) {
  if (packet.has(kSyn)) {
    sides_[1 - side].send.set_peer_mss(packet.mss_option);
    client_ = static_cast<int>(packet.has(kAck) ? 1 - side : side);
    std::int64_t& when = packet.has(kAck) ? syn_ack_us_ : syn_us_;
    if (when < 0) when = now_us;
  } else if (third_us_ < 0 && syn_ack_us_ >= 0 && packet.has(kAck) && static_cast<int>(side) == client_ &&
             packet.ack - sides_[1 - side].send.isn() == 1) {
    third_us_ = now_us;
  }
}

bool Connection::on_packet(const Packet& packet, std::int64_t now_us, bool every_ack, Batch& out) {
  last_us_ = now_us;
  const unsigned side = side_of(packet);
  Side& me = sides_[side];
  Side& other = sides_[1 - side];
  if (is_copy(side, packet, now_us)) return false;
  // Both endpoints ignore a second SYN-ACK whose number differs from the acknowledged one.
  if (answers_our_syn(side, packet) && me.send.rows > 0 && packet.seq != me.send.isn()) return false;
  if (packet.has(kRst) && !me.send.plausible_reset(packet.seq)) return false;
  if (me.first_ttl == 0) me.first_ttl = packet.ttl;
  follow_handshake(side, packet, now_us);
  if (packet.has(kAck)) {
    other.send.on_ack(packet, now_us, flow_id(1 - side), every_ack, out);
  }
  me.send.on_send(packet, now_us, other.window_closed);
  if (!packet.has(kRst)) me.window_closed = packet.window == 0;
  over_ = packet.has(kRst) || (me.send.fin_acknowledged() && other.send.fin_acknowledged());
  return true;
}

unsigned Connection::client() const {
  if (client_ >= 0) return static_cast<unsigned>(client_);
  // Without the handshake, assume that the server has the lower port.
  return sides_[0].endpoint.port >= sides_[1].endpoint.port ? 0u : 1u;
}

Connection::Near Connection::near() const {
  const SendSide& a = sides_[0].send;
  const SendSide& b = sides_[1].send;
  // SYN to SYN-ACK is the round trip to the server; SYN-ACK to ACK, that to the client.
  if (third_us_ >= 0 && syn_us_ >= 0 && syn_ack_us_ >= syn_us_ && !a.syn_resent() && !b.syn_resent()) {
    const std::int64_t to_server = syn_ack_us_ - syn_us_, to_client = third_us_ - syn_ack_us_;
    if (clearly_less(to_client, to_server)) return {client(), "handshake"};
    if (clearly_less(to_server, to_client)) return {1 - client(), "handshake"};
  }
  // Data of the near host has the longer RTT, because its packets and ACKs cross the whole path.
  if (a.min_data_rtt_us >= 0 && b.min_data_rtt_us >= 0) {
    if (clearly_less(b.min_data_rtt_us, a.min_data_rtt_us)) return {0, "round trips"};
    if (clearly_less(a.min_data_rtt_us, b.min_data_rtt_us)) return {1, "round trips"};
  }
  const bool fresh_a = initial_ttl(sides_[0].first_ttl), fresh_b = initial_ttl(sides_[1].first_ttl);
  if (fresh_a != fresh_b) return {fresh_a ? 0u : 1u, "TTL"};
  return {b.data_bytes > a.data_bytes ? 1u : 0u, "more data"};
}

FlowInfo Connection::info(unsigned side, const SenderChoice& choice) const {
  const Side& sender = sides_[side];
  const Near found = near();
  FlowInfo info;
  info.id = flow_id(side);
  info.peer = flow_id(1 - side);
  info.name = to_string(sender.endpoint) + " > " + to_string(sides_[1 - side].endpoint);
  info.near_sender = found.side == side;
  info.near_reason = found.reason;
  using Kind = SenderChoice::Kind;
  switch (choice.kind) {
    case Kind::kNear:
      info.chosen = info.near_sender;
      break;
    case Kind::kFar:
      info.chosen = !info.near_sender;
      break;
    case Kind::kBoth:
      info.chosen = true;
      break;
    case Kind::kClient:
      info.chosen = client() == side;
      break;
    case Kind::kServer:
      info.chosen = client() != side;
      break;
    case Kind::kAddress:
      info.chosen = sender.endpoint.v6 == choice.address.v6 &&
                    sender.endpoint.address == choice.address.address &&
                    (choice.address.port == 0 || choice.address.port == sender.endpoint.port);
      break;
  }
  // The capture was taken at the side that the user named.
  if (choice.kind == Kind::kClient || choice.kind == Kind::kServer || choice.kind == Kind::kAddress) {
    info.near_sender = info.chosen;
    info.near_reason = "requested";
  }
  info.data_packets = sender.send.data_packets;
  info.data_bytes = sender.send.data_bytes;
  info.retransmitted_packets = sender.send.retransmitted_packets;
  info.acks = sender.send.rows;
  info.samples = sender.send.samples;
  info.mss_bytes = sender.send.mss_bytes();
  info.first_us = first_us_;
  info.last_us = last_us_;
  return info;
}

Remains Connection::remains(const Endpoint& first) const {
  Remains out;
  out.last_us = last_us_;
  for (const unsigned i : {1u, 0u}) {  // if both endpoints are the same, all packets belong to side 0
    const unsigned at = sides_[i].endpoint == first ? 0u : 1u;
    out.isn[at] = sides_[i].send.isn();
    out.syn_seen[at] = sides_[i].send.syn_seen();
  }
  return out;
}

}  // namespace tcplearn
