// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "data_side.h"

#include <algorithm>

namespace tcplearn {
namespace {

// The largest number of pieces (ranges of bytes) in flight that are stored, and the largest number before the
// first ACK.
constexpr std::size_t kMostSentPieces = std::size_t{1} << 16, kMostUnacked = std::size_t{1} << 11;
constexpr std::size_t kMostCopies = 64;
// The longest delay of RACK's timer (RFC 8985, 6.2) with short RTTs: two ticks of 4 ms and processing.
constexpr std::int64_t kPromptUs = 12'000;
// A host is idle for at least this time before it sends a keep-alive.
constexpr std::int64_t kKeepAliveUs = 1'000'000;
// The capture was taken at a host if the round trip to it is below this and below that to the other host.
constexpr std::int64_t kAtSenderUs = 1000;

}  // namespace

std::int64_t DataSide::unwrap(std::uint32_t sequence) const {
  const auto low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(nxt_));
  return nxt_ + static_cast<std::int32_t>(sequence - low);
}

void DataSide::start_at(std::int64_t sequence) {
  pieces_.clear();
  resent_starts_.clear();
  head_ = 0;
  una_ = nxt_ = sacked_to_ = recover_ = announced_ = small_to_ = sequence;
  duplicates_ = duplicates_alike_ = timer_resends_ = 0;
  recovering_ = false;
  started_ = true;
}

std::size_t DataSide::first_ending_after(std::int64_t sequence) const {
  const auto it =
      std::upper_bound(pieces_.begin() + static_cast<std::ptrdiff_t>(head_), pieces_.end(), sequence,
                       [](std::int64_t s, const Piece& piece) { return s < piece.end; });
  return static_cast<std::size_t>(it - pieces_.begin());
}

DataSide::Sent DataSide::on_sent(const Packet& packet, std::int64_t now_us, const Leg& back,
                                 std::uint32_t& ids_in_row, std::vector<Repaired>& late) {
  Sent out;
  if (packet.has_timestamp && !packet.has(kSyn)) clock_.add(packet.ts_value, now_us);
  at_sender_ = back.min_us >= 0 && back.min_us < std::min(kAtSenderUs, leg.min_us);
  const bool follows = started_ && packet.payload_bytes > 0 && unwrap(packet.seq) == nxt_;
  const bool older = note_id(packet, ids_in_row);
  out.lost_before = lost_by_ids(packet, follows, now_us, ids_in_row);
  unseen_ += out.lost_before;
  if (packet.has(kSyn)) {
    if (!started_ || !outstanding()) start_at((std::int64_t{1} << 32) + packet.seq + 1);
    return out;
  }
  if (packet.payload_bytes == 0) {
    if (is_ahead(packet) && !packet.has(kFin) && !packet.has(kRst)) follow_announced(packet, now_us);
    return out;
  }
  if (!started_) {
    // a keep-alive repeats a byte, which was sent before the capture began
    const bool keeps_alive = packet.payload_bytes == 1 && !packet.has(kPsh) && !packet.has(kFin);
    start_at((std::int64_t{1} << 32) + packet.seq + (keeps_alive ? 1 : 0));
  }
  std::int64_t start = unwrap(packet.seq);
  if (start > nxt_ + kLargestStep || start < nxt_ - kLargestStep) {
    start_at((std::int64_t{1} << 32) + packet.seq);
    start = nxt_;
    out.restarts = true;
  }
  const std::int64_t end = start + packet.payload_bytes;
  ++segments;
  note_size(packet.payload_bytes);
  // a keep-alive (RFC 9293, 3.8.4)
  const bool idle = last_sent_us_ < 0 || now_us - last_sent_us_ >= kKeepAliveUs;
  if (end <= una_ && packet.payload_bytes <= 1 && idle) return out;
  if (end <= una_) {
    ++resent;
    ++needless;
    last_needless_us_ = now_us;
    acked_again(start, end, packet, now_us, back, late);
    return out;
  }
  if (start < nxt_) out.filled = send_again(std::max(start, una_), std::min(end, nxt_), packet, now_us, back);
  bytes += out.filled;
  if (end > nxt_) {
    out.is_new = true;
    out.first_out = !outstanding();
    out.mid_write = was_full();
    if (last_sent_us_ >= 0 && last_ack_us_ + back.known_us() <= last_sent_us_)
      out.unasked_us = now_us - last_sent_us_;
    last_bytes_ = packet.payload_bytes;
    note_small(packet, start, end, now_us);
    out.from = std::max(start, nxt_);
    out.to = end;
    // this is a retransmission of a packet that was lost before the capture point, and not a reordered
    // packet, because its IP identification is new, or it comes too late for reordering
    const bool again =
        (unseen_ > 0 && !older) || !overtaken(packet, announced_ts_, announced_us_, now_us, back);
    if (announced_ > nxt_ && start == nxt_ && again) {
      out.announced = true;
      out.lost_before = std::max(unseen_, 1u);
    }
    unseen_ = 0;
    bytes += end - out.from;
    if (start > nxt_) {
      append(nxt_, start, packet, now_us, true);
      out.lost_before = 0;  // the gap before `start` stands for these packets
    }
    append(out.from, end, packet, now_us, false);
    last_sent_us_ = now_us;
  }
  if (packet.has_timestamp && (newest_ts_ == 0 || ts_before(newest_ts_, packet.ts_value)))
    newest_ts_ = packet.ts_value;
  limit_memory();
  return out;
}

