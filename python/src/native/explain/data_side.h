// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Follows the data of one end of a connection as the capture point sees it: what is in flight, what was
// retransmitted and why, and which copy arrived.
#ifndef TCPLEARN_EXPLAIN_DATA_SIDE_H
#define TCPLEARN_EXPLAIN_DATA_SIDE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "capture/loss.h"
#include "capture/packet.h"
#include "forecast.h"
#include "leg.h"
#include "rows.h"
#include "sender_clock.h"
#include "sender_timer.h"

namespace tcplearn {

// A range of bytes that was sent more than once, or arrived late.
struct Repaired {
  std::int64_t start_us = 0;         // first transmission, or when the capture point saw the gap
  std::int64_t end_us = 0;           // transmission that arrived
  std::int64_t seen_us = 0;          // when the capture point saw that it had arrived
  std::int64_t last_copy_us = 0;     // last transmission of all
  std::int64_t silent_until_us = 0;  // last transmission known to be lost
  std::int64_t first_wait_us = -1, timer_us = -1, srtt_us = -1;
  std::int64_t stream_end = 0;
  std::uint32_t copies = 0, all_copies = 0;  // retransmissions until one arrived; in all
  std::uint32_t duplicates = 0;              // duplicates that the receiver has reported (DSACK)
  std::uint32_t bytes = 0, out_segments = 0;
  std::uint32_t lost_ids = 0;  // packets lost before the first retransmission seen, by IP identification
  std::uint32_t packet = 0;    // number of the last copy among the retransmitted packets
  End by = End::kUnclear;
  bool spurious = false;  // the first copy arrived
  Fates fates;
  bool tail = false;     // nothing was sent after it before its retransmission
  bool clocked = false;  // an ACK triggered it, in a recovery that had begun before
  bool head = false;     // it was the oldest segment in flight
  bool certain = false;  // timestamps show which copy arrived; otherwise a DSACK may still show it
  bool doubled = false;  // the ACK answers the last copy, although an earlier one had arrived
};

class DataSide {
 public:
  struct Sent {
    bool is_new = false;     // the packet has bytes beyond all seen before
    bool first_out = false;  // nothing was in flight before these bytes
    bool restarts = false;   // its sequence number is far from all others: positions begin anew
    std::int64_t from = 0, to = 0;
    // lost_before: packets that this end sent since its last captured packet, and that never reached the
    // capture point, by IP identification. announced: a captured sequence number shows that these bytes
    // had been sent before.
    std::uint32_t lost_before = 0;
    bool announced = false;
    bool mid_write = false;  // the data before was a full segment, so more may have followed it
    // Time since the data before, if no ACK arrived at this end meanwhile that could have permitted this
    // data.
    std::int64_t unasked_us = 0;
    std::int64_t filled = 0;  // bytes of a gap that the packet fills
  };
  struct Acked {
    bool advanced = false;
    bool pure = false;
    // RTT of the newest acknowledged segment, if it was sent once or timestamps show which copy is answered
    std::int64_t rtt_us = -1;
    std::int64_t last_sent_us = 0;  // transmission time of the newest acknowledged byte
    bool several = false;           // acknowledges several segments, or one while more are in flight
    bool small = false;             // acknowledges so few bytes that the receiver may have delayed the ACK
    bool lone = false;              // only one segment was in flight, and it was not full-sized
    std::int64_t twice_from = 0, twice_to = 0;  // bytes that arrived twice (RFC 2883)
  };

  // A position in the stream, and when all bytes before it had been sent in copies that arrived; or -1.
  struct Mark {
    std::int64_t to = 0, us = -1;
  };

  // What an ACK shows about the end that sent it.
  struct Peer {
    bool ahead = false;    // it had sent data that never reached the capture point
    bool follows = false;  // the ACK carries data, and all earlier data reached the capture point
    // packets of this end that the capture point missed since this end's last packet, by IP identification;
    // -1: not known
    std::int32_t unseen = -1;
    std::int64_t rto_us = -1;  // its RTO
    // Returns how many times this end's timer retransmits within `since_us`.
    std::int32_t resends(std::int64_t since_us) const;
  };

