// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The data of one end of a connection, as the capture point sees it: what is out, what was sent again and
// why, and which copy arrived.
#ifndef TCPLEARN_EXPLAIN_DATA_SIDE_H
#define TCPLEARN_EXPLAIN_DATA_SIDE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "capture/packet.h"
#include "forecast.h"
#include "rows.h"
#include "sender_clock.h"
#include "sender_timer.h"

namespace tcplearn {

// The shortest round trip beyond the capture point, towards one end; -1: none was seen.
struct Leg {
  std::int64_t min_us = -1;
  void add(std::int64_t rtt_us) {
    if (min_us < 0 || rtt_us < min_us) min_us = rtt_us;
  }
  std::int64_t known_us() const { return min_us < 0 ? 0 : min_us; }
};

// A range of bytes that was sent more than once, or came late, once it is known which copy arrived.
struct Repaired {
  std::int64_t start_us = 0;         // the first sending, or when the gap that it left was seen
  std::int64_t end_us = 0;           // the sending that arrived
  std::int64_t seen_us = 0;          // when the capture point saw that it had
  std::int64_t last_copy_us = 0;     // the last sending of all
  std::int64_t silent_until_us = 0;  // the last sending known to be lost
  std::int64_t first_wait_us = -1, timer_us = -1, srtt_us = -1;
  std::int64_t stream_end = 0;
  std::uint32_t copies = 0, all_copies = 0;  // sent again until it arrived; in all
  std::uint32_t duplicates = 0;              // that the receiver has reported of it (DSACK)
  std::uint32_t bytes = 0, out_segments = 0;
  std::uint32_t packet = 0;  // of the last copy, among those sent again
  End by = End::kUnclear;
  bool spurious = false;  // the first copy arrived
  Fates fates;
  bool tail = false;     // nothing was sent after it before it was sent again
  bool clocked = false;  // an ACK let it out in a recovery that had begun before
  bool head = false;     // it was the oldest segment out
  bool certain = false;  // timestamps say which copy arrived; else a DSACK may yet
};

class DataSide {
 public:
  struct Sent {
    bool is_new = false;     // bytes beyond all seen before
    bool first_out = false;  // nothing was out before them
    std::int64_t from = 0, to = 0;
    // packets of this end that never came here since its last, by IP's numbers; by TCP's: they had been sent
    // before
    std::uint32_t lost_before = 0;
    bool announced = false;
    bool mid_write = false;  // what was sent before them was a full segment: more may have followed it
  };
  struct Acked {
    bool advanced = false;
    bool pure = false;
    std::int64_t rtt_us = -1;       // of the newest segment acknowledged, sent once
    std::int64_t last_sent_us = 0;  // of the newest byte acknowledged
    bool prompt = false;            // of two segments or more, or while more were out: nobody held it back
    bool lone = false;              // one segment was out, and short of a full one
    std::int64_t twice_from = 0, twice_to = 0;  // bytes that arrived twice (RFC 2883)
  };

  // A place in the stream, and when all bytes before it had been sent by copies that arrived; -1: not yet.
  struct Mark {
    std::int64_t to = 0, us = -1;
  };

  // What an ACK says of the end that sent it.
  struct Peer {
    bool ahead = false;        // it had sent data that never came here
    bool follows = false;      // the ACK has data, and all before it came here
    std::int32_t unseen = -1;  // its packets since the last that came here, by IP's numbers; -1: not known
    std::int64_t rto_us = -1;  // of its timer
    // How often it sends again what it waits for so long.
    std::int32_t resends(std::int64_t since_us) const;
  };

