// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The three packets of a handshake, and which of them were lost.
#ifndef TCPLEARN_EXPLAIN_HANDSHAKE_H
#define TCPLEARN_EXPLAIN_HANDSHAKE_H

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "capture/packet.h"
#include "data_side.h"
#include "rows.h"

namespace tcplearn {

class Handshake {
 public:
  // Takes a packet of the client or the server.
  void on_packet(const Packet& packet, bool by_client, std::int64_t now_us, Leg& to_server, Leg& to_client);
  // Returns the stall of the handshake, if any. Called at the end of the connection.
  std::optional<StallRow> stall(const Leg& to_server, const Leg& to_client) const;

  std::int64_t duration_us() const {
    return third_us_ < 0 || syn_.copies == 0 ? -1 : third_us_ - syn_.first_us;
  }
  // Returns the RTT with which both hosts begin; -1 if there were retransmissions (Karn's rule),
  // or if the final ACK came with data, before which the client may have paused.
  std::int64_t rtt_us() const {
    return syn_.copies == 1 && syn_ack_.copies == 1 && third_pure_ ? duration_us() : -1;
  }

 private:
  struct Kind {  // the copies of the SYN, or of the SYN-ACK
    std::uint32_t copies = 0, first_ts = 0, last_ts = 0;
    std::int64_t first_us = -1, before_us = -1, last_us = -1, second_us = -1;
    bool has_ts = false;
    std::vector<std::pair<std::uint32_t, std::int64_t>> sent;  // timestamp and time of each copy
    void add(const Packet& packet, std::int64_t now_us);
  };
  std::optional<StallRow> judged(const Leg& to_server) const;
  bool answers_earlier(const Leg& to_server) const;
  void shorten(StallRow& stall, const Leg& to_server) const;
  bool last_answer_counts(const Leg& to_server, const Leg& to_client) const;
  bool late(const Leg& to_server, const Leg& to_client) const;
  static StallRow row(Cause cause, const Kind& kind, bool by_server);

  Kind syn_, syn_ack_;
  void note_held(const Packet& packet, std::int64_t now_us);

  std::uint32_t syn_seq_ = 0;  // sequence number of the last SYN
  std::uint32_t echo_ = 0;     // timestamp echoed by the last SYN-ACK
  // third_us_: time of the final ACK; crossed_us_: time of a SYN that came after the first SYN-ACK
  std::int64_t third_us_ = -1, crossed_us_ = -1;
  std::optional<std::uint32_t> third_echo_;
  bool third_pure_ = false;  // the final ACK has no data
  bool refused_ = false;     // the SYN was answered by a RST, or an ACK of an older connection
  bool twice_ = false;       // two SYN-ACKs came soon after each other
  bool held_ = false;  // two SYN-ACKs came together, but one was sent long before the other, or both at once
};

}  // namespace tcplearn

#endif