  // Takes a packet of this end. `back`: the round trip from the capture point to this end. `ids_in_row`
  // belongs to this end's host (Path). A spurious retransmission of data whose ACK the capture point had
  // already seen is added to `late`. on_ack() takes an ACK of the other end and adds the losses that have
  // ended to `out`.
  Sent on_sent(const Packet& packet, std::int64_t now_us, const Leg& back, std::uint32_t& ids_in_row,
               std::vector<Repaired>& late);
  // Takes a packet with one byte while the other end's window is closed. Returns whether it is a window probe
  // (RFC 9293, 3.8.6.1), whose byte the other end will hardly accept.
  bool probes_window(const Packet& packet, std::uint32_t& ids_in_row);
  Acked on_ack(const Packet& packet, const Peer& peer, std::int64_t now_us, const Leg& back,
               std::vector<Mark>& marks, std::vector<Repaired>& out);
  // Returns what a packet of this end shows, as an ACK of the other end's data.
  Peer peer(const Packet& packet, std::uint32_t ids_in_row) const;
  // Returns whether a packet without data shows that bytes before it never reached the capture point.
  bool is_ahead(const Packet& packet) const {
    const std::int64_t step = unwrap(packet.seq) - nxt_;
    return started_ && packet.payload_bytes == 0 && !packet.has(kSyn) && step > 0 && step <= kLargestStep;
  }
  // Settles all open losses at the end of the connection.
  void finish(std::vector<Repaired>& out);

  // Counts `copies` spurious retransmissions, the last in retransmitted packet number `packet`.
  void count_needless(std::uint32_t packet, std::uint32_t copies = 1);

  // Takes the RTT of the handshake, with which the sender's timer begins.
  void begin_with_rtt(std::int64_t rtt_us) { timer_.begin(rtt_us); }
  // Returns whether this end has sent small segments while another was in flight: it does not wait for ACKs
  // (TCP_NODELAY, RFC 9293, 3.7.4).
  bool no_delay() const { return no_delay_ >= kNoDelay; }
  void set_sack_permitted(bool permitted) { sack_permitted_ = permitted; }
  void set_mss(std::uint32_t mss_bytes) { full_ = mss_bytes > kOptionBytes ? mss_bytes - kOptionBytes : 0; }
  std::int64_t unwrap(std::uint32_t sequence) const;

  bool outstanding() const { return una_ < nxt_; }
  std::int64_t una() const { return una_; }
  std::int64_t sent_to() const { return nxt_; }
  std::int64_t last_sent_us() const { return last_sent_us_; }
  // Returns when this end last retransmitted data whose ACK the capture point had already seen; that ACK
  // was late or lost beyond the capture point.
  std::int64_t last_needless_us() const { return last_needless_us_; }
  std::int64_t last_advance_us() const { return last_advance_us_; }
  std::uint32_t largest() const { return largest_; }
  std::uint32_t out() const { return static_cast<std::uint32_t>(pieces_.size() - head_); }
  // Returns when all bytes acknowledged so far had been sent, in copies that arrived.
  std::int64_t arrived_us() const { return arrived_us_; }
  // Returns the same as arrived_us(), but counts the first copy of a spuriously retransmitted segment
  // from the time at which it could have arrived.
  std::int64_t earliest_us() const { return earliest_us_; }
  // Returns whether IP identification shows every packet lost between this end and the capture point.
  bool numbered(std::uint32_t ids_in_row) const;
  // Returns whether this end's host counts the packets of each connection.
  bool counts_ids(std::uint32_t ids_in_row) const;
  // Marks IP identification as useless: it counts other packets too, or packets were not captured.
  void set_ids_useless() { ids_useless_ = true; }
  bool follows_id(std::uint16_t id) const {
    return !id_seen_ || static_cast<std::uint16_t>(last_id_ + 1) == id;
  }
  // Returns whether `times` losses, of a lone segment or not, explain a wait of `waited_us`.
  bool may_be_lost(std::uint32_t times, bool lone, std::int64_t waited_us) const;
  const SenderTimer& timer() const { return timer_; }

