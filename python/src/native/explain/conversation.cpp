// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "conversation.h"

#include <algorithm>
#include <array>

#include "ack_delay.h"

namespace tcplearn {
namespace {

// After this pause of a client without an answer, what it sends is a request of its own.
constexpr std::int64_t kOwnMessageUs = 1'000'000;
// A message of at most so many bytes needs no answer if the pause after its ACK is at least this: an event,
// or the acknowledgement of a message by the application (HTTP/2's of SETTINGS and PING).
constexpr std::int64_t kSmallMessageBytes = 128, kSmallMessageUs = 100'000;
// The acknowledgement of a PING of HTTP/2 is a record of so many bytes, that of SETTINGS is shorter.
constexpr std::uint32_t kAsideBytes = 46;
// A client that does not acknowledge data for so long is gone.
constexpr std::int64_t kGoneUs = 1'000'000;
constexpr std::size_t kMostExchanges = 64, kMostPieces = 64;

// Ports above 1023 of well-known services (IANA): databases, remote desktops, messages, HTTP.
bool is_service(std::uint16_t port) {
  constexpr std::array<std::uint16_t, 21> kPorts = {1433, 1521, 1883, 3306, 3389, 5222,  5432,
                                                    5671, 5672, 5900, 6379, 6443, 6667,  8000,
                                                    8080, 8443, 8883, 9092, 9200, 11211, 27017};
  return std::binary_search(kPorts.begin(), kPorts.end(), port);
}

}  // namespace

bool Conversation::is_guess(const Packet& first) {
  const bool from = is_service(first.source.port), to = is_service(first.destination.port);
  return !first.has(kSyn) && std::min(first.source.port, first.destination.port) >= 1024 && from == to;
}

unsigned Conversation::client_side(const Packet& first) {
  if (first.has(kSyn)) return first.has(kAck) ? 1 : 0;
  // handshake not captured: services listen on the lower port, or on a known one above those that need a
  // privilege
  const bool high = std::min(first.source.port, first.destination.port) >= 1024;
  if (high && !is_guess(first)) return is_service(first.source.port) ? 1 : 0;
  return first.source.port >= first.destination.port ? 0 : 1;
}

Conversation::Conversation(std::uint32_t number, const Packet& first, std::int64_t now_us, Path& path,
                           NearHosts& near_clients, const Candidates& candidates, Learned& learned)
    : number_(number),
      client_side_(client_side(first)),
      first_us_(now_us),
      last_us_(now_us),
      path_(path),
      near_clients_(near_clients),
      candidates_(candidates),
      learned_(learned) {
  ends_[client_side_ == 0 ? kClient : kServer].endpoint = first.source;
  ends_[client_side_ == 0 ? kServer : kClient].endpoint = first.destination;
  for (const unsigned end : {kClient, kServer}) ends_[end].earlier = learned.of(hosts(end));
  take_client_leg();
  if (first.has(kSyn) && !first.has(kAck)) options_ |= 4;
  if (is_guess(first)) options_ |= 8;
  // the options were not captured: assume SACK, which nearly all hosts permit
  if (!first.has(kSyn))
    for (Host& host : ends_) host.data.set_sack_permitted(true);
}

void Conversation::on_packet(unsigned side, const Packet& packet, std::int64_t now_us, ExplainedRows& out) {
  last_us_ = now_us;
  const unsigned end = side == client_side_ ? kClient : kServer;
  Host& me = ends_[end];
  path_.arrived(end, now_us);
  if (end == kServer) {
    no_hop_ = initial_ttl(packet.ttl);
    other_system_ = packet.ttl > 64;
    answers_ += packet.payload_bytes > 0 && answers_ < kEnoughAnswers ? 1 : 0;
    bare_acks_ = bare_acks_ || (packet.payload_bytes == 0 && packet.flags == kAck);
  }
  if (path_.ids_shared(end, number_, packet.ip_id, me.data.follows_id(packet.ip_id)))
    me.data.set_ids_useless();
  // a SYN only offers timestamps
  if (packet.has_timestamp && (!packet.has(kSyn) || packet.has(kAck))) options_ |= 2;
  if (packet.has(kSyn)) {
    me.scale = packet.window_scale;
    me.has_scale = true;
    ends_[1 - end].data.set_mss(packet.mss_option);
    if (packet.sack_permitted) {
      ends_[1 - end].data.set_sack_permitted(true);
      options_ |= 1;
    } else if (packet.has(kAck)) {  // the server declines
      for (Host& host : ends_) host.data.set_sack_permitted(false);
      options_ &= static_cast<std::uint8_t>(~1u);
    }
  }
  settle(kClient, now_us, false, out);
  settle(kServer, now_us, false, out);
  const bool begun = handshake_.rtt_us() >= 0;
  handshake_.on_packet(packet, end == kClient, now_us, leg_to(kServer), leg_to(kClient));
  if (!begun && handshake_.rtt_us() >= 0)
    for (Host& host : ends_) host.data.begin_with_rtt(handshake_.rtt_us());
  share_client_leg();
  path_.add_leg(direct());
  if (packet.has(kAck) && !packet.has(kRst)) on_ack(1 - end, packet, now_us);
  if (packet.has(kFin) || packet.has(kRst)) {
    keep_learned();
    closed_ = true;
  }
  if (packet.has(kRst)) {
    close_after(end, packet, now_us, out);
    return;
  }
  losses_.clear();
  if (packet.payload_bytes == 1 && me.window_closed_us >= 0 && me.window_opened_us < 0 &&
      me.data.probes_window(packet, path_.ids_in_row(end))) {
    give_requests(false, out);
    return;
  }
  const DataSide::Sent sent = me.data.on_sent(packet, now_us, leg_to(end), path_.ids_in_row(end), losses_);
  on_acked_again(end);
  if (end == kServer && sent.filled > 0 && !exchanges_.empty()) exchanges_.back().answer_bytes += sent.filled;
  if (sent.is_new) {
    on_new_data(end, packet, sent, now_us, out);
    no_progress(end, now_us);
  }
  if (packet.has(kFin)) close_after(end, packet, now_us, out);
  give_requests(false, out);
}

// A receiver may report a duplicate packet by its last byte. Then all its bytes had arrived before. (Of a
// packet that was new in part, the report begins where a segment of the sender did.)
void Conversation::arrived_whole(const Repaired& one, const DataSide::Acked& acked,
                                 std::vector<Repaired>& all) {
  if (acked.twice_from <= one.stream_end - one.bytes || acked.twice_to < one.stream_end) return;
  if (acked.twice_from >= one.stream_end) return;
  for (Repaired& other : all)
    if (other.packet == one.packet && other.all_copies == 1) other.spurious = other.certain = true;
}

// Takes an ACK of the data of `end`.
void Conversation::on_ack(unsigned end, const Packet& packet, std::int64_t now_us) {
  if (packet.has(kSyn)) return;
  Host& me = ends_[end];
  losses_.clear();
  marks_.clear();
  if (end == kServer)
    for (const Exchange& exchange : exchanges_)
      if (exchange.answered && exchange.end_us < 0) marks_.push_back({exchange.answer_to});
  const DataSide::Peer peer = ends_[1 - end].data.peer(packet, path_.ids_in_row(1 - end));
  const DataSide::Acked acked = me.data.on_ack(packet, peer, now_us, leg_to(end), marks_, losses_);
  if (acked.advanced && me.data.forecast) forecast(end, acked, now_us);
  auto mark = marks_.begin();
  if (end == kServer)
    for (Exchange& exchange : exchanges_)
      if (exchange.answered && exchange.end_us < 0) exchange.end_us = (mark++)->us;
  if (acked.twice_to > acked.twice_from) {
    for (Repaired& loss : me.settling) {
      if (loss.spurious || (loss.all_copies > 1 && loss.certain)) continue;
      if (loss.stream_end <= acked.twice_from || loss.stream_end > acked.twice_to) continue;
      // if the first transmission arrived, each copy is a duplicate
      if (++loss.duplicates < loss.all_copies) continue;
      loss.spurious = loss.certain = true;
      me.data.count_needless(loss.packet, loss.all_copies);
      arrived_whole(loss, acked, me.settling);
    }
    for (const Repaired& loss : losses_)
      if (loss.spurious) arrived_whole(loss, acked, losses_);
  }
  for (const Repaired& loss : losses_) {
    if (loss.spurious && end == kClient) begin_earlier(loss);
    if (me.settling.size() < kMostSettling) me.settling.push_back(loss);
  }
  if (acked.advanced) {
    progress_us_ = now_us;
    me.last_ack = acked;
    me.last_ack_repaired = !losses_.empty();
    // packets sent after unacknowledged data may not echo this ACK (RFC 7323, 4.3)
    const DataSide& other = ends_[1 - end].data;
    me.last_ack_echoed = packet.has_timestamp && other.unwrap(packet.seq) <= other.una();
    me.last_ack_ts = packet.ts_value;
    if (end == kClient && acked.pure && acked.several && acked.rtt_us >= 0 && !relayed())
      path_.add(now_us, acked.rtt_us, acked.small);
    if (end == kClient && acked.pure && !exchanges_.empty()) {
      Exchange& now = exchanges_.back();
      // a sequence number beyond all captured data of the server: data before it was lost
      const DataSide& answers = ends_[kServer].data;
      const bool before = answers.unwrap(packet.seq) <= answers.sent_to();
      if (!before) forget_spurious();
      if (before && !now.answered && now.acknowledged_us < 0 && me.data.una() >= now.request_to)
        now.acknowledged_us = now_us;
    }
  }
  follow_window(end, packet, now_us);
}

// Follows the receive window that the other end announces to `end`.
void Conversation::follow_window(unsigned end, const Packet& packet, std::int64_t now_us) {
  Host& me = ends_[end];
  const Host& other = ends_[1 - end];
  const bool scaled = me.has_scale && other.has_scale && !packet.has(kSyn);
  const std::int64_t window = std::int64_t{packet.window} << (scaled ? std::min(other.scale, 14u) : 0);
  const std::int64_t least = scaled ? std::max<std::int64_t>(std::min(me.data.largest(), 1460u), 1) : 1;
  if (window < least) {
    if (me.window_closed_us < 0 && !me.data.outstanding()) me.window_closed_us = now_us;
    me.window_opened_us = -1;
  } else if (me.window_closed_us >= 0 && me.window_opened_us < 0) {
    me.window_opened_us = now_us;
  }
}

void Conversation::on_new_data(unsigned end, const Packet& packet, const DataSide::Sent& sent,
                               std::int64_t now_us, ExplainedRows& out) {
  Host& me = ends_[end];
  if (!me.data.forecast && candidates_.size() > 0) {
    me.data.forecast = std::make_unique<Forecast>(candidates_, path_.ticks[end], me.earlier.get());
    me.earlier = nullptr;
    Fates none;  // a connection's timer begins with the handshake's RTT
    if (handshake_.rtt_us() >= 0)
      me.data.forecast->on_ack(now_us, handshake_.rtt_us(), 0, nullptr, {}, true, none);
  }
  if (me.data.forecast) me.data.forecast->on_sent(now_us, me.data.out());
  if (end == kServer) {
    if (after_fin(packet, sent, now_us)) {
      last_sender_ = end;
      return;
    }
    const bool deferring = may_be_own(packet, sent, now_us, out);
    if (closing_) closing_->deferring = deferring;
    if (closing_ && !deferring && closing_->over) {
      last_sender_ = end;
      return;
    }
  } else {
    settle_closing(sent.to - sent.from, out);
    // what the client sent before a pause, and the server did not answer, needed no answer
    const bool pending = !exchanges_.empty() && !exchanges_.back().answered;
    const bool small = pending && exchanges_.back().request_bytes() <= kSmallMessageBytes;
    if (pending && (after_pause(kClient, sent, now_us, small ? kSmallMessageUs : kOwnMessageUs) ||
                    after_unacked_pause(sent, now_us, small ? kMostDelayUs : kOwnMessageUs))) {
      passed_over_ = std::make_unique<Exchange>(std::move(exchanges_.back()));
      exchanges_.pop_back();
    }
  }
  // the last answer continues, so its end is not known yet
  const bool crossed = crosses(end, packet);
  if (crossed || (end == kServer && goes_on(end))) {
    Exchange& last = crossed ? exchanges_[exchanges_.size() - 2] : exchanges_.back();
    if (last.end_us >= 0 && after_pause(kServer, sent, now_us, Closing::kLeastPauseUs)) {
      last.before_pause = last.answer_end();
      last.resumed_us = now_us;
    }
    last.end_us = -1;
  }
  const bool window = me.window_closed_us >= 0;
  if (window && me.window_opened_us >= 0) {
    if (now_us - me.window_opened_us <= leg_to(end).known_us() + kPromptUs)
      wait(end, Cause::kWindowClosed, End::kAck, me.window_closed_us, me.window_opened_us, out);
    me.window_closed_us = me.window_opened_us = -1;
  } else if (!window && sent.first_out && (last_sender_ == end || crossed || goes_on(end))) {
    const std::size_t spans = crossed ? exchanges_.back().spans.size() : 0;
    own_time(end, packet, sent, now_us, out);
    if (crossed) exchanges_.back().keep(spans);  // the next request did not wait for this
  } else if (!window && !sent.first_out && end == kServer && goes_on(end)) {
    paused(sent, now_us, out);
  }
  if (end == kClient && is_aside(packet, now_us)) {
    exchanges_.back().aside_us = now_us;
  } else if (end == kClient) {
    on_request(sent, now_us);
  } else {
    on_answer(packet, sent, now_us, out);
  }
  if (closing_) closing_->deferring = false;
  last_sender_ = end;
}

// Returns whether the client acknowledges a message of the server under TLS (HTTP/2's SETTINGS or PING),
// while the request that it sent before is under way.
bool Conversation::is_aside(const Packet& packet, std::int64_t now_us) const {
  return goes_on(kClient) && packet.tls && packet.payload_bytes <= kAsideBytes && last_sender_ == kServer &&
         now_us - ends_[kServer].data.last_sent_us() <= kPromptUs;
}

void Conversation::on_request(const DataSide::Sent& sent, std::int64_t now_us) {
  const bool pending = !exchanges_.empty() && !exchanges_.back().answered;
  if (!pending || sent.restarts) {
    if (pending) exchanges_.pop_back();  // its bytes cannot be compared with these
    exchanges_.emplace_back();
    exchanges_.back().start_us = now_us;
    exchanges_.back().request_from = sent.from;
  }
  Exchange& now = exchanges_.back();
  now.grow(sent.to, now_us);
  if (now.pieces.size() < kMostPieces) now.pieces.push_back({sent.from, now_us});
}

void Conversation::on_answer(const Packet& packet, const DataSide::Sent& sent, std::int64_t now_us,
                             ExplainedRows& out) {
  if (exchanges_.empty()) return;  // the server sent data first
  Exchange* exchange = &exchanges_.back();
  const std::int64_t acked = acked_requests(packet);
  if (!exchange->answered && acked <= exchange->request_from && packet.has(kAck)) {
    // this data was sent before the request arrived, so it belongs to the previous answer
    exchange->pipelined = true;
    // the message had a slow answer, unless this is a message of the server's own
    const bool own = closing_ && closing_->deferring;
    const bool late = passed_over_ && !own && acked >= passed_over_->request_to;
    if (late) exchanges_.insert(exchanges_.end() - 1, std::move(*passed_over_));
    passed_over_.reset();
    if (exchanges_.size() < 2) return;
    exchange = &exchanges_[exchanges_.size() - 2];
    exchange->pipelined = true;
    if (late) {
      await_answer(*exchange, sent, now_us, out);
      exchange->answered = true;
    }
  } else if (!exchange->answered) {
    // the answer to the first of several pending requests
    passed_over_.reset();
    Exchange rest;
    const bool several = acked < exchange->request_to && exchange->split(acked, rest);
    await_answer(*exchange, sent, now_us, out);
    exchange->answered = true;
    if (several) {
      exchanges_.push_back(std::move(rest));
      exchange = &exchanges_[exchanges_.size() - 2];
    }
  }
  if (exchange->first_answer_us < 0) exchange->first_answer_us = now_us;
  exchange->answer_to = sent.to;
  exchange->end_us = -1;
  exchange->answer_bytes += sent.to - sent.from;
}

void Conversation::give_requests(bool all, ExplainedRows& out) {
  while (!exchanges_.empty()) {
    Exchange& first = exchanges_.front();
    // until the next request is answered, this answer may continue
    if (!all && (exchanges_.size() < 2 || !exchanges_[1].answered)) return;
    const bool ready =
        first.end_us >= 0 && ends_[kClient].settling.empty() && ends_[kServer].settling.empty();
    if (!all && !ready && exchanges_.size() <= kMostExchanges) return;
    if (first.answered && first.end_us >= first.start_us) {
      close_stall(kClient, out);
      close_stall(kServer, out);
      // if each ACK of the client came with its next request, the client's pauses are in all its round trips
      take_client_leg();
      const Leg& leg = leg_to(kClient);
      out.add(first.row(number_, leg.pure ? leg.known_us() : 0, relayed()));
    }
    exchanges_.pop_front();
  }
}

bool Conversation::gone(const Exchange& exchange) const {
  return exchange.answered && exchange.end_us < 0 && exchange.before_pause.us >= 0 &&
         ends_[kServer].data.una() <= exchange.before_pause.to && last_us_ - exchange.resumed_us >= kGoneUs;
}

void Conversation::finish(ExplainedRows& out) {
  if (may_be_closing() && !exchanges_.empty() && gone(exchanges_.back())) closing_->stalls.clear();
  settle_closing(Closing::kMostBytes + 1, out);
  for (Host& host : ends_) host.data.finish(host.settling);
  for (const unsigned end : {kClient, kServer}) settle(end, last_us_, true, out);
  for (const unsigned end : {kClient, kServer}) close_stall(end, out);
  if (const auto stall = handshake_.stall(leg_to(kServer), leg_to(kClient))) emit(*stall, out);
  const DataSide& answers = ends_[kServer].data;
  for (Exchange& exchange : exchanges_) {
    if (!exchange.answered || exchange.end_us >= 0) continue;
    // the capture may end before the ACK of the last bytes; or the client was gone when they were sent
    if (gone(exchange)) {
      exchange.end_answer(exchange.before_pause);
    } else {
      exchange.end_us = answers.last_sent_us();
    }
  }
  give_requests(true, out);
  const DataSide& requests = ends_[kClient].data;
  ConnectionRow row;
  row.connection = number_;
  row.handshake_us = handshake_.duration_us();
  row.first_us = first_us_;
  row.last_us = last_us_;
  row.to_client_us = leg_to(kClient).pure ? leg_to(kClient).min_us : -1;
  row.to_server_us = leg_to(kServer).min_us;
  row.client_segments = requests.segments;
  row.server_segments = answers.segments;
  row.resent_segments = requests.resent + answers.resent;
  row.needless_segments = requests.needless + answers.needless;
  row.client_needless_segments = requests.needless;
  row.client_bytes = requests.bytes;
  row.server_bytes = answers.bytes;
  row.options = options_;
  if (requests.forecast) row.client_spurious = requests.forecast->spurious();
  if (answers.forecast) row.server_spurious = answers.forecast->spurious();
  row.client = to_string(ends_[kClient].endpoint);
  row.server = to_string(ends_[kServer].endpoint);
  out.add(row);
}

}  // namespace tcplearn