  // `back`: the other leg, from the capture point to this end. Losses that are over are added to `out`.
  // `ids_in_row`: of its host (Path). A spurious retransmission of what was acknowledged here before is added
  // to `late`.
  Sent on_sent(const Packet& packet, std::int64_t now_us, const Leg& back, std::uint32_t& ids_in_row,
               std::vector<Repaired>& late);
  Acked on_ack(const Packet& packet, const Peer& peer, std::int64_t now_us, const Leg& back,
               std::vector<Mark>& marks, std::vector<Repaired>& out);
  // What a packet of this end says, as an ACK of the other's data.
  Peer peer(const Packet& packet, std::uint32_t ids_in_row) const;
  // Whether a packet without data of this end says that it had sent bytes that never came here.
  bool is_ahead(const Packet& packet) const {
    const std::int64_t step = unwrap(packet.seq) - nxt_;
    return started_ && packet.payload_bytes == 0 && !packet.has(kSyn) && step > 0 && step <= kLargestStep;
  }
  // At the end of the connection.
  void finish(std::vector<Repaired>& out);

  // A packet that was sent again, by its number among these, had arrived before.
  void count_needless(std::uint32_t packet, std::uint32_t copies = 1);

  void set_sack_permitted() { sack_permitted_ = true; }
  void set_mss(std::uint32_t mss_bytes) { full_ = mss_bytes > kOptionBytes ? mss_bytes - kOptionBytes : 0; }
  std::int64_t unwrap(std::uint32_t sequence) const;

  bool outstanding() const { return una_ < nxt_; }
  std::int64_t una() const { return una_; }
  std::int64_t sent_to() const { return nxt_; }
  std::int64_t last_sent_us() const { return last_sent_us_; }
  // When it last sent again what had been acknowledged here: that ACK was lost further on.
  std::int64_t last_needless_us() const { return last_needless_us_; }
  std::int64_t last_advance_us() const { return last_advance_us_; }
  std::uint32_t largest() const { return largest_; }
  std::uint32_t out() const { return static_cast<std::uint32_t>(pieces_.size() - head_); }
  // When the bytes acknowledged so far had all been sent by copies that arrived.
  std::int64_t arrived_us() const { return arrived_us_; }
  // The same where the first copy of what was sent again spuriously came as soon as it could.
  std::int64_t earliest_us() const { return earliest_us_; }
  // Whether IP's numbers tell of every packet of this end that was lost before it came here.
  bool numbered(std::uint32_t ids_in_row) const;
  // They count the packets of other connections too, or packets came here that were not captured.
  void set_ids_useless() { ids_useless_ = true; }
  bool follows_id(std::uint16_t id) const {
    return !id_seen_ || static_cast<std::uint16_t>(last_id_ + 1) == id;
  }
  // Whether `times` losses of what was out, alone or not, explain that it was waited for so long.
  bool may_be_lost(std::uint32_t times, bool lone, std::int64_t waited_us) const;
  const SenderTimer& timer() const { return timer_; }

  // Since its first data, where policies are compared: a scan of 100,000 ports has none.
  std::unique_ptr<Forecast> forecast;
  Leg leg;  // from the capture point to the other end and back
  std::uint32_t segments = 0, resent = 0, needless = 0;
  std::int64_t bytes = 0;

 private:
  // As in capture/flow.cpp: a window holds 2^30 bytes at most.
  static constexpr std::int64_t kLargestStep = std::int64_t{1} << 30;
  static constexpr std::uint32_t kOptionBytes = 40;  // of TCP at most
  static constexpr std::uint32_t kLargestSegment = 1500;
  static bool ts_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }
  struct Copy {
    std::int64_t us;
    std::uint32_t ts;
    bool has_ts;
    bool clocked;
    End by;
    std::uint32_t packet;  // of those sent again
  };
  struct Again {
    std::vector<Copy> copies;
    std::int64_t sacked_us = -1, timer_us = -1, srtt_us = -1;
    bool tail = false;
  };
  struct Piece {
    std::int64_t start, end, first_us;
    std::uint32_t ts;
    std::uint32_t out;
    bool has_ts;
    bool missing;  // a gap: first_us is when that was seen
    bool filled;   // it was one
    std::unique_ptr<Again> again;
  };

