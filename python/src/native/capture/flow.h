// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// One direction of a captured connection: data in flight, and the transmission that each ACK answers.
#ifndef TCPLEARN_CAPTURE_FLOW_H
#define TCPLEARN_CAPTURE_FLOW_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "batch.h"
#include "loss.h"
#include "packet.h"

namespace tcplearn {

// One transmission of a range of bytes.
struct Transmission {
  std::int64_t sent_us = 0;
  std::uint32_t ts_value = 0;
  bool has_timestamp = false;
};

// A range of sequence numbers always sent as a whole. Retransmissions with other boundaries split it.
struct Segment {
  std::int64_t start = 0, end = 0;
  Transmission first;
  std::vector<Transmission> again;  // retransmissions; empty for nearly all segments
  bool cut_end = false;             // `end` comes from a later split, not from the end of a captured segment
  bool fills_hole = false;          // captured after later bytes: lost or reordered before the capture point
  bool window_probe = false;        // one byte sent into a zero window (RFC 9293, section 3.8.6.1)
  bool arrived = false;             // SACKed before it was retransmitted
  std::uint8_t duplicates = 0;      // arrivals after the first (RFC 2883)
  std::shared_ptr<const Repair> repair;  // shared by the parts of a split segment; null: not retransmitted

  bool resent() const { return !again.empty(); }
  const Transmission& latest() const { return again.empty() ? first : again.back(); }
};

// The ranges that SACK options have reported, sorted and merged.
class SackBoard {
 public:
  void add(std::int64_t left, std::int64_t right);
  void drop_below(std::int64_t sequence);
  bool covers(std::int64_t sequence) const;
  void clear() { ranges_.clear(); }
  bool empty() const { return ranges_.empty(); }
  // Calls f(from, to) for each part of [left, right) that has not been reported.
  template <typename F>
  void gaps(std::int64_t left, std::int64_t right, F f) const {
    auto it = std::upper_bound(ranges_.begin(), ranges_.end(), left,
                               [](std::int64_t s, const Range& range) { return s < range.right; });
    for (; it != ranges_.end() && it->left < right; ++it) {
      if (it->left > left) f(left, it->left);
      left = it->right;
    }
    if (left < right) f(left, right);
  }

 private:
  struct Range {
    std::int64_t left, right;
  };
  std::vector<Range> ranges_;
};

// The sender's side of one direction. Sequence numbers are unwrapped to 64 bits.
class SendSide {
 public:
  // Takes a packet of this side. `peer_window_closed`: the other side has announced a window of 0.
  void on_send(const Packet& packet, std::int64_t now_us, bool peer_window_closed);

  // Takes an ACK of the other side. Returns whether it acknowledges new data; if so, appends a row.
  bool on_ack(const Packet& packet, std::int64_t now_us, std::uint32_t flow, bool every_ack, Batch& out);

  void set_peer_mss(std::uint16_t mss) { peer_mss_ = mss; }

  bool seen() const { return seen_; }
  bool fin_acknowledged() const { return fin_end_ >= 0 && una_ >= fin_end_; }
  bool syn_seen() const { return syn_seen_; }
  bool syn_resent() const { return syn_resent_; }
  std::uint32_t isn() const { return isn_; }
  std::uint32_t mss_bytes() const;
  // Returns whether a RST with this sequence number may belong to this connection (RFC 5961, section 3).
  // The check is loose, because the window may be unknown.
  bool plausible_reset(std::uint32_t sequence) const;
  std::size_t segments_held() const { return segments_.size() - head_; }

  // Counts for FlowInfo.
  std::uint64_t data_packets = 0, data_bytes = 0, retransmitted_packets = 0, rows = 0, samples = 0;
  std::uint64_t acked_captured = 0;   // rows whose acknowledged data is in the capture
  std::int64_t min_data_rtt_us = -1;  // minimum RTT of data, without the handshake

 private:
  std::int64_t unwrap(std::uint32_t sequence) const;
  void start_at(std::uint32_t sequence);
  void append(std::int64_t start, std::int64_t end, const Transmission& sent, bool probe);
  void resend(std::int64_t start, std::int64_t end, const Transmission& sent, bool repair);
  void begin_repair(Segment& segment, std::int64_t now_us);
  void drop_window_probe(std::int64_t start, std::int64_t end);
  void limit_memory();
  std::size_t first_ending_after(std::int64_t sequence) const;
  void split(std::size_t index, std::int64_t at);
  void pop_acknowledged();
  NoSample time_segment(std::size_t newest, std::int64_t ack, const Packet& packet, bool every_ack,
                        Transmission& timed) const;
  bool head_truly_resent(const Packet& packet) const;
  void read_sack(const Packet& packet, std::int64_t now_us);
  void read_duplicates(const Packet& packet, std::int64_t ack, std::uint32_t flow, Batch& out);
  void add_ack_event(bool duplicate, std::int64_t now_us, std::uint32_t flow, std::int64_t rtt_us,
                     Batch& out);
  void tell_losses(const Packet& packet, std::int64_t ack, std::uint32_t flow, Batch& out);
  void deliver(std::int64_t left, std::int64_t right, std::int64_t now_us, bool sacked);
  std::uint32_t segments_of(std::int64_t bytes) const;

  std::vector<Segment> segments_;  // sorted and without overlap; valid from index head_ on
  std::size_t head_ = 0;
  SackBoard sacked_;
  // since the last event: segments delivered; consecutive duplicate ACKs
  std::uint32_t delivered_ = 0, duplicates_ = 0;
  Event repair_;  // a recovery, reported before the next ACK's event
  bool repaired_ = false;
  LossTracker losses_;
  std::int64_t una_ = 0, nxt_ = 0;
  std::int64_t fin_end_ = -1;
  std::int64_t armed_us_ = -1;
  std::uint32_t isn_ = 0;
  std::uint32_t largest_payload_ = 0;  // largest payload of packets that can be one segment
  std::uint16_t peer_mss_ = 0;
  bool seen_ = false;       // a packet of this side was captured
  bool sequenced_ = false;  // una_ and nxt_ are valid
  bool acked_ = false;      // the other side has acknowledged data
  bool syn_seen_ = false, syn_resent_ = false;
  bool timestamps_ = false;
};

}  // namespace tcplearn

#endif
