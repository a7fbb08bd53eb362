// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the emulated path: run on lists of packets, or between two TUN devices in real time.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "emulate/link.h"

namespace tcplearn {

namespace {

namespace em = emulate;

template <typename T>
T given(const nb::dict& from, const char* key) {
  return nb::cast<T>(from[key]);
}

template <typename T>
std::optional<T> perhaps(const nb::dict& from, const char* key) {
  if (!from.contains(key) || nb::object(from[key]).is_none()) return std::nullopt;
  return given<T>(from, key);
}

void read_dated(const nb::dict& j, em::Dated& to) {
  to.at_ns = given<std::int64_t>(j, "at_ns");
  to.lasts_ns = perhaps<std::int64_t>(j, "lasts_ns").value_or(em::kNever);
  to.every_ns = perhaps<std::int64_t>(j, "every_ns").value_or(em::kNever);
}

em::Changed read_changed(const nb::dict& j) {
  em::Changed c;
  read_dated(j, c);
  c.rate_mbps = perhaps<double>(j, "rate_mbps");
  c.loss = perhaps<double>(j, "loss");
  c.delay_ns = perhaps<std::int64_t>(j, "delay_ns");
  c.jitter_ns = perhaps<std::int64_t>(j, "jitter_ns");
  return c;
}

em::Bursts read_bursts(const nb::dict& j) {
  return {given<bool>(j, "in_time"), given<double>(j, "leave_good"), given<double>(j, "leave_bad"),
          given<double>(j, "loss_in_good"), given<double>(j, "loss_in_bad")};
}

em::Direction read_emulated(const nb::dict& j) {
  em::Direction d;
  d.rate_mbps = perhaps<double>(j, "rate_mbps");
  if (auto times_ns = perhaps<std::vector<std::int64_t>>(j, "opportunities_ns"))
    d.opportunities_ns = std::make_shared<const std::vector<std::int64_t>>(std::move(*times_ns));
  d.limit_packets = given<std::int64_t>(j, "limit_packets");
  d.limit_bytes = perhaps<std::int64_t>(j, "limit_bytes");
  if (const auto mbps = perhaps<double>(j, "policer_mbps"))
    d.policer = em::Policer{*mbps, given<std::int64_t>(j, "policer_bytes")};
  d.delay_ns = given<std::int64_t>(j, "delay_ns");
  d.jitter_ns = given<std::int64_t>(j, "jitter_ns");
  d.tail_ns = given<std::int64_t>(j, "tail_ns");
  d.distribution = given<std::string>(j, "distribution");
  d.correlation = given<double>(j, "correlation");
  d.jitter_reorders = given<bool>(j, "jitter_reorders");
  d.reorder = given<double>(j, "reorder");
  d.reorder_ns = given<std::int64_t>(j, "reorder_ns");
  d.loss = given<double>(j, "loss");
  if (const auto bursts = perhaps<nb::dict>(j, "bursts")) d.bursts = read_bursts(*bursts);
  d.slot_ns = perhaps<std::pair<std::int64_t, std::int64_t>>(j, "slot_ns");
  for (const nb::dict& change : given<std::vector<nb::dict>>(j, "changes"))
    d.changes.push_back(read_changed(change));
  for (const nb::dict& fade : given<std::vector<nb::dict>>(j, "fades"))
    read_dated(fade, d.fades.emplace_back());
  return d;
}

em::Hop read_hop(const nb::dict& j) {
  em::Hop hop{read_emulated(given<nb::dict>(j, "forward")), read_emulated(given<nb::dict>(j, "reverse")), {}};
  if (const auto drawn = perhaps<nb::dict>(j, "drawn_fades"))
    hop.drawn_fades = em::DrawnFades{given<std::pair<double, double>>(*drawn, "lasts_ns"),
                                     given<double>(*drawn, "apart_ns"), given<bool>(*drawn, "exponential"),
                                     given<bool>(*drawn, "forward"), given<bool>(*drawn, "reverse")};
  return hop;
}

nb::dict counts_of(const em::Counts& counts) {
  nb::dict dropped;
  const char* const names[em::kCauses] = {"", "queue", "policer", "random", "burst", "fade", "forced"};
  for (std::size_t i = 1; i < em::kCauses; ++i) dropped[names[i]] = counts.dropped[i];
  nb::dict out;
  out["packets"] = counts.packets;
  out["bytes"] = counts.bytes;
  out["delivered"] = counts.delivered;
  out["delivered_bytes"] = counts.delivered_bytes;
  out["dropped"] = dropped;
  out["refused"] = counts.refused;
  return out;
}

class EmulatedPath {
 public:
  EmulatedPath(const std::vector<nb::dict>& hops, std::uint64_t seed) : path_(read_all(hops), seed) {}