  void start_at(std::int64_t sequence);
  void append(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us, bool missing);
  void send_again(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us,
                  const Leg& back);
  // Whether that is a retransmission.
  bool copy(Piece& piece, const Packet& packet, std::int64_t now_us, const Leg& back);
  // Why the sender sent this again: docs/explain.md.
  End trigger(const Piece& piece, std::int64_t now_us, const Leg& back, bool& clocked);
  void split(std::size_t index, std::int64_t at);
  std::size_t first_ending_after(std::int64_t sequence) const;
  void read_sack(const Packet& packet, std::int64_t ack, std::int64_t now_us, Acked& out);
  // Which copy arrived: -1 the first, else a place among those after it.
  int arrived(const Piece& piece, const Packet* head_ack, std::int64_t seen_us, bool& certain) const;
  // Whether the ACK that is the first to acknowledge it is of the last copy, and says that one had come
  // before.
  bool is_doubled(const Piece& piece) const;
  // Which copy before the last that was.
  int came_before(const Piece& piece, std::int64_t seen_us) const;
  // Whether the ACK of the last copy follows one that never came here: of the first.
  bool had_been_acked(const Piece& piece, std::int64_t seen_us) const;
  void settle(Piece& piece, const Packet* head_ack, std::int64_t now_us, std::vector<Repaired>& out);
  std::int64_t due_us(const Piece& piece) const;
  std::int64_t due_us(std::uint32_t ts, std::int64_t came_us) const;
  void acked_again(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us,
                   const Leg& back, std::vector<Repaired>& out);
  void pop(std::int64_t ack, const Packet& packet, std::int64_t now_us, std::vector<Mark>& marks,
           std::vector<Repaired>& out);
  std::uint32_t follow_ids(const Packet& packet, std::uint32_t& ids_in_row);
  std::uint32_t lost_by_ids(const Packet& packet, bool follows, std::int64_t now_us,
                            std::uint32_t& ids_in_row);
  void follow_announced(const Packet& packet, std::int64_t now_us);
  bool overtaken(const Packet& packet, std::uint32_t ts, std::int64_t first_us, std::int64_t now_us,
                 const Leg& back) const;
  void limit_memory();

  std::vector<Piece> pieces_;
  std::vector<std::int64_t> resent_starts_;  // of pieces sent again and neither acknowledged nor SACKed
  std::size_t head_ = 0;
  std::uint32_t unseen_ = 0;  // packets that never came here since the last data, by IP's numbers
  std::int64_t una_ = 0, nxt_ = 0, sacked_to_ = 0, recover_ = 0;
  std::int64_t last_sent_us_ = -1, last_ack_us_ = -1, last_advance_us_ = -1, last_probe_us_ = -1,
               last_needless_us_ = -1;
  std::int64_t arrived_us_ = -1, earliest_us_ = -1, announced_ = 0, announced_us_ = 0;
  std::int64_t twice_from_ = 0, twice_to_ = 0;  // as the last ACK says
  // What one ACK acknowledged, and when; when its first and last segment would have come here by the shortest
  // way; -1: they were sent again.
  struct Run {
    std::int64_t from = 0, to = 0, acked_us = 0, first_us = -1, last_us = -1;
  };
  Run acked_, late_acked_;  // the last; the last of what came late
  std::uint32_t announced_ts_ = 0;
  std::uint32_t largest_ = 0, full_ = 0, newest_ts_ = 0;
  std::uint32_t duplicates_ = 0, timer_resends_ = 0;
  std::uint32_t last_payload_ = 0, last_needless_ = 0, last_bytes_ = 0;
  std::uint16_t last_id_ = 0;
  End recovery_by_ = End::kUnclear;
  std::int64_t probe_to_ = -1;  // the end of a probe that is outstanding to its sender
  Peer peer_;                   // as the last ACK says
  bool at_sender_ = false, started_ = false, sack_permitted_ = false, id_seen_ = false, ids_useless_ = false,
       recovering_ = false;
  SenderTimer timer_;
  SenderClock clock_;
};

}  // namespace tcplearn

#endif
