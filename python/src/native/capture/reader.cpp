// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "reader.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "connection.h"
#include "interface.h"
#include "packet.h"
#include "pcap_file.h"
#include "reader_warnings.h"
#include "remedy.h"
#include "window.h"

namespace tcplearn {
namespace {

// The time for which late packets of an ended connection are absorbed, as in Linux's TIME-WAIT.
constexpr std::int64_t kLingerUs = 60'000'000;
constexpr std::size_t kPacketsPerCall = std::size_t{1} << 18;
// A batch ends once this many flows have ended in it, whose state is kept until it has been read.
constexpr std::size_t kEndedPerCall = 256;
// With at least this many data packets, a missing side, or no ACK without data, gives a warning.
constexpr std::uint64_t kManyPackets = 20;

struct Key {
  Endpoint low, high;
  bool operator==(const Key& o) const { return low == o.low && high == o.high; }
};

Key key_of(const Packet& p) {
  return p.source < p.destination ? Key{p.source, p.destination} : Key{p.destination, p.source};
}

struct KeyHash {
  static std::uint64_t mix(std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 32);
  }
  std::size_t operator()(const Key& k) const {
    const std::uint64_t ports = (static_cast<std::uint64_t>(k.low.port) << 16) | k.high.port;
    std::uint64_t h = mix(ports, k.low.address.low);
    h = mix(h, k.high.address.low);
    if (k.low.v6) h = mix(mix(h, k.low.address.high), k.high.address.high);
    return h;
  }
};

std::unique_ptr<ByteSource> open_source(const std::string& path, const std::string& name) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) throw TraceError(name + ": cannot be opened: " + std::strerror(errno));
  return std::make_unique<ByteSource>(file);
}

}  // namespace

struct CaptureReader::State {
  struct Pair {  // a pair of endpoints
    std::unique_ptr<Connection> live;
    Remains remains;  // valid if there is no live connection
  };
  using Table = std::unordered_map<Key, Pair, KeyHash>;

  State(std::unique_ptr<Frames> from, std::string source_name, const ReaderOptions& reader_options)
      : name(std::move(source_name)),
        options(reader_options),
        choice(SenderChoice::parse(reader_options.sender)),
        frames(std::move(from)) {}

  bool next(Batch& out, std::size_t max_rows);
  void hold(const Frame& frame);
  void take(const Packet& packet, std::int64_t time_us, Batch& out);
  std::int64_t relative_time(std::int64_t time_us);
  void warn_of_packets();
  void warn_of_missing_acks();
  // Returns the packet's connection, or null for a late packet of an ended connection.
  Connection* connection(const Packet& packet, Batch& out);
  void end(Table::value_type& entry, Batch& out);
  void sweep(Batch& out);
  void finish(Batch& out);
  [[noreturn]] void fail(const std::string& what) const { throw TraceError(name + ": " + what); }

  std::string name;
  ReaderOptions options;
  SenderChoice choice;
  std::unique_ptr<Frames> frames;
  Table table;
  std::unordered_map<std::uint32_t, const Connection*> alive;  // by connection index
  std::unordered_map<std::uint32_t, FlowInfo> ended;
  Table::value_type* last_entry = nullptr;  // consecutive packets often belong to the same connection
  Window window;
  std::int64_t first_us = 0, newest_us = 0, farthest_back_us = 0;  // times of packets read
  std::int64_t now_us = 0, next_sweep_us = 0;                      // of the latest processed packet
  std::uint32_t connections = 0;
  std::uint64_t acked_captured = 0;
  std::uint64_t below_clock = 0, first_back = 0, clock_steps = 0;
  bool both_directions = false, any_chosen = false, read = false, finished = false;
  Stats stats;
  std::vector<std::string> warnings;
};