  nb::tuple run(Array<std::int64_t> arrives_ns, Array<std::int64_t> bytes, Array<bool> forward) {
    const std::size_t count = arrives_ns.size();
    if (bytes.size() != count || forward.size() != count)
      throw std::invalid_argument("columns of different lengths");
    std::vector<std::int64_t> due_ns(count);
    std::vector<std::uint8_t> cause(count);
    const auto take = [&](std::int64_t until_ns) {
      while (const auto outcome = path_.next(until_ns)) {
        due_ns[outcome->packet.handle] = outcome->due_ns;
        cause[outcome->packet.handle] = static_cast<std::uint8_t>(outcome->cause);
      }
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0 && arrives_ns.data()[i] < arrives_ns.data()[i - 1])
        throw std::invalid_argument("packets must be in the order of their times");
      take(arrives_ns.data()[i]);
      path_.enter(
          {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(bytes.data()[i]), forward.data()[i]},
          arrives_ns.data()[i]);
    }
    take(em::kNever);
    return nb::make_tuple(to_numpy(std::move(due_ns)), to_numpy(std::move(cause)));
  }

  nb::dict carry(int client, int server, int stop, std::uint32_t syns, std::uint32_t syn_acks,
                 std::int64_t spin_us) {
    em::LinkResult found;
    {
      nb::gil_scoped_release unlocked;
      found = em::carry(path_, {client, server, stop}, {syns, syn_acks}, spin_us * 1000);
    }
    nb::dict late, out;
    late["packets"] = found.lateness.count();
    late["p50"] = found.lateness.quantile_us(0.5);
    late["p99"] = found.lateness.quantile_us(0.99);
    late["max"] = found.lateness.most_us();
    out["forward"] = counts_of(found.counts[true]);
    out["reverse"] = counts_of(found.counts[false]);
    out["in_flight"] = found.in_flight;
    out["late_us"] = late;
    out["real_time"] = found.real_time;
    out["lasted_us"] = found.lasted_ns / 1000;
    return out;
  }

 private:
  static std::vector<em::Hop> read_all(const std::vector<nb::dict>& hops) {
    std::vector<em::Hop> out;
    for (const nb::dict& hop : hops) out.push_back(read_hop(hop));
    return out;
  }
  em::Path path_;
};

const char* handshake_name(const nb::bytes& packet) {
  switch (em::handshake_of(static_cast<const std::uint8_t*>(packet.data()), packet.size())) {
    case em::Handshake::kSyn:
      return "syn";
    case em::Handshake::kSynAck:
      return "syn-ack";
    default:
      return "";
  }
}

}  // namespace

void bind_emulate(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<EmulatedPath>(m, "EmulatedPath")
      .def(nb::init<const std::vector<nb::dict>&, std::uint64_t>(), "hops"_a, "seed"_a)
      .def("run", &EmulatedPath::run, "arrives_ns"_a, "bytes"_a, "forward"_a)
      .def("carry", &EmulatedPath::carry, "client"_a, "server"_a, "stop"_a, "syns"_a = 0, "syn_acks"_a = 0,
           "spin_us"_a = 0);
  m.def("handshake_of", &handshake_name, "packet"_a);
}

}  // namespace tcplearn
