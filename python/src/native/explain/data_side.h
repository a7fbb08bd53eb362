// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The data of one end of a connection, as the capture point sees it: what is out, what was sent again and
// why, and which copy arrived.
#ifndef TCPLEARN_EXPLAIN_DATA_SIDE_H
#define TCPLEARN_EXPLAIN_DATA_SIDE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "capture/packet.h"
#include "forecast.h"
#include "rows.h"
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
  std::uint32_t copies = 0, all_copies = 0, bytes = 0,
                out_segments = 0;  // sent again until it arrived; in all
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
    std::uint32_t lost_before =
        0;  // packets of this end that never came here since its last, by IP's numbers
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

  // `back`: the other leg, from the capture point to this end. Losses that are over are added to `out`.
  // `had_come`: the ACK is of a copy, and the other end had answered the first.
  // `ids_in_row`: of its host (Path).
  Sent on_sent(const Packet& packet, std::int64_t now_us, const Leg& back, std::uint32_t& ids_in_row);
  Acked on_ack(const Packet& packet, bool had_come, std::int64_t now_us, const Leg& back,
               std::vector<Mark>& marks, std::vector<Repaired>& out);
  // Whether a packet without data of this end says that it had sent bytes that never came here.
  bool is_ahead(const Packet& packet) const {
    const std::int64_t step = unwrap(packet.seq) - nxt_;
    return started_ && packet.payload_bytes == 0 && !packet.has(kSyn) && step > 0 && step <= kLargestStep;
  }
  // At the end of the connection.
  void finish(std::vector<Repaired>& out);

  void set_sack_permitted() { sack_permitted_ = true; }
  void set_mss(std::uint32_t mss_bytes) { full_ = mss_bytes > kOptionBytes ? mss_bytes - kOptionBytes : 0; }
  std::int64_t unwrap(std::uint32_t sequence) const;

  bool outstanding() const { return una_ < nxt_; }
  std::int64_t una() const { return una_; }
  std::int64_t last_sent_us() const { return last_sent_us_; }
  // When it last sent again what had been acknowledged here: that ACK was lost further on.
  std::int64_t last_needless_us() const { return last_needless_us_; }
  std::int64_t last_advance_us() const { return last_advance_us_; }
  std::uint32_t largest() const { return largest_; }
  std::uint32_t out() const { return static_cast<std::uint32_t>(pieces_.size() - head_); }
  // When the bytes acknowledged so far had all been sent by copies that arrived.
  std::int64_t arrived_us() const { return arrived_us_; }
  const SenderTimer& timer() const { return timer_; }

  // Whose resends for nothing are of interest; null: nobody's.
  std::unique_ptr<Forecast> forecast;
  Leg leg;  // from the capture point to the other end and back
  std::uint32_t segments = 0, resent = 0, needless = 0;
  std::int64_t bytes = 0;

 private:
  // As in capture/flow.cpp: a window holds so much at most.
  static constexpr std::uint32_t kOptionBytes = 40;  // of TCP at most
  static constexpr std::int64_t kLargestStep = std::int64_t{1} << 30;
  struct Copy {
    std::int64_t us;
    std::uint32_t ts;
    bool has_ts;
    bool clocked;
    End by;
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
  void copy(Piece& piece, const Packet& packet, std::int64_t now_us, const Leg& back);
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
  void settle(Piece& piece, const Packet* head_ack, std::int64_t now_us, std::vector<Repaired>& out);
  void pop(std::int64_t ack, const Packet& packet, std::int64_t now_us, std::vector<Mark>& marks,
           std::vector<Repaired>& out);
  std::uint32_t follow_ids(const Packet& packet, std::uint32_t& ids_in_row);
  void limit_memory();

  std::vector<Piece> pieces_;
  std::vector<std::int64_t> resent_starts_;  // of pieces sent again and neither acknowledged nor SACKed
  std::size_t head_ = 0;
  std::int64_t unseen_to_ = 0;  // sent, by what a packet without data says
  std::uint32_t unseen_ = 0;    // packets that never came here since the last data, by IP's numbers
  std::int64_t una_ = 0, nxt_ = 0, sacked_to_ = 0, recover_ = 0;
  std::int64_t last_sent_us_ = -1, last_ack_us_ = -1, last_advance_us_ = -1, last_probe_us_ = -1,
               last_needless_us_ = -1;
  std::int64_t arrived_us_ = -1;
  std::uint32_t largest_ = 0, full_ = 0, newest_ts_ = 0;
  std::uint32_t duplicates_ = 0, timer_resends_ = 0;
  std::uint32_t last_payload_ = 0;
  std::uint16_t last_id_ = 0;
  End recovery_by_ = End::kUnclear;
  std::pair<std::int64_t, std::int64_t> twice_{};  // of the last ACK: bytes that arrived twice
  bool had_come_ = false;                          // likewise, as on_ack was told
  std::int64_t probe_to_ = -1;                     // the end of a probe that is outstanding to its sender
  bool started_ = false, sack_permitted_ = false, id_seen_ = false, ts_seen_ = false, recovering_ = false;
  SenderTimer timer_;
};

}  // namespace tcplearn

#endif
