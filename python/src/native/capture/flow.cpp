// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "flow.h"

#include <algorithm>
#include <limits>

namespace tcplearn {
namespace {

// The largest window is 2^30 bytes (RFC 7323, 2.3); a larger step belongs to another connection.
constexpr std::int64_t kLargestStep = std::int64_t{1} << 30;
// An ACK that is further beyond the newest byte seen is treated as damaged.
constexpr std::int64_t kLargestGap = std::int64_t{1} << 26;
constexpr std::size_t kMaxSegments = std::size_t{1} << 16;
// The largest number of segments before the first ACK; it bounds the memory for a one-way capture.
constexpr std::size_t kMaxSegmentsUnacked = std::size_t{1} << 11;
constexpr std::size_t kMaxResends = 8;
constexpr std::uint32_t kLargestSegment = 1500;
constexpr std::uint32_t kDefaultMss = 1460;
// The timestamps option and its padding take twelve bytes of each segment (RFC 7323, appendix A).
constexpr std::uint32_t kTimestampBytes = 12;

bool ts_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

std::uint32_t clamp32(std::int64_t value) {
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, kMax));
}

bool echoes(const Packet& ack, const Transmission& sent) {
  return ack.has_timestamp && sent.has_timestamp && ack.ts_echo == sent.ts_value;
}

}  // namespace

std::int64_t SendSide::unwrap(std::uint32_t sequence) const {
  const auto low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(nxt_));
  return nxt_ + static_cast<std::int32_t>(sequence - low);
}

void SendSide::start_at(std::uint32_t sequence) {
  segments_.clear();
  head_ = 0;
  sacked_.clear();
  losses_ = {};
  fin_end_ = -1;
  // Sequence numbers begin 2^32 higher, so that numbers slightly below the first stay positive.
  una_ = nxt_ = (std::int64_t{1} << 32) + sequence;
  sequenced_ = true;
}

std::uint32_t SendSide::mss_bytes() const {
  const std::uint32_t options = timestamps_ ? kTimestampBytes : 0;
  if (peer_mss_ > options) return peer_mss_ - options;
  return largest_payload_ > 0 ? largest_payload_ : kDefaultMss - options;
}

bool SendSide::plausible_reset(std::uint32_t sequence) const {
  if (!sequenced_) return true;
  const std::int64_t at = unwrap(sequence);
  return at >= una_ - kLargestGap && at <= nxt_ + kLargestGap;
}

void SendSide::on_send(const Packet& packet, std::int64_t now_us, bool peer_window_closed) {
  seen_ = true;
  timestamps_ = timestamps_ || (packet.has_timestamp && !packet.has(kRst));
  if (packet.has(kRst)) return;  // such a packet uses no sequence number
  if (!sequenced_) start_at(packet.seq);
  if (packet.has(kSyn)) {
    syn_resent_ = syn_resent_ || (syn_seen_ && isn_ == packet.seq);
    // A new SYN-ACK (SYN cookies, a restarted server) replaces one that was not acknowledged.
    if (!syn_seen_ || isn_ != packet.seq) start_at(packet.seq);
    syn_seen_ = true;
    isn_ = packet.seq;
  }
  const std::int64_t length = packet.seq_length();
  if (length == 0) return;

  std::int64_t start = unwrap(packet.seq);
  if (start > nxt_ + kLargestStep || start < nxt_ - kLargestStep) {
    start_at(packet.seq);
    start = nxt_;
  }
  const std::int64_t end = start + length;
  if (packet.payload_bytes > 0) {
    ++data_packets;
    data_bytes += packet.payload_bytes;
    if (packet.payload_bytes <= kLargestSegment)
      largest_payload_ = std::max(largest_payload_, packet.payload_bytes);
  }
  if (packet.has(kFin)) fin_end_ = end;
  // A keep-alive repeats the last acknowledged byte, or has no data (RFC 9293, section 3.8.4).
  if (end <= una_) {
    const bool keep_alive = length <= 1 && end == nxt_ && !packet.has(kFin) && !packet.has(kSyn);
    if (!keep_alive) ++retransmitted_packets;
    return;
  }
  const Transmission sent{now_us, packet.ts_value, packet.has_timestamp};
  drop_window_probe(start, end);
  // RFC 6298, (5.1): the timer starts when the first data is sent.
  const bool first_out = nxt_ <= una_;
  if (first_out) armed_us_ = now_us;
  if (start < nxt_) {
    resend(std::max(start, una_), std::min(end, nxt_), sent, !packet.has(kSyn) && !peer_window_closed);
    pop_acknowledged();  // an ACK may have ended inside a record
  }
  if (end > nxt_) {
    losses_.on_new_data(now_us, first_out);
    const bool probe = peer_window_closed && packet.payload_bytes == 1 && length == 1;
    append(std::max(start, nxt_), end, sent, probe);
  }
  // More than the largest window cannot be in flight, so the capture must lack ACKs.
  if (nxt_ - una_ > kLargestStep) {
    una_ = nxt_ - kLargestStep;
    sacked_.drop_below(una_);
    pop_acknowledged();
  }
  limit_memory();
}

