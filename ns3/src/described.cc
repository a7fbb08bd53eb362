// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "described.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "links.h"

namespace tcplearn {
namespace {

using nlohmann::json;

constexpr double kSame = 1e-9;  // s: dates that differ by less are equal
constexpr std::uint32_t kPacketBits = 8 * 1500, kDefaultPackets = 100;

double share(const json& j, const char* key) { return j.at(key).get<double>() / 100; }

std::string limit(const json& j, double rate_mbps) {
  if (!std::isfinite(rate_mbps)) return kRoomy;
  if (j.contains("queue_bytes")) return std::to_string(j.at("queue_bytes").get<std::uint32_t>()) + "B";
  if (j.contains("queue_ms")) {
    const double n = std::ceil(j.at("queue_ms").get<double>() * rate_mbps * 1e3 / kPacketBits);
    return packets(static_cast<std::uint32_t>(std::max(1.0, n)));
  }
  return packets(j.value("queue_packets", kDefaultPackets));
}

LossBursts read_bursts(const json& j) {
  LossBursts b{};
  b.in_time = j.at("kind") == "time";
  b.leave_good = b.in_time ? j.at("good_ms").get<double>() : share(j, "to_bad_percent");
  b.leave_bad = b.in_time ? j.at("bad_ms").get<double>() : share(j, "to_good_percent");
  b.loss_in_good = share(j, "loss_in_good_percent");
  b.loss_in_bad = share(j, "loss_in_bad_percent");
  return b;
}

Direction read_direction(const json& j) {
  Direction d;
  d.rate_mbps = j.value("rate_mbps", kInfinite);
  d.queue_limit = limit(j, d.rate_mbps);
  if (j.contains("policer_mbps"))
    d.policer = {j.at("policer_mbps").get<double>(), 1000 * j.at("policer_kb").get<double>()};
  j.at("delay_ms").get_to(d.delay_ms);
  j.at("jitter_ms").get_to(d.jitter_ms);
  j.at("tail_ms").get_to(d.tail_ms);
  j.at("distribution").get_to(d.distribution);
  j.at("jitter_reorders").get_to(d.jitter_reorders);
  j.at("reorder_ms").get_to(d.reorder_ms);
  d.correlation = share(j, "correlation_percent");
  d.reorder = share(j, "reorder_percent");
  d.loss = share(j, "loss_percent");
  if (j.contains("bursts")) d.bursts = read_bursts(j.at("bursts"));
  if (j.contains("slot_ms")) d.slot_ms = j.at("slot_ms").get<std::pair<double, double>>();
  return d;
}

Dated read_dated(const json& j) {
  return {j.at("at_s").get<double>(), j.value("lasts_s", kInfinite), j.value("every_s", kInfinite)};
}

void read_change(const json& j, const char* side, Direction& to) {
  if (!j.contains(side)) return;
  const json& given = j.at(side);
  const auto take = [&](const char* key) -> std::optional<double> {
    if (!given.contains(key)) return std::nullopt;
    return given.at(key).get<double>();
  };
  Changed c;
  static_cast<Dated&>(c) = read_dated(j);
  c.rate_mbps = take("rate_mbps");
  c.delay_ms = take("delay_ms");
  c.jitter_ms = take("jitter_ms");
  if (const auto percent = take("loss_percent")) c.loss = *percent / 100;
  to.changes.push_back(c);
}

}  // namespace

bool Dated::holds(double now_s) const {
  const double at = std::isfinite(every_s) ? std::fmod(now_s + kSame, every_s) : now_s + kSame;
  return at >= at_s && at < at_s + lasts_s;
}

Changed Direction::now(double now_s) const {
  Changed out;
  out.rate_mbps = rate_mbps;
  out.delay_ms = delay_ms;
  out.jitter_ms = jitter_ms;
  out.loss = loss;
  for (const Changed& c : changes) {  // in the order of their starts
    if (!c.holds(now_s)) continue;
    if (c.rate_mbps) out.rate_mbps = c.rate_mbps;
    if (c.delay_ms) out.delay_ms = c.delay_ms;
    if (c.jitter_ms) out.jitter_ms = c.jitter_ms;
    if (c.loss) out.loss = c.loss;
  }
  return out;
}

Described read_described(const json& j) {
  Described out{read_direction(j.at("forward")), read_direction(j.at("reverse")), std::nullopt};
  for (const json& change : j.at("change")) {
    read_change(change, "forward", out.forward);
    read_change(change, "reverse", out.reverse);
  }
  for (Direction* d : {&out.forward, &out.reverse})
    std::stable_sort(d->changes.begin(), d->changes.end(),
                     [](const Changed& a, const Changed& b) { return a.at_s < b.at_s; });
  for (const json& fade : j.at("fade")) {
    const auto sides = fade.at("sides").get<std::string>();
    if (sides != "reverse") out.forward.fades.push_back(read_dated(fade));
    if (sides != "forward") out.reverse.fades.push_back(read_dated(fade));
  }
  if (j.contains("drawn_fades")) {
    const json& drawn = j.at("drawn_fades");
    const auto sides = drawn.at("sides").get<std::string>();
    out.forward.drawn_fades = sides != "reverse";
    out.reverse.drawn_fades = sides != "forward";
    out.drawn = DrawnFades{drawn.at("lasts_s").get<std::pair<double, double>>(),
                           drawn.at("apart_s").get<double>(), drawn.at("pauses") == "exponential"};
  }
  return out;
}

}  // namespace tcplearn
