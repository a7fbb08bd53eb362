// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Finds which copy of a retransmitted segment arrived, and when the first would have without delay.
#include <algorithm>
#include <cstdlib>

#include "data_side.h"

namespace tcplearn {
namespace {

// A packet counts as late if it arrives this much later than on an idle path.
constexpr std::int64_t kLeastLateUs = 10'000;
// An ACK that reaches its sender this much later than on an idle path does not count as late.
constexpr std::int64_t kAckUs = 5000;
constexpr std::int32_t kMostResends = 16;
// If more packets are missing, the other end may count those to other hosts too.
constexpr std::int32_t kMostLostAcks = 2;

}  // namespace

bool DataSide::is_doubled(const Piece& piece) const {
  const bool twice = piece.end > twice_from_ && piece.end <= twice_to_;
  return twice || (peer_.ahead && piece.again->sacked_us < 0 && !piece.filled);
}

std::int64_t DataSide::echoed_us(const Piece& piece, const Packet& ack) const {
  if (!ack.has_timestamp || !piece.has_ts) return -1;
  const std::vector<Copy>& copies = piece.again->copies;
  std::int64_t sent_us = ack.ts_echo == piece.ts ? piece.first_us : -1;
  for (const Copy& copy : copies) {
    if (!copy.has_ts || copy.ts != ack.ts_echo) continue;
    if (sent_us >= 0) return -1;
    sent_us = copy.us;
  }
  return sent_us;
}

int DataSide::came_before(const Piece& piece, std::int64_t seen_us) const {
  const std::vector<Copy>& copies = piece.again->copies;
  const int last = static_cast<int>(copies.size()) - 1;
  if (peer_.unseen == 0 || (peer_.unseen < 0 && peer_.ahead)) return last - 1;
  for (int k = -1; k < last - 1; ++k) {
    const std::int64_t sent_us = k < 0 ? piece.first_us : copies[static_cast<std::size_t>(k)].us;
    // the packets that the other end has sent since this copy arrived: one ACK, and the retransmissions by
    // its timer
    const std::int64_t since_us = peer_.ahead ? seen_us - sent_us - leg.known_us() : 0;
    if (peer_.unseen < 0 || 1 + peer_.resends(since_us) <= peer_.unseen) return k;
  }
  return last - 1;
}

bool DataSide::had_been_acked(const Piece& piece, std::int64_t seen_us) const {
  const std::vector<Copy>& copies = piece.again->copies;
  if (copies.size() > 1 || piece.out > 1 || piece.filled || peer_.ahead) return false;
  // `others`: packets of the other end that are not in the capture and were no ACKs of this data, such as
  // retransmissions by its timer before this copy arrived. If its timer may have fired since, nothing is
  // known.
  if (seen_us - copies.back().us - leg.known_us() >= peer_.rto_us) return false;
  const std::int32_t others =
      peer_.resends(seen_us - piece.first_us + leg.known_us()) + (peer_.follows ? 1 : 0);
  return peer_.unseen > others;
}

std::int32_t DataSide::Peer::resends(std::int64_t since_us) const {
  if (rto_us <= 0) return 0;
  std::int32_t count = 0;
  std::int64_t wait_us = rto_us;
  for (std::int64_t at_us = wait_us; at_us <= since_us && count < kMostResends; at_us += wait_us) {
    if (++count > 1) wait_us *= 2;  // the first retransmission is a probe
  }
  return count;
}

int DataSide::arrived(const Piece& piece, const Packet* head_ack, std::int64_t seen_us, bool doubled,
                      bool& certain) const {
  const std::vector<Copy>& copies = piece.again->copies;
  const int last = static_cast<int>(copies.size()) - 1;
  // RFC 2883: the last copy caused this ACK, which echoes its timestamp, but an earlier copy had arrived.
  if (doubled) {
    certain = true;
    return std::max(came_before(piece, seen_us), piece.filled ? 0 : -1);
  }
  // RFC 7323, 4.3: the ACK echoes the segment that filled the left edge.
  if (head_ack != nullptr && head_ack->has_timestamp && piece.again->sacked_us < 0) {
    const std::uint32_t echo = head_ack->ts_echo;
    if (!piece.filled && piece.has_ts && echo == piece.ts && copies[0].ts != piece.ts) {
      certain = true;
      return -1;
    }
    for (int k = 0; k <= last; ++k) {
      const Copy& copy = copies[static_cast<std::size_t>(k)];
      const bool alone = (k == last || copies[static_cast<std::size_t>(k) + 1].ts != copy.ts) &&
                         (k == 0 ? piece.filled || copy.ts != piece.ts
                                 : copies[static_cast<std::size_t>(k) - 1].ts != copy.ts);
      if (copy.has_ts && copy.ts == echo && alone) {
        certain = true;
        return had_been_acked(piece, seen_us) ? -1 : k;
      }
    }
  }
  if (leg.min_us < 0) return last;
  const std::int64_t latest_us = seen_us - leg.min_us * 3 / 4;
  for (int k = last; k >= 0; --k)
    if (copies[static_cast<std::size_t>(k)].us <= latest_us) return k;
  return piece.filled ? 0 : -1;
}

void DataSide::settle(Piece& piece, const Packet* head_ack, std::int64_t now_us, std::vector<Repaired>& out) {
  const Again& again = *piece.again;
  const std::int64_t seen_us = again.sacked_us >= 0 ? again.sacked_us : now_us;
  Repaired loss;
  loss.doubled = is_doubled(piece);
  const int k = arrived(piece, head_ack, seen_us, loss.doubled, loss.certain);
  const auto at = static_cast<std::size_t>(std::max(k, 0));
  loss.start_us = loss.silent_until_us = piece.first_us;
  if (k > 0) loss.silent_until_us = again.copies[at - 1].us;
  loss.end_us = k >= 0 ? again.copies[at].us : std::max(piece.first_us, seen_us - leg.known_us());
  // Packets of the other end were lost before this ACK. Most likely one was its first ACK of this data: that
  // the data was late, and another packet lost, takes two rare events.
  const bool ack_lost = again.sacked_us < 0 && peer_.unseen > 0 && peer_.unseen <= kMostLostAcks;
  if (k < 0 && (loss.doubled || ack_lost)) loss.end_us = piece.first_us;
  if (k < 0) {
    // the first copy may have reached the capture point late, or after a copy that overtook it
    loss.start_us = due_us(piece);
    for (const Copy& copy : again.copies)
      if (copy.has_ts) loss.start_us = std::min(loss.start_us, due_us(copy.ts, copy.us));
  }
  loss.seen_us = seen_us;
  loss.last_copy_us = again.copies.back().us;
  loss.all_copies = static_cast<std::uint32_t>(again.copies.size());
  loss.first_wait_us = piece.filled ? -1 : again.copies[0].us - piece.first_us;
  loss.timer_us = again.timer_us;
  loss.srtt_us = again.srtt_us;
  loss.stream_end = piece.end;
  loss.copies = static_cast<std::uint32_t>(at + 1);
  loss.bytes = static_cast<std::uint32_t>(piece.end - piece.start);
  loss.out_segments = piece.out;
  loss.by = again.copies[at].by;
  loss.spurious = k < 0;
  loss.tail = again.tail;
  loss.lost_ids = again.lost_ids;
  loss.clocked = again.copies[at].clocked;
  loss.head = head_ack != nullptr;
  loss.packet = again.copies.back().packet;
  // without certainty only the last copy is counted here; a DSACK may still report the others
  const std::uint32_t spare = loss.all_copies - (loss.spurious ? 0 : loss.copies);
  if (spare > 0 && loss.packet != last_needless_) count_needless(loss.packet, loss.certain ? spare : 1);
  arrived_us_ = std::max(arrived_us_, loss.end_us);
  earliest_us_ = std::max(earliest_us_, loss.spurious ? loss.start_us : loss.end_us);
  resent_starts_.erase(std::remove(resent_starts_.begin(), resent_starts_.end(), piece.start),
                       resent_starts_.end());
  out.push_back(loss);
  piece.again.reset();
}

// Returns when the first transmission of `piece` would have reached the capture point on an idle path.
std::int64_t DataSide::due_us(const Piece& piece) const {
  return piece.has_ts && !piece.filled ? due_us(piece.ts, piece.first_us) : piece.first_us;
}

// A capture at the sender sees no packet late, so a clock estimate that says otherwise is wrong.
std::int64_t DataSide::due_us(std::uint32_t ts, std::int64_t came_us) const {
  return at_sender_ ? came_us : clock_.due_us(ts, came_us);
}

// Handles a retransmission of data whose ACK the capture point had already seen: the data was late, or
// its ACK was late or lost on its way to the sender.
void DataSide::acked_again(std::int64_t start, std::int64_t end, const Packet& packet, std::int64_t now_us,
                           const Leg& back, std::vector<Repaired>& out) {
  const auto within = [&](const Run& run) { return run.from <= start && end <= run.to; };
  const Run& run = within(acked_) ? acked_ : late_acked_;
  std::int64_t first_us = start == run.from ? run.first_us : end == run.to ? run.last_us : -1;
  if (first_us < 0 || !within(run)) return;
  std::int64_t again_us = packet.has_timestamp ? due_us(packet.ts_value, now_us) : now_us;
  if (std::abs(again_us - first_us) < kLeastLateUs) return;  // the path duplicated the packet
  if (again_us < first_us) std::swap(first_us, again_us);    // a copy overtook the first transmission
  // untold: the ACK should have reached the sender before the sender retransmitted, so the ACK was late or
  // lost
  const std::int64_t way_us =
      clock_.known() ? back.min_us + kAckUs : std::max(back.min_us, timer_.srtt_us()) + kLeastLateUs;
  const bool untold = back.min_us >= 0 && again_us - run.acked_us > way_us;
  Repaired late;
  late.start_us = late.end_us = late.silent_until_us = first_us;
  late.seen_us = untold ? now_us + leg.known_us() : run.acked_us;
  if (late.seen_us - first_us - leg.known_us() < kLeastLateUs) return;
  late.last_copy_us = now_us;
  late.first_wait_us = again_us - first_us;
  late.timer_us = timer_.rto_us();
  late.srtt_us = timer_.srtt_us();
  late.stream_end = end;
  late.copies = late.all_copies = late.out_segments = 1;
  late.bytes = static_cast<std::uint32_t>(end - start);
  late.packet = resent;
  late.spurious = late.certain = true;
  out.push_back(late);
}

// Counts spurious retransmissions. The last of these copies is in retransmitted packet number `packet`.
void DataSide::count_needless(std::uint32_t packet, std::uint32_t copies) {
  // the last copy was counted already, for another piece of this packet or when it was settled
  if (packet == last_needless_) --copies;
  last_needless_ = packet;
  needless = std::min(needless + copies, resent);
}

}  // namespace tcplearn