bool DataSide::probes_window(const Packet& packet, std::uint32_t& ids_in_row) {
  if (!started_ || outstanding() || unwrap(packet.seq) != nxt_) return false;
  follow_ids(packet, ids_in_row);
  window_probe_to_ = nxt_ + 1;
  return true;
}

void DataSide::append(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us,
                      bool missing) {
  const auto out = static_cast<std::uint32_t>(pieces_.size() - head_) + 1;
  pieces_.push_back(
      {start, end, now_us, packet.ts_value, out, packet.has_timestamp, missing, false, nullptr});
  nxt_ = end;
}

void DataSide::split(std::size_t index, std::int64_t at) {
  Piece& whole = pieces_[index];
  Piece rest{at,           whole.end,     whole.first_us, whole.ts, whole.out,
             whole.has_ts, whole.missing, whole.filled,   nullptr};
  if (whole.again) {
    rest.again = std::make_unique<Again>(*whole.again);
    resent_starts_.push_back(at);
  }
  whole.end = at;
  pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(rest));
}

std::int64_t DataSide::send_again(std::int64_t start, std::int64_t end, const Packet& packet,
                                  std::int64_t now_us, const Leg& back) {
  const std::uint32_t before = resent++;
  std::int64_t filled = 0;
  bool any = false;
  for (std::size_t i = first_ending_after(start); i < pieces_.size() && pieces_[i].start < end; ++i) {
    if (pieces_[i].start < start) {
      split(i, start);
      continue;
    }
    if (pieces_[i].end > end) split(i, end);
    if (pieces_[i].missing) filled += pieces_[i].end - pieces_[i].start;
    any = copy(pieces_[i], packet, now_us, back) || any;
  }
  if (!any) resent = before;
  return filled;
}

bool DataSide::copy(Piece& piece, const Packet& packet, std::int64_t now_us, const Leg& back) {
  // no timer is so short: the capture has the packet twice, or one that was sent twice at once
  const bool apart = packet.has_timestamp && packet.ts_value - piece.ts > 2;
  if (!piece.missing && !piece.again && !apart && !new_id_ && last_ack_us_ < piece.first_us &&
      now_us - piece.first_us < kNoTimerUs)
    return false;
  if (piece.missing) {
    piece.missing = false;
    if (overtaken_ || overtaken(packet, newest_ts_, piece.first_us, now_us, back)) {
      piece.ts = packet.ts_value;
      return false;  // it was reordered on its way
    }
    piece.filled = true;
  }
  if (!piece.again) {
    piece.again = std::make_unique<Again>();
    piece.again->timer_us = timer_.rto_us();
    piece.again->srtt_us = timer_.srtt_us();
    piece.again->tail = piece.end == nxt_;
    piece.again->lost_ids = unseen_;
    resent_starts_.push_back(piece.start);
  }
  if (piece.again->copies.size() >= kMostCopies) return true;
  bool clocked = false;
  const End by = trigger(piece, now_us, back, clocked);
  piece.again->copies.push_back({now_us, packet.ts_value, packet.has_timestamp, clocked, by, resent});
  return true;
}

