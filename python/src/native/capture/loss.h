// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Lost segments, and the times at which the sender could have known, for timers and for RACK (RFC 8985).
#ifndef TCPLEARN_CAPTURE_LOSS_H
#define TCPLEARN_CAPTURE_LOSS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "columns.h"

namespace tcplearn {

// What columns.h describes. A loss comes with the row of the ACK that acknowledges the segment; what proves
// that its first copy arrived: a timestamp (RFC 7323), a SACK before the repair, a duplicate SACK (RFC 2883).
// Handshakes and probes of closed windows are left out.
struct Losses {
#define TCPLEARN_X(type, name, unknown, meaning) std::vector<type> name;
  TCPLEARN_LOSS_COLUMNS(TCPLEARN_X)
  TCPLEARN_WITHDRAWN_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  // Of the last so many losses of a flow some may be withdrawn.
  static constexpr std::uint32_t kRemembered = 256;

  void clear();
};

// The sender's state when a segment was sent again for the first time.
struct Repair {
  std::int64_t resent_us, armed_us, head_sent_us, probe_from_us, rtt_us;
  bool tail, alone;
};

// What RACK knows: of the segments delivered, the one sent last (RFC 8985, 6.2, step 2).
class Deliveries {
 public:
  // Something sent at sent_us, up to sequence number `end`, never again, is known to have arrived.
  void add(std::int64_t now_us, std::int64_t sent_us, std::int64_t end, bool no_window);
  // What was sent before has been acknowledged.
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
  std::vector<Delivery> log_;  // sent ever later; live from first_ on
  std::size_t first_ = 0;
  std::int64_t min_rtt_us_ = -1, rtt_us_ = -1;
  bool reordering_ = false;
};

// A direction's losses, from the repair to the evidence or its absence.
class LossTracker {
 public:
  void on_new_data(std::int64_t now_us, bool first_out);
  // `sent_us` is that of the segment now sent again; the timer and the oldest segment are the current ones.
  Repair on_repair(std::int64_t now_us, std::int64_t sent_us, std::int64_t nxt, std::int64_t armed_us,
                   std::int64_t head_sent_us);
  // Takes an ACK up to `ack`; `by_repair`: the first data that it acknowledges had been lost and sent again.
  void on_ack(std::int64_t now_us, std::int64_t ack, bool by_repair);
  // After on_ack: the oldest segment that is out now.
  void set_head(std::int64_t sent_us) { head_sent_us_ = by_repair_ ? head_sent_us_ : sent_us; }

  void lost(std::uint32_t flow, std::uint32_t row, std::int64_t start, std::int64_t end, std::int64_t sent_us,
            const Repair& repair, std::size_t copies, Losses& out);
  // A duplicate of [left, right) arrived.
  void duplicate(std::uint32_t flow, std::int64_t left, std::int64_t right, Losses& out);

  bool recovering() const { return recovering_; }
  Deliveries deliveries;
  std::int64_t highest = 0;           // the end of the data known to have arrived
  std::uint32_t sacked_segments = 0;  // RACK.segs_sacked

 private:
  struct Reported {
    std::int64_t start, end;
    std::uint32_t id;
    std::size_t copies;  // sent again and not yet known to be a duplicate
  };
  std::vector<Reported> reported_;
  std::uint32_t next_id_ = 0;
  std::int64_t armed_us_ = -1, head_sent_us_ = -1;  // of a timer that no repair restarts
  std::int64_t last_new_us_ = -1;
  std::int64_t recovery_since_us_ = -1, recovery_point_ = 0;
  bool recovering_ = false, by_repair_ = false;
};

}  // namespace tcplearn

#endif
