// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A captured TCP connection: its directions, its lifetime, and which host is nearer to the capture point.
#ifndef TCPLEARN_CAPTURE_CONNECTION_H
#define TCPLEARN_CAPTURE_CONNECTION_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "batch.h"
#include "flow.h"
#include "packet.h"

namespace tcplearn {

// The side whose data the user wants: the parsed text of ReaderOptions::sender.
struct SenderChoice {
  enum class Kind : std::uint8_t { kNear, kFar, kClient, kServer, kBoth, kAddress };
  Kind kind = Kind::kNear;
  Endpoint address;  // port 0 matches any port

  // Throws TraceError if the text is not valid.
  static SenderChoice parse(const std::string& text);
};

// What is kept of an ended connection for a while, so that late packets do not begin another connection.
// Late packets do not prolong this time: if packets continue, they belong to a new connection whose SYN
// was not captured.
struct Remains {
  std::int64_t last_us = 0;
  // Index: 0 for the endpoint that the key of the pair names first, 1 for the other.
  std::array<std::uint32_t, 2> isn{};
  std::array<bool, 2> syn_seen{};

  // Returns whether the packet is the SYN of another connection.
  bool replaced_by(const Packet& packet, unsigned side) const {
    if (!packet.has(kSyn) || packet.has(kRst)) return false;
    return !syn_seen[side] || isn[side] != packet.seq;
  }
};

class Connection {
 public:
  // `first` is the connection's first packet; `index` numbers the connections of a capture.
  Connection(const Packet& first, std::uint32_t index, std::int64_t now_us);

  // Returns whether this packet begins another connection between the same endpoints.
  bool replaced_by(const Packet& packet) const;

  // Takes a packet and appends at most one row to `out`. Returns false if the packet was a copy of an
  // earlier one, or if both endpoints would ignore it.
  bool on_packet(const Packet& packet, std::int64_t now_us, bool every_ack, Batch& out);

  // Returns whether both FINs are acknowledged, or the connection was reset.
  bool over() const { return over_; }
  unsigned side_of(const Packet& packet) const { return packet.source == sides_[0].endpoint ? 0u : 1u; }
  std::uint32_t flow_id(unsigned side) const { return index_ * 2 + side; }
  std::int64_t last_us() const { return last_us_; }
  bool both_sides_seen() const { return sides_[0].send.seen() && sides_[1].send.seen(); }
  std::uint64_t data_packets() const { return sides_[0].send.data_packets + sides_[1].send.data_packets; }
  std::uint64_t acked_captured() const {
    return sides_[0].send.acked_captured + sides_[1].send.acked_captured;
  }
  FlowInfo info(unsigned side, const SenderChoice& choice) const;
  // `first` is the endpoint that the key of the pair names first.
  Remains remains(const Endpoint& first) const;

 private:
  struct Seen {
    std::int64_t us = -1;
    std::uint32_t seq = 0, length = 0, ack = 0, ts = 0, link = 0;
    std::uint16_t ip_id = 0, window = 0;
    bool is_copy(const Packet& packet, std::int64_t now_us) const;
    bool forwarded(const Packet& packet) const {
      return link != 0 && packet.link_source != 0 && packet.link_source != link;
    }
  };
  struct Earlier {
    std::array<Seen, 64> all{};
    std::size_t next = 0;
  };
  struct Side {
    Endpoint endpoint;
    SendSide send;
    std::uint8_t first_ttl = 0;
    bool window_closed = false;
    // The last packet and, once a copy was seen, some packets before it, to recognize their copies in a
    // capture on several interfaces or at a mirror port.
    Seen last;
    std::unique_ptr<Earlier> earlier;
  };
  struct Near {
    unsigned side;
    const char* reason;
  };

  bool answers_our_syn(unsigned side, const Packet& packet) const;
  bool is_copy(unsigned side, const Packet& packet, std::int64_t now_us);
  void follow_handshake(unsigned side, const Packet& packet, std::int64_t now_us);
  Near near() const;
  unsigned client() const;

  std::array<Side, 2> sides_;
  std::uint32_t index_;
  bool over_ = false;
  unsigned last_side_ = 0;  // the side that sent the last packet
  int client_ = -1;         // the side that sent the SYN; -1: not captured
  std::int64_t syn_us_ = -1, syn_ack_us_ = -1, third_us_ = -1;
  std::int64_t first_us_, last_us_;
};

}  // namespace tcplearn

#endif