End DataSide::trigger(const Piece& piece, std::int64_t now_us, const Leg& back, bool& clocked) {
  const std::int64_t prompt_us =
      back.known_us() + std::max(kPromptUs, std::max<std::int64_t>(timer_.srtt_us(), 0) / 2);
  const bool prompt = last_ack_us_ >= piece.first_us && now_us - last_ack_us_ <= prompt_us;
  if (piece.filled) {
    // A fast retransmit comes within the round trip plus RACK's wait, which grows up to SRTT if packets
    // are reordered. With SACK, one that came sooner than the timer is a fast retransmit too.
    const std::int64_t rack_us = leg.known_us() + back.known_us() + std::max(kPromptUs, timer_.srtt_us());
    // no timer of Linux is shorter than a round trip and 200 ms
    const std::int64_t rto_us =
        std::min(timer_.rto_us() * 9 / 10, leg.known_us() + back.known_us() + kLeastRtoUs);
    const std::int64_t most_us = sack_permitted_ ? std::max(rack_us, rto_us) : rack_us;
    // later fills of the same recovery, each soon after an ACK, have its trigger
    if (recovering_ && una_ < recover_ && recovery_by_ == End::kFast && prompt) return End::kFast;
    if (now_us - piece.first_us > most_us) return End::kTimer;
    recovering_ = true;
    recover_ = nxt_;
    return recovery_by_ = End::kFast;
  }
  clocked = recovering_ && una_ < recover_ && prompt;
  const bool sign = sacked_to_ > piece.end || duplicates_ >= kDupThresh;
  if (recovering_ && una_ < recover_ && recovery_by_ != End::kTimer && prompt) return recovery_by_;
  End by = End::kTimer;
  // an ACK that shows a gap, and much too soon for the timer: early retransmit (RFC 5827)
  const bool early =
      duplicates_alike_ > 0 && piece.end < nxt_ && prompt && now_us - piece.first_us < timer_.rto_us() / 2;
  if ((sign && prompt) || early) {
    by = last_probe_us_ >= piece.first_us ? End::kProbe : End::kFast;
  } else if (recovering_ && una_ < recover_) {
    by = End::kTimer;
  } else if (sack_permitted_ && piece.end == nxt_ && timer_resends_ == 0 && probe_to_ < 0) {
    last_probe_us_ = now_us;
    probe_to_ = nxt_;
    ++timer_resends_;
    return End::kProbe;
  }
  timer_resends_ += by == End::kTimer ? 1 : 0;
  probe_to_ = -1;
  recovering_ = true;
  recover_ = nxt_;
  recovery_by_ = by;
  return by;
}

void DataSide::read_sack(const Packet& packet, std::int64_t ack, std::int64_t now_us, Acked& out) {
  for (unsigned i = 0; i < packet.sack_count; ++i) {
    const std::int64_t left = unwrap(packet.sack[i].left), to = unwrap(packet.sack[i].right);
    const std::int64_t right = to == nxt_ + 1 ? nxt_ : to;  // a FIN takes one sequence number
    if (right <= left || right > nxt_) continue;
    // RFC 2883: the first block reports duplicate data if it is below the ACK or inside the second block
    const bool twice =
        i == 0 && (right <= ack || (packet.sack_count > 1 && left >= unwrap(packet.sack[1].left) &&
                                    right <= unwrap(packet.sack[1].right)));
    if (twice) {
      twice_from_ = out.twice_from = left;
      twice_to_ = out.twice_to = right;
      continue;
    }
    sacked_to_ = std::max(sacked_to_, right);
    for (std::size_t k = 0; k < resent_starts_.size();) {
      const std::int64_t start = resent_starts_[k];
      if (start < left || start >= right) {
        ++k;
        continue;
      }
      const std::size_t at = first_ending_after(start);
      if (at < pieces_.size() && pieces_[at].again && pieces_[at].again->sacked_us < 0)
        pieces_[at].again->sacked_us = now_us;
      resent_starts_[k] = resent_starts_.back();
      resent_starts_.pop_back();
    }
  }
}

