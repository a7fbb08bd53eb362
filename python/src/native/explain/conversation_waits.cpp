// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Finds what a connection waited for while nothing was in flight: a host, an ACK, the path, or a packet that
// was lost before the capture point.
#include <algorithm>
#include <utility>

#include "ack_delay.h"
#include "conversation.h"

namespace tcplearn {
namespace {

// A shortest round trip may be too long by this much if few were seen.
constexpr std::int64_t kClockUs = 1000;
// A handshake that takes so long, and so many times as long as later round trips, was not with who
// acknowledges.
constexpr std::int64_t kLeastRelayedUs = 5000, kRelayedTimes = 8;
// Between two programs of one host, time from this on counts as the server's.
constexpr std::int64_t kLeastLocalUs = 50;
// An answer that exceeds the shortest round trip by no more than this gets no cause.
constexpr std::int64_t kJitterUs = 2000;
// A connection on which nothing moves for so long is idle.
constexpr std::int64_t kSilentUs = 1'000'000;

// Returns whether an address is one of a private network (RFC 1918, RFC 6598, RFC 4193) or of a link.
bool is_private(const Endpoint& end) {
  const std::uint64_t high = end.address.high;
  if (end.v6) return (high >> 57) == 0xfc >> 1 || (high >> 54) == 0xfe80 >> 6 || high == 0;
  const auto v4 = static_cast<std::uint32_t>(end.address.low);
  return v4 >> 24 == 10 || v4 >> 24 == 127 || v4 >> 20 == 0xac1 || v4 >> 16 == 0xc0a8 || v4 >> 16 == 0xa9fe ||
         v4 >> 22 == 0x6440 >> 6;
}

}  // namespace

// Handles new data after all data of `end` was acknowledged: `end` was idle, or waited for the ACK.
void Conversation::own_time(unsigned end, const Packet& packet, const DataSide::Sent& sent,
                            std::int64_t now_us, ExplainedRows& out) {
  Host& me = ends_[end];
  const bool within = goes_on(end) || crosses(end, packet);
  const std::int64_t back_us = leg_to(end).known_us(), advance_us = me.data.last_advance_us();
  if (advance_us < 0) return;
  const std::int64_t acked_us = std::max(advance_us, me.data.last_needless_us() + me.data.leg.known_us());
  // unheard: the last ACK had not reached `end`, because the packet echoes an older timestamp (RFC 7323, 4.3)
  const auto since = static_cast<std::int32_t>(packet.ts_echo - me.last_ack_ts);
  const bool unheard = me.last_ack_echoed && packet.has_timestamp && since < 0;
  const std::int64_t idle_us = now_us - acked_us - back_us;
  if (within && was_lost(end, sent, unheard, now_us - me.last_ack.last_sent_us)) {
    // `end` had received nothing to acknowledge meanwhile, so the lost packet was data
    lost_unseen(end, me.last_ack.last_sent_us, sent, now_us, out);
    return;
  }
  if (unheard) return;
  // held: Nagle's algorithm (RFC 9293, 3.7.4) held the data back until a delayed ACK came (RFC 1122, 4.2.3.2)
  const std::int64_t due_us = me.last_ack.last_sent_us + me.data.leg.known_us();
  const bool held = me.last_ack.pure && me.last_ack.lone && !me.last_ack_repaired && !me.data.no_delay() &&
                    acked_us - due_us >= kLeastDelayUs && acked_us - due_us <= kMostDelayUs;
  // in time: the ACK had reached `end` when it sent the new data
  const bool in_time = idle_us >= -std::max(kClockUs, back_us / 10) && idle_us <= kPromptUs;
  if (held && acked_us == advance_us && in_time && me.data.leg.min_us >= 0) {
    wait(end, Cause::kDelayedAck, End::kAck, due_us, acked_us, out);
    return;
  }
  if (within && idle_us >= std::max(kLeastOwnUs, back_us / 4)) {
    // more data of `end` may have been sent and lost without a trace
    const bool untold = sent.lost_before > 0 || (sent.mid_write && !me.data.numbered(path_.ids_in_row(end)));
    const bool perhaps = untold && !beside_server() && idle_us > back_us;
    const Cause servers = perhaps || relayed() ? Cause::kUnknown : Cause::kServer;
    // after a segment that was not full-sized, `end` had nothing more to send
    const bool waited = sent.mid_write || acked_us > advance_us;
    const std::int64_t from_us = waited ? acked_us + back_us : me.last_ack.last_sent_us;
    wait(end, end == kServer ? servers : Cause::kClient, End::kData, from_us, now_us, out);
  }
}

// Handles new data of an answer while other data of the server is in flight that did not end with a full
// segment: if no ACK came in between, nothing but the server held the new data back.
void Conversation::paused(const DataSide::Sent& sent, std::int64_t now_us, ExplainedRows& out) {
  if (sent.mid_write || sent.announced || sent.lost_before > 0) return;
  const std::int64_t round_us = leg_to(kServer).known_us() + leg_to(kClient).known_us();
  // longer than an ACK is delayed: the data was lost, or its ACK was not captured
  if (sent.unasked_us > round_us * 5 / 4 + kMostDelayUs) return;
  // farther away, the path may have held the new data back
  const bool far = !beside_server();
  const std::int64_t least_us =
      far ? std::max(kLeastRowUs, round_us) : least_own_us(leg_to(kServer).known_us());
  if (sent.unasked_us < least_us || (far && path_.over_us(now_us) > sent.unasked_us / 2)) return;
  wait(kServer, relayed() ? Cause::kUnknown : Cause::kServer, End::kData, now_us - sent.unasked_us, now_us,
       out);
}

// Gives the time since new data or an ACK came last to the end that broke the silence, unless it has another
// cause: where nothing moves for so long, nothing is transferred.
void Conversation::no_progress(unsigned end, std::int64_t now_us) {
  const std::int64_t from_us = std::exchange(progress_us_, now_us);
  if (exchanges_.empty() || from_us < 0 || now_us - from_us < kSilentUs) return;
  // data that was sent before the newest request arrived belongs to the one before
  const bool before = end == kServer && !exchanges_.back().answered && exchanges_.size() > 1;
  Exchange& now = before ? exchanges_[exchanges_.size() - 2] : exchanges_.back();
  const bool answers = end == kServer && now.answered;
  const Cause servers = now.acknowledged_us >= 0 && !relayed() ? Cause::kServer : Cause::kUnknown;
  if (answers) now.add(servers, from_us, now_us, true);
  if (end == kClient && !now.answered) now.add(Cause::kClient, from_us, now_us, true);
}

// Returns whether the server is in the middle of an answer, or the client in the middle of a request.
bool Conversation::goes_on(unsigned end) const {
  return !exchanges_.empty() && exchanges_.back().answered == (end == kServer);
}

// Returns whether the packet of the server continues an answer, and was sent before the client's next request
// had arrived.
bool Conversation::crosses(unsigned end, const Packet& packet) const {
  if (end == kClient || exchanges_.size() < 2 || passed_over_ || !packet.has(kAck)) return false;
  return goes_on(kClient) && acked_requests(packet) <= exchanges_.back().request_from &&
         exchanges_[exchanges_.size() - 2].answered;
}

// Returns whether the new data of `end` had been sent before, and was lost before the capture point.
bool Conversation::was_lost(unsigned end, const DataSide::Sent& sent, bool lone,
                            std::int64_t waited_us) const {
  if (waited_us <= std::max(leg_to(end).known_us(), kLeastRowUs)) return false;
  // a gap in the IP identification counts for a lone segment, or after a full-sized one
  const bool told = sent.lost_before > 0 && (lone || sent.mid_write) && !beside(end);
  return sent.announced || (told && ends_[end].data.may_be_lost(sent.lost_before, lone, waited_us));
}

// Adds a stall: new data of `end`, first sent at `from_us` or later, was lost before the capture point.
void Conversation::lost_unseen(unsigned end, std::int64_t from_us, const DataSide::Sent& sent,
                               std::int64_t now_us, ExplainedRows& out) {
  DataSide& data = ends_[end].data;
  StallRow row;
  row.by_server = end == kServer ? 1 : 0;
  const std::int64_t waited_us = now_us - from_us, timer_us = data.timer().rto_us();
  const bool counted = sent.lost_before > 1 && data.may_be_lost(sent.lost_before, true, waited_us);
  const bool once = sent.lost_before == 1 && data.numbered(path_.ids_in_row(end));
  const bool twice = counted || (!once && waited_us > SenderTimer::most_timer_us(timer_us, false));
  // a probe repeats one segment
  const bool probe = (options_ & 5) != 4 && sent.lost_before <= 1 &&
                     waited_us <= SenderTimer::most_probe_us(timer_us, data.timer().srtt_us());
  const Cause by = probe ? Cause::kTailProbe : Cause::kTailTimer;
  row.cause = static_cast<std::uint8_t>(twice ? Cause::kResendLost : by);
  row.ended_by = static_cast<std::uint8_t>(End::kUnclear);
  row.start_us = row.silent_until_us = from_us;
  row.duration_us = waited_us;
  row.resends = counted ? sent.lost_before : twice ? 2 : 1;
  row.bytes = static_cast<std::uint32_t>(sent.to - sent.from);
  row.out_segments = 1;
  row.silent = path_.silent(end, from_us, now_us) ? 1 : 0;
  if (data.forecast && !twice && end == kServer && !exchanges_.back().answered) {
    data.forecast->on_unseen(from_us, row.fates);
    row.head_us = row.duration_us;
  }
  drop_covered(end, row);
  emit(row, out);
}

void Conversation::await_answer(Exchange& exchange, const DataSide::Sent& sent, std::int64_t now_us,
                                ExplainedRows& out) {
  const DataSide& request = ends_[kClient].data;
  const bool aside = exchange.aside_us >= 0 && request.arrived_us() == exchange.aside_us;
  const std::int64_t arrived_us =
      std::max(aside ? exchange.asked_us : request.arrived_us(), exchange.start_us);
  const Leg& leg = leg_to(kServer);
  // if only answers show how long a round trip takes, the shortest may have waited for the server too
  const bool told = leg.min_us < 0 || leg.pure || path_.leg_us() >= 0 || beside_server();
  const std::int64_t there_us =
      path_.leg_us() < 0 ? leg.known_us() : std::min(leg.known_us(), path_.leg_us());
  const std::int64_t due_us = arrived_us + there_us, excess_us = now_us - due_us;
  const std::int64_t earliest_us =
      std::max({request.earliest_us() + there_us, exchange.start_us, exchange.acknowledged_us});
  if (was_lost(kServer, sent, true, now_us - earliest_us)) {
    // the answer was lost before the capture point; a client that retransmitted its request waited for it
    forget_spurious();
    lost_unseen(kServer, earliest_us, sent, now_us, out);
    return;
  }
  // what precedes an ACK of the whole request is no time of the server's program
  if (!told && exchange.acknowledged_us < 0)
    exchange.add(Cause::kUnknown, arrived_us, std::min(due_us, now_us));
  if (excess_us < least_own_us(there_us)) return;
  const Cause cause = waited_for(exchange, excess_us, now_us);
  std::int64_t from_us = due_us;
  // queued: other round trips show that the path was slow when the ACK came
  const std::int64_t late_us = exchange.acknowledged_us - due_us, over_us = path_.over_us(now_us);
  const bool jitter = late_us <= std::max(kJitterUs, there_us / 4),
             queued = !jitter && over_us >= late_us / 2;
  // prompt: the answer followed a late ACK at once, so the path was slow, or the server read the request late
  const bool prompt = now_us - exchange.acknowledged_us <= kClockUs && !beside_server() &&
                      (over_us < 0 || over_us > late_us / 4);
  if (cause == Cause::kServer && (late_us > kLinuxDelayUs || queued || prompt)) {
    from_us = exchange.acknowledged_us;
    // without timestamps, or with such a hop limit, the server may be another system than Linux, which held
    // the ACK back for longer
    const bool other = (options_ & 2) == 0 || other_system_;
    const bool held = late_us <= kLinuxDelayUs || (other && late_us <= kMostDelayUs);
    const Cause late = held && !queued ? Cause::kUnknown : Cause::kSlowPath;
    if (!jitter || late_us > kLinuxDelayUs) wait(kServer, late, End::kAck, due_us, from_us, out);
  }
  if (cause != Cause::kTransfer) wait(kServer, cause, End::kData, from_us, now_us, out);
}

// Returns the least time beyond the round trip, which takes `there_us`, that is the server's: between two
// programs of one host a tenth of a millisecond may be nearly all of it.
std::int64_t Conversation::least_own_us(std::int64_t there_us) const {
  const bool near = leg_to(kServer).min_us >= 0 && there_us < kLeastOwnUs / 4;
  return near ? std::max(kLeastLocalUs, 4 * there_us) : std::max(kLeastOwnUs, there_us / 8);
}

// Returns whether the capture point is so close to the server that the path to it takes almost no time.
bool Conversation::beside_server() const {
  const std::int64_t there_us = leg_to(kServer).min_us, to_client_us = leg_to(kClient).min_us;
  return there_us >= 0 && (there_us < kLeastOwnUs || (to_client_us >= 0 && there_us * 8 < to_client_us));
}

// Returns whether something on the way acknowledges data before the server does, such as a translation of
// addresses or a proxy on the client's machine: the handshake took far longer than all round trips since, or
// the server's packets have the hop limit with which hosts send them.
bool Conversation::relayed() const {
  const std::int64_t handshake_us = handshake_.rtt_us();
  const std::int64_t here_us = leg_to(kClient).min_us, there_us = leg_to(kServer).min_us;
  if (ends_[kClient].endpoint.address == ends_[kServer].endpoint.address) return false;
  if (relayed_) return true;
  if (here_us < 0 || there_us < 0) return false;
  if (handshake_us >= kLeastRelayedUs && kRelayedTimes * (here_us + there_us) < handshake_us) return true;
  // no router was on the way to a public address: its packets are made by the machine that translates
  // addresses
  // Linux begins with 64 at both ends, so a capture at a server beside its client looks alike
  const bool nearer = here_us < there_us || (other_system_ && here_us + there_us < kLeastOwnUs);
  return no_hop_ && nearer && is_private(ends_[kClient].endpoint) && !is_private(ends_[kServer].endpoint);
}

bool Conversation::beside(unsigned end) const {
  if (end == kServer) return beside_server();
  const std::int64_t here_us = leg_to(kClient).min_us, there_us = leg_to(kServer).min_us;
  return here_us >= 0 && here_us < kLeastOwnUs && here_us * 8 < there_us;
}

// A capture beside the client shows so in any connection of the client's host. The ACKs of another connection
// may all have been delayed. Behind an address farther away there may be several hosts.
void Conversation::share_client_leg() {
  const Leg& leg = leg_to(kClient);
  if (near_ || !leg.pure || leg.min_us >= kLeastOwnUs) return;
  near_ = true;
  std::int64_t& least_us = near_clients_.emplace(ends_[kClient].endpoint.address, leg.min_us).first->second;
  least_us = std::min(least_us, leg.min_us);
}

void Conversation::take_client_leg() {
  if (near_) return;
  const auto known = near_clients_.find(ends_[kClient].endpoint.address);
  if (known == near_clients_.end()) return;
  near_ = true;
  leg_to(kClient).add(known->second, true);
}

Cause Conversation::waited_for(const Exchange& exchange, std::int64_t excess_us, std::int64_t now_us) const {
  const std::int64_t there_us = leg_to(kServer).known_us();
  if (relayed()) return Cause::kUnknown;
  // the server acknowledged the request, and answered later
  if (exchange.acknowledged_us >= 0) return Cause::kServer;
  if (leg_to(kServer).min_us < 0) return Cause::kUnknown;
  if (beside_server()) return Cause::kServer;
  if (excess_us <= std::max(kJitterUs, there_us / 4)) return Cause::kTransfer;
  const std::int64_t over_us = path_.over_us(now_us);
  if (over_us < 0) return Cause::kUnknown;
  return over_us >= excess_us / 2   ? Cause::kSlowPath
         : over_us <= excess_us / 4 ? Cause::kServer
                                    : Cause::kUnknown;
}

}  // namespace tcplearn