// Forgets a probe of a zero window: the receiver refused its byte, which is sent again as new data, and
// no retransmission timer ran for it.
void SendSide::drop_window_probe(std::int64_t start, std::int64_t end) {
  if (segments_held() == 0 || !segments_.back().window_probe) return;
  const Segment& probe = segments_.back();
  if (start > probe.start || end <= probe.end) return;
  nxt_ = probe.start;
  segments_.pop_back();
}

void SendSide::append(std::int64_t start, std::int64_t end, const Transmission& sent, bool probe) {
  Segment& segment = segments_.emplace_back();
  segment.start = start;
  segment.end = end;
  segment.first = sent;
  segment.window_probe = probe;
  nxt_ = end;
}

std::size_t SendSide::first_ending_after(std::int64_t sequence) const {
  const auto begin = segments_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto it = std::upper_bound(begin, segments_.end(), sequence,
                                   [](std::int64_t s, const Segment& segment) { return s < segment.end; });
  return static_cast<std::size_t>(it - segments_.begin());
}

void SendSide::split(std::size_t index, std::int64_t at) {
  Segment right = segments_[index];
  right.start = at;
  segments_[index].end = at;
  segments_[index].cut_end = true;
  segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(right));
}

// Records a retransmission of [start, end), which is below nxt_: marks the parts that were sent before,
// and stores the parts that the capture lacks as late arrivals.
void SendSide::resend(std::int64_t start, std::int64_t end, const Transmission& sent, bool repair) {
  bool any_resent = false;
  std::size_t index = first_ending_after(start);
  std::int64_t at = start;
  while (at < end) {
    if (index == segments_.size() || segments_[index].start > at) {
      Segment filler;
      filler.start = at;
      filler.end = index == segments_.size() ? end : std::min(end, segments_[index].start);
      filler.first = sent;
      filler.fills_hole = true;
      filler.cut_end = filler.end != end;
      at = filler.end;
      segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(index), std::move(filler));
      ++index;
      continue;
    }
    if (segments_[index].start < at) split(index++, at);
    if (segments_[index].end > end) split(index, end);
    Segment& segment = segments_[index];
    if (repair && !segment.resent() && !segment.fills_hole) begin_repair(segment, sent.sent_us);
    // Keep the first copy of a segment, which can show a spurious retransmission, and the newest copies.
    if (segment.again.size() == kMaxResends) segment.again.erase(segment.again.begin());
    segment.again.push_back(sent);
    if (segment.end == end) segment.cut_end = false;
    any_resent = true;
    at = segment.end;
    ++index;
  }
  if (any_resent) ++retransmitted_packets;
}

std::uint32_t SendSide::segments_of(std::int64_t bytes) const {
  const std::int64_t mss = std::max<std::int64_t>(mss_bytes(), 1);
  return clamp32((bytes + mss - 1) / mss);
}