std::int64_t CaptureReader::State::relative_time(std::int64_t time_us) {
  if (stats.packets == 1) first_us = time_us;
  const std::int64_t t = time_us - first_us;
  if (t >= newest_us) return newest_us = t;
  const std::int64_t back = newest_us - t;
  if (back > Window::kSpanUs && frames->from_clock()) {  // the clock was set back
    first_us -= back;
    ++clock_steps;
    return newest_us;
  }
  if (back > Window::kSpanUs && stats.tcp_packets == 0) {  // nothing was timed yet
    first_us -= back;
    return newest_us;
  }
  if (back > Window::kSpanUs) {
    fail("packet " + std::to_string(stats.packets) + ": time goes back by " + std::to_string(back) +
         " us; sort the capture first: reordercap " + shell_word(name) + " sorted.pcap");
  }
  farthest_back_us = std::max(farthest_back_us, back);
  if (first_back == 0) first_back = stats.packets;
  return std::max<std::int64_t>(t, 0);
}

Connection* CaptureReader::State::connection(const Packet& packet, Batch& out) {
  const Key key = key_of(packet);
  bool made = false;
  if (last_entry == nullptr || !(last_entry->first == key)) {
    const auto found = table.try_emplace(key);
    last_entry = &*found.first;
    made = found.second;
  }
  Pair& pair = last_entry->second;
  if (!made) {
    if (pair.live) {
      if (!pair.live->replaced_by(packet)) return pair.live.get();
      end(*last_entry, out);
    } else if (!pair.remains.replaced_by(packet, packet.source == key.low ? 0u : 1u)) {
      return nullptr;
    }
  }
  pair.live = std::make_unique<Connection>(packet, connections, now_us);
  alive.emplace(connections++, pair.live.get());
  return pair.live.get();
}

void CaptureReader::State::end(Table::value_type& entry, Batch& out) {
  const Connection& connection = *entry.second.live;
  for (unsigned side = 0; side < 2; ++side) {
    FlowInfo info = connection.info(side, choice);
    any_chosen = any_chosen || info.chosen;
    out.ended.push_back(info.id);
    ended.emplace(info.id, std::move(info));
  }
  const std::uint64_t data = connection.data_packets();
  stats.connections_with_data += data > 0 ? 1 : 0;
  stats.one_way_connections += data >= kManyPackets && !connection.both_sides_seen() ? 1 : 0;
  both_directions = both_directions || connection.both_sides_seen();
  acked_captured += connection.acked_captured();
  if (options.observer) options.observer->on_end(connection.flow_id(0) / 2);
  alive.erase(connection.flow_id(0) / 2);
  entry.second.remains = connection.remains(entry.first.low);
  entry.second.live.reset();
}

void CaptureReader::State::sweep(Batch& out) {
  next_sweep_us = now_us + std::max<std::int64_t>(std::min(options.idle_us, kLingerUs) / 4, 1);
  for (auto it = table.begin(); it != table.end();) {
    Pair& pair = it->second;
    if (pair.live && now_us - pair.live->last_us() > options.idle_us) end(*it, out);
    if (!pair.live && now_us - pair.remains.last_us > std::min(kLingerUs, options.idle_us)) {
      it = table.erase(it);
    } else {
      ++it;
    }
  }
  last_entry = nullptr;
  std::sort(out.ended.begin(), out.ended.end());
}

void CaptureReader::State::hold(const Frame& frame) {
  ++stats.packets;
  const std::int64_t time_us = relative_time(frame.time_us);
  Packet& packet = window.spare();
  packet.forget_options();
  switch (decode(frames->link_type(), frame.data, frame.captured, frame.wire, packet)) {
    case Decoded::kTcp:
      break;
    case Decoded::kOther:
      ++stats.other_packets;
      return;
    case Decoded::kFragment:
      ++stats.fragments;
      return;
    case Decoded::kShort:
      // a frame that the snap length did not cut has no room for a TCP header, so it is another protocol's
      ++(frame.captured < frame.wire ? stats.short_packets : stats.other_packets);
      return;
    case Decoded::kMalformed:
      ++stats.malformed_packets;
      return;
  }
  ++stats.tcp_packets;
  stats.cut_options += packet.options_cut ? 1 : 0;
  stats.data_packets += packet.payload_bytes > 0 ? 1 : 0;
  stats.pure_acks += packet.seq_length() == 0 && packet.has(kAck) && !packet.has(kRst) ? 1 : 0;
  stats.sorted_packets += window.push(time_us) ? 1 : 0;
}

