// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Explains one captured connection: its requests, its stalls, and what they waited for.
#ifndef TCPLEARN_EXPLAIN_CONVERSATION_H
#define TCPLEARN_EXPLAIN_CONVERSATION_H

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "capture/packet.h"
#include "closing.h"
#include "data_side.h"
#include "exchange.h"
#include "handshake.h"
#include "learned.h"
#include "path.h"
#include "rows.h"

namespace tcplearn {

// The shortest round trip to each host that is less than a millisecond from the capture point.
using NearHosts = std::map<Address, std::int64_t>;

class Conversation {
 public:
  // `candidates`: the resend policies to compare. `path`: the path between the two hosts, shared by all
  // their connections. `learned`: what the policies learned from earlier connections. All outlive the
  // conversation. `near_clients`: clients' hosts beside the capture point.
  Conversation(std::uint32_t number, const Packet& first, std::int64_t now_us, Path& path,
               NearHosts& near_clients, const Candidates& candidates, Learned& learned);
  // Returns the side that is the client, judged by the connection's first packet.
  static unsigned client_side(const Packet& first);
  // Returns whether the order of the ports is all that this judgement rests on.
  static bool is_guess(const Packet& first);

  // What a first reading shows of the connection, and the second one knows from the beginning.
  struct Seen {
    std::array<Leg, 2> legs;
    std::uint32_t answers = 0;
    bool bare_acks = false, relayed = false;
  };
  Seen seen() const { return {{ends_[0].data.leg, ends_[1].data.leg}, answers_, bare_acks_, relayed()}; }
  void take(const Seen& seen) {
    for (const unsigned end : {kClient, kServer}) ends_[end].data.leg.add(seen.legs[end]);
    answers_ = seen.answers;
    bare_acks_ = seen.bare_acks;
    relayed_ = seen.relayed;
  }

  // `side` is 0 for packets of the endpoint that sent the first packet, 1 for the other.
  void on_packet(unsigned side, const Packet& packet, std::int64_t now_us, ExplainedRows& out);
  void finish(ExplainedRows& out);
  // Keeps what the policies have learned for the next connection between the hosts, which may begin before
  // this one has ended completely.
  void keep_learned();
  // Returns whether keep_learned() was called at a FIN or RST.
  bool closed() const { return closed_; }
  Path& path() const { return path_; }
  // Returns the round trip to the server if packets without data show it, and no relay answers.
  Leg direct() const { return leg_to(kServer).pure && !relayed() ? leg_to(kServer) : Leg{}; }

 private:
  enum : unsigned { kClient = 0, kServer = 1 };
  static constexpr std::size_t kMostSettling = 4096;
  // If so many packets of a server have data, and none is an ACK without data, such ACKs were not captured.
  static constexpr std::uint32_t kEnoughAnswers = 3;
  // Waits get a stall row from kLeastRowUs on, and count in a request's sum from kLeastOwnUs on.
  static constexpr std::int64_t kLeastRowUs = 10'000, kLeastOwnUs = 1000;
  // The longest time that a host needs between an ACK and the data that the ACK permits.
  static constexpr std::int64_t kPromptUs = 5000;
  struct Host {
    Endpoint endpoint;
    DataSide data;
    Learned::States earlier;         // what the policies knew of the other end when the connection began
    std::vector<Repaired> settling;  // losses for which a later DSACK may still show which copy arrived
    StallRow open;                   // the current stall; overlapping losses are merged into it
    bool any_open = false;
    // the other end's receive window: closed at, opened again at
    std::int64_t window_closed_us = -1, window_opened_us = -1;
    unsigned scale = 0;
    bool has_scale = false;
    DataSide::Acked last_ack;  // the last ACK that acknowledged new data
    // last_ack_echoed: packets sent after that ACK arrives echo its timestamp
    bool last_ack_repaired = false, last_ack_echoed = false;
    std::uint32_t last_ack_ts = 0;
  };