  // Exists from the first data on if policies are compared, so a port scan needs no memory for it.
  std::unique_ptr<Forecast> forecast;
  Leg leg;  // round trip from the capture point to the other end
  std::uint32_t segments = 0, resent = 0, needless = 0;
  std::int64_t bytes = 0;

 private:
  // The largest window is 2^30 bytes, as in capture/flow.cpp.
  static constexpr std::int64_t kLargestStep = std::int64_t{1} << 30;
  static constexpr std::uint32_t kOptionBytes = 12;  // of timestamps, which most segments have
  static constexpr std::uint32_t kLargestSegment = 1500;
  static constexpr std::uint32_t kNoDelay = 2;
  // A receiver may delay the ACK of less than two full-sized segments (RFC 9293, 3.8.6.3). The size of the
  // smallest such segment (3.7.1).
  static constexpr std::uint32_t kLeastFullBytes = 536;
  // A retransmission comes later than this after its segment, unless an ACK triggered it: no timer is so
  // short.
  static constexpr std::int64_t kNoTimerUs = 1500;
  static constexpr std::int64_t kLeastRtoUs = 200'000;  // of Linux, beyond the round trip
  static bool ts_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }
  struct Copy {
    std::int64_t us;
    std::uint32_t ts;
    bool has_ts;
    bool clocked;
    End by;
    std::uint32_t packet;  // number among the retransmitted packets
  };
  struct Again {
    std::vector<Copy> copies;
    std::int64_t sacked_us = -1, timer_us = -1, srtt_us = -1;
    bool tail = false;
    std::uint32_t lost_ids = 0;  // packets lost before the first copy, by IP identification
  };
  struct Piece {
    std::int64_t start, end, first_us;
    std::uint32_t ts;
    std::uint32_t out;
    bool has_ts;
    bool missing;  // a gap; first_us is when the gap was seen
    bool filled;   // it was a gap that was filled later
    std::unique_ptr<Again> again;
  };

  void start_at(std::int64_t sequence);
  void note_size(std::uint32_t payload_bytes);
  bool was_full() const;
  void note_small(const Packet& packet, std::int64_t start, std::int64_t end, std::int64_t now_us);
  void append(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us, bool missing);
  // Returns how many bytes of gaps the packet fills.
  std::int64_t send_again(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us,
                          const Leg& back);
  // Records another copy of `piece`. Returns whether the copy is a retransmission.
  bool copy(Piece& piece, const Packet& packet, std::int64_t now_us, const Leg& back);
  // Returns why the sender retransmitted `piece`; docs/explain.md has the rules.
  End trigger(const Piece& piece, std::int64_t now_us, const Leg& back, bool& clocked);
  void split(std::size_t index, std::int64_t at);
  std::size_t first_ending_after(std::int64_t sequence) const;
  void read_sack(const Packet& packet, std::int64_t ack, std::int64_t now_us, Acked& out);
  // Returns which copy arrived: -1 the first transmission, otherwise the index of a retransmission.
  // `doubled`: what is_doubled() returns.
  int arrived(const Piece& piece, const Packet* head_ack, std::int64_t seen_us, bool doubled,
              bool& certain) const;
  // Returns whether the first ACK of `piece` answers the last copy, after an earlier copy had arrived.
  bool is_doubled(const Piece& piece) const;
  // Returns when the copy of `piece` was sent whose timestamp `ack` echoes, or -1 if timestamps do not tell.
  // Linux takes an RTT sample from it, although the segment was retransmitted (RFC 7323, 4.1).
  std::int64_t echoed_us(const Piece& piece, const Packet& ack) const;
  // Returns which of the earlier copies had arrived.
  int came_before(const Piece& piece, std::int64_t seen_us) const;
  // Returns whether an ACK that never reached the capture point had acknowledged the first copy.
  bool had_been_acked(const Piece& piece, std::int64_t seen_us) const;
  void settle(Piece& piece, const Packet* head_ack, std::int64_t now_us, std::vector<Repaired>& out);
  std::int64_t due_us(const Piece& piece) const;
  std::int64_t due_us(std::uint32_t ts, std::int64_t came_us) const;
  void acked_again(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us,
                   const Leg& back, std::vector<Repaired>& out);
  void pop(std::int64_t ack, const Packet& packet, std::int64_t now_us, std::vector<Mark>& marks,
           std::vector<Repaired>& out);
  // Returns whether a gap in IP identification shows losses, and not only reordering.
  bool ids_show_losses() const;
  // Notes whether the packet's IP identification is new, and whether it shows that the packet was overtaken.
  // Returns whether it is older than the last one.
  bool note_id(const Packet& packet, std::uint32_t ids_in_row);
  std::uint32_t follow_ids(const Packet& packet, std::uint32_t& ids_in_row);
  std::uint32_t lost_by_ids(const Packet& packet, bool follows, std::int64_t now_us,
                            std::uint32_t& ids_in_row);
  void follow_announced(const Packet& packet, std::int64_t now_us);
  bool overtaken(const Packet& packet, std::uint32_t ts, std::int64_t first_us, std::int64_t now_us,
                 const Leg& back) const;
  void limit_memory();

