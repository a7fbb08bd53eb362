// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Finds lost segments, and when the sender could have detected each by its timer and by RACK (RFC 8985).
#ifndef TCPLEARN_CAPTURE_LOSS_H
#define TCPLEARN_CAPTURE_LOSS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "columns.h"

namespace tcplearn {

// DupThresh of RACK (RFC 8985, section 5.2), in segments
constexpr std::uint32_t kDupThresh = 3;

// The losses of a batch as columns (columns.h). A loss comes with the row of the ACK that acknowledges
// the segment. A segment is no loss if a timestamp (RFC 7323), a SACK before the retransmission, or a
// duplicate SACK (RFC 2883) proves that its first copy arrived. Handshakes and zero-window probes are
// left out.
struct Losses {
#define TCPLEARN_X(type, name, unknown, meaning) std::vector<type> name;
  TCPLEARN_LOSS_COLUMNS(TCPLEARN_X)
  TCPLEARN_WITHDRAWN_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  // Only the last kRemembered losses of a flow can be withdrawn (if a DSACK shows that the first copy had
  // arrived).
  static constexpr std::uint32_t kRemembered = 256;

  void clear();
};

// The sender's state when a segment was retransmitted for the first time.
struct Repair {
  std::int64_t resent_us, armed_us, head_sent_us, probe_from_us, rtt_us;
  bool tail, alone;
};

// The state of RACK: of the delivered segments, the one sent last (RFC 8985, 6.2, step 2).
class Deliveries {
 public:
  // Records that data sent once at `sent_us`, up to sequence number `end`, is known to have arrived.
  void add(std::int64_t now_us, std::int64_t sent_us, std::int64_t end, bool no_window);
  // Forgets data sent before `sent_us`, all of which has been acknowledged.
  void forget_before(std::int64_t sent_us);
  std::int64_t rtt_us() const { return rtt_us_; }
  void see_reordering() { reordering_ = true; }

  struct Verdict {
    std::int64_t delivered_us = -1, rack_us = -1;
  };
  Verdict judge(std::int64_t sent_us, std::int64_t end) const;

 private:
  struct Delivery {
    std::int64_t at_us, sent_us, end, window_us;
  };
  std::vector<Delivery> log_;  // with rising send times; valid from index first_ on
  std::size_t first_ = 0;
  std::int64_t min_rtt_us_ = -1, rtt_us_ = -1;
  bool reordering_ = false;
};

// Follows the losses of one direction from the retransmission until it is clear whether the first copy
// was lost.
class LossTracker {
 public:
  void on_new_data(std::int64_t now_us, bool first_out);
  // Records a retransmission. `sent_us` is the time of the segment's first transmission. `armed_us` and
  // `head_sent_us` say when the timer was started and when the oldest segment in flight was sent.
  Repair on_repair(std::int64_t now_us, std::int64_t sent_us, std::int64_t nxt, std::int64_t armed_us,
                   std::int64_t head_sent_us);
  // Takes an ACK up to `ack`. `by_repair`: it acknowledges data that was lost and retransmitted.
  void on_ack(std::int64_t now_us, std::int64_t ack, bool by_repair);
  // Sets the oldest segment in flight; called after on_ack.
  void set_head(std::int64_t sent_us) { head_sent_us_ = by_repair_ ? head_sent_us_ : sent_us; }

  void lost(std::uint32_t flow, std::uint32_t row, std::int64_t start, std::int64_t end, std::int64_t sent_us,
            const Repair& repair, std::size_t copies, Losses& out);
  // Records that a duplicate of [left, right) arrived.
  void duplicate(std::uint32_t flow, std::int64_t left, std::int64_t right, Losses& out);

  bool recovering() const { return recovering_; }
  Deliveries deliveries;
  std::int64_t highest = 0;           // end of the data that is known to have arrived
  std::uint32_t sacked_segments = 0;  // RACK.segs_sacked

 private:
  struct Reported {
    std::int64_t start, end;
    std::uint32_t id;
    std::size_t copies;  // retransmissions that are not known to be duplicates
  };
  std::vector<Reported> reported_;
  std::uint32_t next_id_ = 0;
  std::int64_t armed_us_ = -1, head_sent_us_ = -1;  // for a timer that retransmissions do not restart
  std::int64_t last_new_us_ = -1;
  std::int64_t recovery_since_us_ = -1, recovery_point_ = 0;
  bool recovering_ = false, by_repair_ = false;
};

}  // namespace tcplearn

#endif