DataSide::Acked DataSide::on_ack(const Packet& packet, const Peer& peer, std::int64_t now_us, const Leg& back,
                                 std::vector<Mark>& marks, std::vector<Repaired>& out) {
  Acked acked;
  acked.pure = packet.payload_bytes == 0 && !packet.has(kSyn) && !packet.has(kFin);
  if (!started_) start_at((std::int64_t{1} << 32) + packet.ack);
  std::int64_t ack = unwrap(packet.ack);
  if (ack > nxt_ + 1 || ack < una_ - kLargestStep) {  // the acknowledged data was not captured
    if (ack > nxt_ + kLargestStep || ack < una_) return acked;
    start_at(ack);
    set_ids_useless();
    last_bytes_ = kLargestSegment;  // nothing is known: assume a full-sized segment
    last_ack_us_ = last_advance_us_ = now_us;
    return acked;
  }
  if (!outstanding() && ack > nxt_ && ack == window_probe_to_) una_ = nxt_ = sacked_to_ = recover_ = ack;
  ack = std::min(ack, nxt_);  // a FIN takes one sequence number
  const bool sacks = packet.sack_count > 0 && outstanding();
  twice_from_ = twice_to_ = 0;
  const std::int64_t sacked_before = sacked_to_;
  if (packet.sack_count > 0) read_sack(packet, ack, now_us, acked);
  peer_ = peer;
  // Linux considers a probe outstanding until more data is acknowledged, or a DSACK reports the probe
  if (ack > probe_to_ || acked.twice_to == probe_to_) probe_to_ = -1;
  if (ack > una_) {
    const std::size_t newest = std::min(first_ending_after(ack - 1), pieces_.size() - 1);
    const Piece& last = pieces_[newest];
    const bool whole = last.end <= ack;
    acked.several = newest > head_ || newest + 1 < pieces_.size();
    acked.small = ack - una_ <= std::max(largest_, kLeastFullBytes);
    acked.last_sent_us = last.again ? last.again->copies.back().us : last.first_us;
    acked.lone =
        newest == head_ && pieces_.size() - head_ == 1 && last.end - last.start < std::max(largest_, full_);
    if (whole && !last.again && !last.missing && !last.filled && sacked_before <= una_) {
      acked.rtt_us = now_us - last.first_us;
      leg.add(acked.rtt_us, acked.pure);
      timer_.sample(now_us, acked.rtt_us + back.known_us());
    } else if (whole && last.again && !last.filled && newest == head_) {
      if (const std::int64_t sent_us = echoed_us(last, packet); sent_us >= 0) {
        acked.rtt_us = now_us - sent_us;
        timer_.sample(now_us, acked.rtt_us + back.known_us());
      }
    }
    acked.advanced = true;
    pop(ack, packet, now_us, marks, out);
    duplicates_ = duplicates_alike_ = timer_resends_ = 0;
    last_ack_us_ = last_advance_us_ = now_us;
  } else if (ack == una_ && acked.pure && outstanding()) {
    ++duplicates_;
    if (packet.window == last_window_ || packet.sack_count > 0) ++duplicates_alike_;
    last_ack_us_ = now_us;
  } else if (sacks) {
    last_ack_us_ = now_us;
  }
  last_window_ = packet.window;
  return acked;
}

void DataSide::pop(std::int64_t ack, const Packet& packet, std::int64_t now_us, std::vector<Mark>& marks,
                   std::vector<Repaired>& out) {
  bool first = true;
  bool late = false;
  acked_ = {una_, ack, now_us, -1, -1};
  while (head_ < pieces_.size() && pieces_[head_].start < ack) {
    if (pieces_[head_].end > ack) split(head_, ack);
    Piece& piece = pieces_[head_];
    acked_.last_us = piece.again || piece.missing ? -1 : due_us(piece);
    if (first) acked_.first_us = acked_.last_us;
    late = late || (acked_.last_us >= 0 && acked_.last_us < piece.first_us);
    if (piece.again) {
      settle(piece, first ? &packet : nullptr, now_us, out);
    } else if (piece.missing) {
      set_ids_useless();
    } else {
      arrived_us_ = std::max(arrived_us_, piece.first_us);
      earliest_us_ = std::max(earliest_us_, piece.first_us);
    }
    for (Mark& mark : marks)
      if (mark.us < 0 && piece.end >= mark.to) mark.us = arrived_us_;
    first = false;
    ++head_;
  }
  if (late) late_acked_ = acked_;
  una_ = ack;
  sacked_to_ = std::max(sacked_to_, una_);
  if (una_ >= recover_) recovering_ = false;
  if (head_ == pieces_.size()) {
    pieces_.clear();
    resent_starts_.clear();
    head_ = 0;
  } else if (head_ > 64 && head_ > pieces_.size() / 2) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void DataSide::finish(std::vector<Repaired>& out) {
  for (; head_ < pieces_.size(); ++head_) {
    Piece& piece = pieces_[head_];
    if (piece.again && piece.again->sacked_us >= 0) settle(piece, nullptr, piece.again->sacked_us, out);
  }
}

void DataSide::limit_memory() {
  const std::size_t most = last_advance_us_ < 0 ? kMostUnacked : kMostSentPieces;
  if (pieces_.size() - head_ <= most) return;
  head_ += most / 2;
  una_ = pieces_[head_].start;
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(head_));
  head_ = 0;
}

}  // namespace tcplearn