void CaptureReader::State::take(const Packet& packet, std::int64_t time_us, Batch& out) {
  stats.clamped_packets += time_us < now_us ? 1 : 0;
  now_us = std::max(now_us, time_us);
  if (now_us >= next_sweep_us) sweep(out);
  Connection* link = connection(packet, out);
  if (link == nullptr) return;
  const bool heeded = link->on_packet(packet, now_us, options.every_ack, out);
  if (heeded && options.observer)
    options.observer->on_packet(link->flow_id(0) / 2, link->side_of(packet), packet, now_us);
  if (link->over()) end(*last_entry, out);
}

void CaptureReader::State::finish(Batch& out) {
  finished = true;
  std::vector<Table::value_type*> left;
  for (auto& entry : table) {
    if (entry.second.live) left.push_back(&entry);
  }
  std::sort(left.begin(), left.end(), [](const auto* a, const auto* b) {
    return a->second.live->flow_id(0) < b->second.live->flow_id(0);
  });
  for (auto* entry : left) end(*entry, out);

  const std::string damage = frames->damage() + remedy(frames->damage(), name);
  if (stats.packets == 0)
    fail(!damage.empty()  ? "nothing in it can be read: " + damage
         : frames->live() ? "no packet came"
                          : "there are no packets in it");
  const std::string after =
      damage.empty() ? "" : " (" + damage + " after packet " + std::to_string(stats.packets) + ")";
  if (stats.tcp_packets == 0) {
    if (stats.short_packets > 0)
      fail("the snap length cut every TCP header away; capture again with at least 96 bytes a packet" +
           after);
    fail("there is no TCP in its " + count_of(stats.packets, "packet") + after);
  }
  if (acked_captured == 0 && !options.observer) {
    fail(both_directions
             ? "no ACK in it acknowledges data that is in it too, so there is no round trip to see" + after
             : "it holds only one direction of every TCP connection, so there is no round trip to see; "
               "capture where both pass" +
                   after);
  }
  if (!damage.empty()) {
    warnings.push_back("read up to packet " + std::to_string(stats.packets) + " only: " + damage);
  }
  for (std::string& line : frames->warnings()) warnings.push_back(std::move(line));
  warn_of_packets();
  warn_of_missing_acks();
  if (!any_chosen) warnings.push_back("no connection has the requested sender: " + options.sender);
}

void CaptureReader::State::warn_of_packets() {
  if (stats.sorted_packets > 0) {
    warnings.push_back(count_of(stats.sorted_packets, "packet") + " out of order by up to " +
                       std::to_string(farthest_back_us) + " us, the first of them packet " +
                       std::to_string(first_back) + ": sorted by their own times" +
                       (stats.clamped_packets > 0 ? ", but for " + std::to_string(stats.clamped_packets) +
                                                        " that take the time before them"
                                                  : ""));
  }
  if (clock_steps > 0) {
    warnings.push_back("the clock was set back " + count_of(clock_steps, "time") +
                       ": round trips across that are too short");
  }
  if (below_clock > 0) {
    warnings.push_back(count_of(below_clock, "round trip") +
                       " below the resolution of the capture's clock: taken as 1 us");
  }
  for (std::string& line : warnings_of_left_out(stats)) warnings.push_back(std::move(line));
}