void SendSide::limit_memory() {
  const std::size_t most = acked_ ? kMaxSegments : kMaxSegmentsUnacked;
  if (segments_held() > most) head_ = segments_.size() - most;
  if (head_ > 64 && head_ > segments_.size() / 2) {
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void SendSide::pop_acknowledged() {
  while (head_ < segments_.size() && segments_[head_].end <= una_) ++head_;
  if (head_ == segments_.size()) {
    segments_.clear();
    head_ = 0;
  }
  limit_memory();
}

// Finds the transmission that this ACK answers. `newest`: index of the segment with byte `ack` - 1.
NoSample SendSide::time_segment(std::size_t newest, std::int64_t ack, const Packet& packet, bool every_ack,
                                Transmission& timed) const {
  const Segment& segment = segments_[newest];
  if (!every_ack && (segment.end != ack || segment.cut_end)) return NoSample::kInsideSegment;
  if (sacked_.covers(ack - 1)) return NoSample::kSackedEarlier;
  timed = segment.first;
  if (segment.resent()) {
    // Karn's rule (RFC 6298, section 3), unless the timestamp identifies exactly one copy.
    int matches = echoes(packet, segment.first) ? 1 : 0;
    for (const Transmission& copy : segment.again) {
      if (!echoes(packet, copy)) continue;
      timed = copy;
      ++matches;
    }
    if (matches != 1) return NoSample::kRetransmitted;
  }
  // An earlier segment that was captured later held this ACK back, so the ACK answers that segment. If
  // the ACK echoes an older timestamp, it does not, and the retransmission was spurious.
  for (std::size_t i = head_; i < newest; ++i) {
    const Segment& below = segments_[i];
    const Transmission& latest = below.latest();
    if (latest.sent_us <= timed.sent_us) continue;
    if (packet.has_timestamp && latest.has_timestamp && ts_before(packet.ts_echo, latest.ts_value)) continue;
    return below.resent() ? NoSample::kRetransmitted : NoSample::kSackedEarlier;
  }
  return NoSample::kNone;
}

// Returns whether the oldest segment was retransmitted because it was lost. Returns false if the ACK
// echoes a timestamp older than the retransmission's, because the first copy had then arrived.
bool SendSide::head_truly_resent(const Packet& packet) const {
  if (segments_held() == 0 || !segments_[head_].resent()) return false;
  const Transmission& copy = segments_[head_].again.front();
  return !(packet.has_timestamp && copy.has_timestamp && ts_before(packet.ts_echo, copy.ts_value));
}

void SendSide::read_sack(const Packet& packet, std::int64_t now_us) {
  for (std::size_t i = 0; i < packet.sack_count; ++i) {
    const std::int64_t left = unwrap(packet.sack[i].left), right = unwrap(packet.sack[i].right);
    // A block below the ACK reports a duplicate (RFC 2883); a block above nxt_ is wrong.
    if (left < una_ || left >= right || right > nxt_) continue;
    sacked_.gaps(left, right, [&](std::int64_t from, std::int64_t to) { deliver(from, to, now_us, true); });
    sacked_.add(left, right);
  }
}

// Records that [left, right) has arrived. RACK uses the segment sent last (RFC 8985, 6.2).
void SendSide::deliver(std::int64_t left, std::int64_t right, std::int64_t now_us, bool sacked) {
  const Segment* newest = nullptr;
  for (std::size_t i = first_ending_after(left); i < segments_.size() && segments_[i].start < right; ++i) {
    const Segment& segment = segments_[i];
    const std::int64_t end = std::min(segment.end, right);
    const std::uint32_t count = segments_of(end - std::max(segment.start, left));
    const bool known = !sacked && sacked_.covers(end - 1);
    if (sacked) losses_.sacked_segments += count;
    if (!known) delivered_ += count;
    if (known) losses_.sacked_segments -= std::min(count, losses_.sacked_segments);
    if (known || segment.resent()) continue;
    if (end <= losses_.highest) losses_.deliveries.see_reordering();
    if (newest == nullptr || segment.first.sent_us >= newest->first.sent_us) newest = &segment;
  }
  losses_.highest = std::max(losses_.highest, right);
  if (newest == nullptr) return;
  const bool no_window = losses_.recovering() || losses_.sacked_segments >= kDupThresh;
  losses_.deliveries.add(now_us, newest->first.sent_us, newest->end, no_window);
}

// Reads a duplicate SACK (RFC 2883, 4): the first block, if below the ACK or within the second block.
void SendSide::read_duplicates(const Packet& packet, std::int64_t ack, std::uint32_t flow, Batch& out) {
  if (packet.sack_count == 0) return;
  const std::int64_t left = unwrap(packet.sack[0].left), right = unwrap(packet.sack[0].right);
  bool duplicate = right <= ack;
  if (packet.sack_count > 1 && !duplicate)
    duplicate = unwrap(packet.sack[1].left) <= left && right <= unwrap(packet.sack[1].right);
  if (!duplicate || left >= right) return;
  for (std::size_t i = first_ending_after(left); i < segments_.size() && segments_[i].end <= right; ++i) {
    Segment& segment = segments_[i];
    if (segment.start >= left && segment.resent() && segment.duplicates < kMaxResends) ++segment.duplicates;
  }
  losses_.duplicate(flow, left, right, out.losses);
}

bool SendSide::on_ack(const Packet& packet, std::int64_t now_us, std::uint32_t flow, bool every_ack,
                      Batch& out) {
  if (!sequenced_) {
    start_at(packet.ack);
    return false;
  }
  const std::int64_t ack = unwrap(packet.ack);
  const bool beyond = ack > nxt_;
  // A reset may have a wrong ACK number; a number far ahead is damaged.
  if (ack < una_ || (beyond && (packet.has(kRst) || ack > nxt_ + kLargestGap))) return false;
  if (ack == una_) {
    if (!packet.has(kRst)) {
      read_duplicates(packet, ack, flow, out);
      read_sack(packet, now_us);
      if (nxt_ > una_ && packet.payload_bytes == 0) add_ack_event(true, now_us, flow, 0, out);
    }
    return false;
  }
  // If no packet of this side has been captured, no RTT can be measured: only take over the ACK's number.
  if (!seen_) {
    una_ = nxt_ = ack;
    return false;
  }
  acked_ = true;
  const bool recovering = losses_.recovering();

  Transmission timed;
  NoSample why = NoSample::kNotCaptured;
  const std::size_t newest = first_ending_after(ack - 1);
  const bool captured = !beyond && newest < segments_.size() && segments_[newest].start < ack;
  if (captured) why = time_segment(newest, ack, packet, every_ack, timed);

  std::int64_t rtt_us = now_us - timed.sent_us;
  // An RTT below the clock's resolution still counts, as 1 us; but no time is before the first packet's.
  if (why == NoSample::kNone && rtt_us == 0 && now_us == 0) why = NoSample::kNotCaptured;
  if (why == NoSample::kNone && rtt_us == 0) {
    ++out.below_clock;
    rtt_us = 1;
    timed.sent_us = now_us - rtt_us;
  }
  const bool sampled = why == NoSample::kNone;
  const bool handshake = syn_seen_ && una_ == ack - 1 && packet.ack == isn_ + 1;
  const std::int64_t in_flight = std::max(nxt_, ack) - una_;
  // Without data known to be in flight the timer's interval in this row has length 0.
  const bool known = segments_held() > 0;
  out.time_us.push_back(now_us);
  out.sent_us.push_back(sampled ? timed.sent_us : -1);
  out.rtt_us.push_back(sampled ? rtt_us : -1);
  out.armed_us.push_back(known ? armed_us_ : now_us);
  out.head_sent_us.push_back(known ? segments_[head_].first.sent_us : now_us);
  out.flow.push_back(flow);
  out.acked_bytes.push_back(clamp32(ack - una_));
  out.in_flight_bytes.push_back(clamp32(in_flight));
  out.flight_segments.push_back(segments_of(in_flight));
  out.retransmitted.push_back(head_truly_resent(packet) ? 1 : 0);
  out.ttl.push_back(packet.ttl);
  out.no_sample.push_back(static_cast<std::uint8_t>(why));

  ++rows;
  if (captured) ++acked_captured;
  if (sampled) {
    ++samples;
    if (!handshake && (min_data_rtt_us < 0 || rtt_us < min_data_rtt_us)) min_data_rtt_us = rtt_us;
  }
  if (!packet.has(kRst)) read_duplicates(packet, ack, flow, out);
  tell_losses(packet, ack, flow, out);
  losses_.on_ack(now_us, ack, head_truly_resent(packet));
  deliver(una_, ack, now_us, false);
  una_ = ack;
  nxt_ = std::max(nxt_, ack);
  armed_us_ = now_us;  // RFC 6298, (5.3); if nothing is in flight, on_send starts it again (5.2)
  sacked_.drop_below(una_);
  if (sacked_.empty()) losses_.sacked_segments = 0;
  pop_acknowledged();
  const std::int64_t head_sent_us = segments_held() > 0 ? segments_[head_].first.sent_us : now_us;
  losses_.set_head(head_sent_us);
  losses_.deliveries.forget_before(head_sent_us);
  if (!packet.has(kRst)) read_sack(packet, now_us);
  add_ack_event(false, now_us, flow, sampled ? rtt_us : 0, out);
  if (recovering && !losses_.recovering()) {
    const auto ended = static_cast<std::uint8_t>(EventKind::kRecoveryEnded);
    out.events.add({flow, ended, now_us, 0, 0, 0, segments_of(nxt_ - una_)});
  }
  return true;
}

}  // namespace tcplearn