  void on_ack(unsigned end, const Packet& packet, std::int64_t now_us);
  Learned::Hosts hosts(unsigned end) const {
    return Learned::hosts(ends_[end].endpoint, ends_[1 - end].endpoint);
  }
  void forecast(unsigned end, const DataSide::Acked& acked, std::int64_t now_us);
  void follow_window(unsigned end, const Packet& packet, std::int64_t now_us);
  void on_new_data(unsigned end, const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us,
                   ExplainedRows& out);
  // Returns the position in the client's stream up to which a packet of the server acknowledges it; 0: none.
  std::int64_t acked_requests(const Packet& packet) const {
    return packet.has(kAck) ? ends_[kClient].data.unwrap(packet.ack) : 0;
  }
  void on_request(const DataSide::Sent& sent, std::int64_t now_us);
  bool is_aside(const Packet& packet, std::int64_t now_us) const;
  std::int64_t least_own_us(std::int64_t there_us) const;
  // Returns whether the new data of `end`, which was idle for at least `least_us`, follows data that ended
  // with less than a full segment.
  bool after_pause(unsigned end, const DataSide::Sent& sent, std::int64_t now_us,
                   std::int64_t least_us) const;
  // Returns whether the client, whose last data has no answer, paused for at least `least_us` before its new
  // data, in a connection whose ACKs without data were not captured: the server would have acknowledged the
  // data before the pause.
  bool after_unacked_pause(const DataSide::Sent& sent, std::int64_t now_us, std::int64_t least_us) const;
  // Takes the server's new data. Returns whether it may be a message of its own, and no part of an answer.
  bool may_be_own(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us, ExplainedRows& out);
  bool stays_own(const Packet& packet, const DataSide::Sent& sent);
  bool row_goes_on(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us);
  void open_closing(const Exchange& last, const DataSide::Sent& sent, std::int64_t now_us);
  // Returns whether the client was gone when the server sent the last part of an answer.
  bool gone(const Exchange& exchange) const;
  void settle_closing(std::int64_t bytes, ExplainedRows& out);
  bool may_be_closing() const { return closing_ && closing_->open; }
  // Takes a FIN of `end`, or RST, after data that may be no part of the answer.
  void close_after(unsigned end, const Packet& packet, std::int64_t now_us, ExplainedRows& out);
  bool after_fin(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us);
  void end_answer_before_closing();
  void go_on_after_closing(ExplainedRows& out);
  void on_answer(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us, ExplainedRows& out);
  void await_answer(Exchange& exchange, const DataSide::Sent& sent, std::int64_t now_us, ExplainedRows& out);
  void own_time(unsigned end, const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us,
                ExplainedRows& out);
  void paused(const DataSide::Sent& sent, std::int64_t now_us, ExplainedRows& out);
  void no_progress(unsigned end, std::int64_t now_us);
  void forget_spurious();
  static void arrived_whole(const Repaired& one, const DataSide::Acked& acked, std::vector<Repaired>& all);
  void on_acked_again(unsigned end);
  void begin_earlier(const Repaired& late);
  static bool covers(const StallRow& loss, const StallRow& late);
  void drop_covered(unsigned end, const StallRow& loss);
  bool goes_on(unsigned end) const;
  bool crosses(unsigned end, const Packet& packet) const;
  bool was_lost(unsigned end, const DataSide::Sent& sent, bool lone, std::int64_t waited_us) const;
  bool beside_server() const;
  bool relayed() const;
  // Returns whether the capture was taken beside `end`, as the time to its host and the other one shows.
  bool beside(unsigned end) const;
  void share_client_leg();
  void take_client_leg();
  void lost_unseen(unsigned end, std::int64_t from_us, const DataSide::Sent& sent, std::int64_t now_us,
                   ExplainedRows& out);
  void settle(unsigned end, std::int64_t now_us, bool all, ExplainedRows& out);
  void commit(unsigned end, const Repaired& loss, ExplainedRows& out);
  void close_stall(unsigned end, ExplainedRows& out);
  void emit(const StallRow& row, ExplainedRows& out);
  void wait(unsigned end, Cause cause, End ended_by, std::int64_t from_us, std::int64_t to_us,
            ExplainedRows& out);
  void give_requests(bool all, ExplainedRows& out);
  const Leg& leg_to(unsigned end) const { return ends_[1 - end].data.leg; }
  Leg& leg_to(unsigned end) { return ends_[1 - end].data.leg; }
  // Returns the cause of an answer that came `excess_us` later than it could.
  Cause waited_for(const Exchange& exchange, std::int64_t excess_us, std::int64_t now_us) const;

  std::uint32_t number_;
  unsigned client_side_;
  std::array<Host, 2> ends_;
  Handshake handshake_;
  std::deque<Exchange> exchanges_;
  std::unique_ptr<Exchange> passed_over_;  // the client's last message that seemed to need no answer
  std::unique_ptr<Closing> closing_;       // once the server has sent something of the kind
  std::vector<Repaired> losses_;
  std::vector<DataSide::Mark> marks_;
  std::int64_t first_us_, last_us_;
  Path& path_;
  NearHosts& near_clients_;
  const Candidates& candidates_;
  Learned& learned_;
  std::int64_t progress_us_ = -1;  // when new data was sent or acknowledged last
  unsigned last_sender_ = 2;
  std::uint8_t options_ = 0;
  // After the client's FIN, what the server sends until then is no part of an answer; -1: there was no FIN.
  std::int64_t after_fin_until_us_ = -1;
  std::int32_t after_fin_bytes_ = 0;  // of such data
  bool closed_ = false;
  bool relayed_ = false;       // a first reading has shown it
  bool near_ = false;          // the client's host is in near_clients_
  bool no_hop_ = false;        // the server's packets have passed no router, by their hop limit
  bool other_system_ = false;  // the server's hop limit is not that with which Linux sends packets
  bool bare_acks_ = false;     // the server has sent an ACK without data
  std::uint32_t answers_ = 0;  // packets of the server with data, up to kEnoughAnswers
};

}  // namespace tcplearn

#endif
