// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Turns losses and waits of a connection into stall rows, and adds their time to requests.
#include <algorithm>

#include "conversation.h"

namespace tcplearn {
namespace {

// While no round trip is known, a DSACK may come so long after the copy that it reports.
constexpr std::int64_t kUnknownRoundUs = 1'000'000;

bool is_spurious(const StallRow& row) { return row.cause == static_cast<std::uint8_t>(Cause::kSpurious); }

}  // namespace

void Conversation::settle(unsigned end, std::int64_t now_us, bool all, ExplainedRows& out) {
  Host& me = ends_[end];
  std::size_t done = 0;
  for (; done < me.settling.size(); ++done) {
    const Repaired& loss = me.settling[done];
    // A DSACK comes a round trip after the copy that it reports, and the path may have become slower.
    const std::int64_t late_us = std::max<std::int64_t>(loss.seen_us - loss.last_copy_us, 0);
    const std::int64_t unknown_us = std::max(kUnknownRoundUs, late_us);
    const std::int64_t round_us = me.data.leg.min_us < 0 ? unknown_us : me.data.leg.min_us;
    const std::int64_t until_us = loss.last_copy_us + round_us * 5 / 4 + late_us + kLeastRowUs;
    const bool told = loss.certain && (loss.spurious || loss.all_copies > 1);
    if (!all && !told && now_us <= until_us) break;
    commit(end, loss, out);
  }
  if (done > 0)
    me.settling.erase(me.settling.begin(), me.settling.begin() + static_cast<std::ptrdiff_t>(done));
}

// Adds stalls for retransmissions of data whose ACK the capture point had already seen.
void Conversation::on_acked_again(unsigned end) {
  std::vector<Repaired>& settling = ends_[end].settling;
  for (const Repaired& late : losses_) {
    // a reported duplicate may be this retransmission
    for (Repaired& loss : settling)
      if (loss.stream_end <= late.stream_end && late.stream_end - loss.stream_end < late.bytes)
        ++loss.all_copies;
    if (end == kClient) begin_earlier(late);
    if (settling.size() < kMostSettling) settling.push_back(late);
  }
}

// Moves the start of a request back if its first copy reached the capture point late.
void Conversation::begin_earlier(const Repaired& late) {
  for (Exchange& exchange : exchanges_)
    if (exchange.request_from < late.stream_end && exchange.request_from >= late.stream_end - late.bytes)
      exchange.start_us = std::min(exchange.start_us, late.start_us);
}

// Returns whether a loss of the other end covers most of the time of a spurious retransmission.
bool Conversation::covers(const StallRow& loss, const StallRow& late) {
  const std::int64_t common_us =
      std::min(loss.end_us(), late.end_us()) - std::max(loss.start_us, late.start_us);
  return 2 * common_us > late.duration_us;
}

// Drops the other host's spurious retransmission if that host waited for this lost data.
void Conversation::drop_covered(unsigned end, const StallRow& loss) {
  Host& other = ends_[1 - end];
  if (other.any_open && is_spurious(other.open) && covers(loss, other.open)) other.any_open = false;
}

// Turns a loss into a stall. Overlapping losses become one stall.
void Conversation::commit(unsigned end, const Repaired& loss, ExplainedRows& out) {
  Host& me = ends_[end];
  StallRow row;
  row.by_server = end == kServer ? 1 : 0;
  row.start_us = loss.start_us;
  row.duration_us = loss.end_us - loss.start_us;
  const std::int64_t waited_us = loss.first_wait_us >= 0 ? loss.first_wait_us : row.duration_us;
  // not one of which IP identification shows that nothing was lost since
  const bool gap = loss.first_wait_us < 0 && (loss.lost_ids > 0 || !me.data.numbered(path_.ids_in_row(end)));
  Cause cause = Cause::kTailTimer;
  if (loss.spurious) {
    cause = Cause::kSpurious;
    row.start_us = loss.start_us + me.data.leg.known_us();
    row.duration_us = loss.seen_us - row.start_us;
    if (row.duration_us <= 0) return;  // nobody waited
  } else if (loss.copies > 1) {
    cause = Cause::kResendLost;
  } else if (loss.by == End::kFast) {
    cause = Cause::kLostFast;
  } else if (loss.by == End::kProbe && waited_us <= SenderTimer::most_probe_us(loss.timer_us, loss.srtt_us)) {
    cause = Cause::kTailProbe;
  } else if (gap && row.duration_us > SenderTimer::most_timer_us(loss.timer_us, loss.lost_ids > 0)) {
    cause = Cause::kResendLost;  // a gap that stayed open for so long: its first filling was lost too
  }
  const bool late = loss.by == End::kProbe && cause == Cause::kTailTimer;
  const End by = late ? End::kTimer : loss.by;
  row.cause = static_cast<std::uint8_t>(cause);
  row.ended_by = static_cast<std::uint8_t>(loss.spurious ? End::kAck : by);
  row.waited_us = loss.first_wait_us;
  row.timer_us = loss.timer_us;
  row.srtt_us = loss.srtt_us;
  row.resends = cause == Cause::kResendLost ? std::max(loss.copies, 2u) : loss.copies;
  row.bytes = loss.bytes;
  row.silent_until_us = loss.silent_until_us;
  row.out_segments = loss.out_segments;
  row.fates = loss.fates;
  row.head_us = loss.fates.repaired_us[0] >= 0 ? loss.end_us - loss.start_us : -1;
  // After backoff the timer may fire late, so only the time until the last lost copy must be silent.
  const std::int64_t until_us = loss.copies > 1 ? loss.silent_until_us : loss.end_us;
  row.silent = path_.silent(1 - end, loss.start_us + me.data.leg.known_us() + kPromptUs, until_us) ? 1 : 0;
  const Host& other = ends_[1 - end];
  if (!loss.spurious) drop_covered(end, row);
  if (loss.spurious && other.any_open && !is_spurious(other.open) && covers(other.open, row)) return;
  if (me.any_open && row.start_us <= me.open.end_us() && row.end_us() >= me.open.start_us) {
    if (is_spurious(row) != is_spurious(me.open)) {
      // a loss replaces a spurious retransmission that overlaps it, and keeps its own start and end
      if (is_spurious(me.open)) me.open = row;
      return;
    }
    const std::int64_t from_us = std::min(row.start_us, me.open.start_us);
    const std::int64_t to_us = std::max(row.end_us(), me.open.end_us());
    const std::uint32_t bytes = row.bytes + me.open.bytes;
    const Fates fates = me.open.fates.same_us[0] >= 0 ? me.open.fates : row.fates;
    const std::int64_t head_us = me.open.head_us >= 0 ? me.open.head_us : row.head_us;
    // Segments of one flight wait about equally long. The first repaired one, whose losses held the others
    // up, gives the cause, unless a later one waited clearly longer.
    if (row.duration_us - me.open.duration_us > me.open.duration_us / 8) me.open = row;
    me.open.fates = fates;
    me.open.head_us = head_us;
    me.open.start_us = from_us;
    me.open.duration_us = to_us - from_us;
    me.open.bytes = bytes;
    return;
  }
  close_stall(end, out);
  me.open = row;
  me.any_open = true;
}

void Conversation::close_stall(unsigned end, ExplainedRows& out) {
  if (ends_[end].any_open) emit(ends_[end].open, out);
  ends_[end].any_open = false;
}

void Conversation::emit(const StallRow& given, ExplainedRows& out) {
  StallRow row = given;
  row.connection = number_;
  if (closing_ && closing_->deferring) {
    closing_->stalls.push_back(row);
    return;
  }
  for (Exchange& exchange : exchanges_) {
    if (row.end_us() > exchange.start_us && (exchange.end_us < 0 || row.start_us < exchange.end_us))
      exchange.add(static_cast<Cause>(row.cause), row.start_us, row.end_us());
  }
  out.add(row);
}

void Conversation::wait(unsigned end, Cause cause, End ended_by, std::int64_t from_us, std::int64_t to_us,
                        ExplainedRows& out) {
  if (to_us <= from_us) return;
  // while it is not known which copy of the request arrived, a lost copy may explain the whole wait
  const bool told = cause != Cause::kUnknown || ends_[kClient].settling.empty();
  if (to_us - from_us < kLeastRowUs || !told) {
    if (!exchanges_.empty()) exchanges_.back().add(cause, from_us, to_us);
    return;
  }
  StallRow row;
  row.by_server = end == kServer ? 1 : 0;
  row.cause = static_cast<std::uint8_t>(cause);
  row.ended_by = static_cast<std::uint8_t>(ended_by);
  row.start_us = row.silent_until_us = from_us;
  row.duration_us = to_us - from_us;
  row.timer_us = ends_[end].data.timer().rto_us();
  row.srtt_us = ends_[end].data.timer().srtt_us();
  emit(row, out);
}

// Drops the client's spurious retransmissions since an answer was lost: the lost answer is the cause.
void Conversation::forget_spurious() {
  std::vector<Repaired>& settling = ends_[kClient].settling;
  settling.erase(
      std::remove_if(settling.begin(), settling.end(), [](const Repaired& loss) { return loss.spurious; }),
      settling.end());
}

}  // namespace tcplearn