void CaptureReader::State::warn_of_missing_acks() {
  const bool filtered = !frames->from_clock();  // possibly filtered
  if (filtered && stats.data_packets >= kManyPackets && stats.pure_acks == 0) {
    warnings.push_back("there is no ACK without data beside " + count_of(stats.data_packets, "packet") +
                       " with data: a filter left them out, and round trips are few or too long; capture "
                       "again without a filter on lengths or flags");
  }
  if (stats.one_way_connections > 0) {
    warnings.push_back(
        std::to_string(stats.one_way_connections) + " of " +
        count_of(stats.connections_with_data, "connection") +
        " with data show one direction only: their ACKs were filtered out or went another way; "
        "capture where both directions pass, without a filter on one host as source");
  }
}

bool CaptureReader::State::next(Batch& out, std::size_t max_rows) {
  out.clear();
  out.events.wanted = options.events;
  if (finished) return false;
  using Clock = std::chrono::steady_clock;
  const bool live = frames->live();
  const auto over = live ? Clock::now() + std::chrono::milliseconds(kWaitMs) : Clock::time_point{};
  Frame frame;
  for (std::size_t i = 0; i < kPacketsPerCall && out.size() < max_rows && out.ended.size() < kEndedPerCall;
       ++i) {
    if (live && frames->waited() && Clock::now() > over) break;
    if (const Window::Held* held = window.pop(read)) {
      take(held->packet, held->time_us, out);
      continue;
    }
    if (read) {
      below_clock += out.below_clock;
      finish(out);
      return true;
    }
    const Got got = frames->next(frame);
    if (got == Got::kNothingYet) break;
    if (got == Got::kFrame) {
      hold(frame);
    } else {
      read = true;
    }
  }
  below_clock += out.below_clock;
  return true;
}

CaptureReader::CaptureReader(const std::string& path, const std::string& name, const ReaderOptions& options)
    : CaptureReader(open_source(path, name), name, options) {}

CaptureReader::CaptureReader(std::unique_ptr<ByteSource> source, const std::string& name,
                             const ReaderOptions& options)
    : state_(std::make_unique<State>(std::make_unique<PcapFile>(std::move(source), name), name, options)) {}

CaptureReader::CaptureReader(const void* data, std::size_t size, const std::string& name,
                             const ReaderOptions& options)
    : CaptureReader(std::make_unique<ByteSource>(data, size), name, options) {}

CaptureReader CaptureReader::of_pipe(int descriptor, const std::string& head, const std::string& name,
                                     const ReaderOptions& options) {
  return {std::make_unique<ByteSource>(descriptor, head), name, options};
}

CaptureReader CaptureReader::of_interface(const std::string& name, const ReaderOptions& options) {
  CaptureReader out;
  out.state_ = std::make_unique<State>(std::make_unique<Interface>(name), name, options);
  return out;
}

CaptureReader::CaptureReader() = default;
CaptureReader::CaptureReader(CaptureReader&&) noexcept = default;
CaptureReader::~CaptureReader() = default;

bool CaptureReader::next(Batch& out, std::size_t max_rows) { return state_->next(out, max_rows); }

FlowInfo CaptureReader::flow(std::uint32_t id) const {
  const auto gone = state_->ended.find(id);
  if (gone != state_->ended.end()) return gone->second;
  const auto live = state_->alive.find(id / 2);
  if (live == state_->alive.end()) throw std::out_of_range("no flow " + std::to_string(id));
  return live->second->info(id % 2, state_->choice);
}

void CaptureReader::stop() { state_->read = true; }

bool CaptureReader::finished() const { return state_->finished; }

bool CaptureReader::live() const { return state_->frames->live(); }

void CaptureReader::release(std::uint32_t id) { state_->ended.erase(id); }

Stats CaptureReader::stats() const {
  Stats s = state_->stats;
  s.connections_alive = state_->alive.size();
  s.bytes_read = state_->frames->bytes_read();
  s.bytes_total = state_->frames->bytes_total();
  return s;
}

PacketObserver* CaptureReader::observer() const { return state_->options.observer.get(); }

std::vector<std::string> CaptureReader::warnings() const { return state_->warnings; }

}  // namespace tcplearn