  std::vector<Piece> pieces_;
  // start of each piece that was retransmitted and neither acknowledged nor SACKed
  std::vector<std::int64_t> resent_starts_;
  std::size_t head_ = 0;
  // packets since the last data that never reached the capture point, by IP identification
  std::uint32_t unseen_ = 0;
  // numbers that gaps in IP identification left out, and late packets that filled such gaps
  std::uint32_t ids_missing_ = 0, ids_filled_ = 0;
  std::int64_t una_ = 0, nxt_ = 0, sacked_to_ = 0, recover_ = 0;
  std::int64_t last_sent_us_ = -1, last_ack_us_ = -1, last_advance_us_ = -1, last_probe_us_ = -1,
               last_needless_us_ = -1;
  std::int64_t arrived_us_ = -1, earliest_us_ = -1, announced_ = 0, announced_us_ = 0;
  std::int64_t twice_from_ = 0, twice_to_ = 0;  // duplicate bytes that the last ACK reports
  // What one ACK acknowledged, and when; and when its first and last segment would have reached the
  // capture point on an idle path (-1: that segment was retransmitted).
  struct Run {
    std::int64_t from = 0, to = 0, acked_us = 0, first_us = -1, last_us = -1;
  };
  Run acked_, late_acked_;  // run of the last ACK; last run with segments that arrived late
  std::uint32_t announced_ts_ = 0;
  std::uint32_t largest_ = 0, full_ = 0, newest_ts_ = 0;
  std::uint32_t largest_times_ = 0;  // segments of the largest size, at most two
  // duplicates_alike_: duplicate ACKs that are no window updates (RFC 5681, 2)
  std::uint32_t duplicates_ = 0, duplicates_alike_ = 0, timer_resends_ = 0;
  std::uint16_t last_window_ = 0;  // of the last ACK
  std::uint32_t last_payload_ = 0, last_needless_ = 0, last_bytes_ = 0;
  std::uint16_t last_id_ = 0;
  End recovery_by_ = End::kUnclear;
  std::int64_t small_to_ = -1;         // end of the last small segment
  std::int64_t window_probe_to_ = -1;  // end of the last window probe
  std::int64_t probe_to_ = -1;         // end of an outstanding tail loss probe, as the sender sees it
  Peer peer_;                          // from the last ACK
  bool at_sender_ = false, started_ = false, sack_permitted_ = false, id_seen_ = false, ids_useless_ = false,
       recovering_ = false, new_id_ = false, overtaken_ = false;
  std::uint32_t no_delay_ = 0;  // small segments sent while another was in flight
  SenderTimer timer_;
  SenderClock clock_;
};

}  // namespace tcplearn

#endif
