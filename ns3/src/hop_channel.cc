// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "hop_channel.h"

#include <algorithm>
#include <cmath>

#include "links.h"
#include "ns3/data-rate.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

namespace tcplearn {

using ns3::Simulator;
using ns3::Time;

NS_OBJECT_ENSURE_REGISTERED(HopChannel);

namespace {

// random streams: of fades; of the reverse direction, to which 1 is added for the forward direction
constexpr std::int64_t kHopFadeStream = 5100, kHopStream = 5101;
constexpr double kMostDeviations = 4;  // as in netem's tables

double now_s() { return Simulator::Now().GetSeconds(); }

Time milliseconds(double ms) {
  return ns3::MicroSeconds(static_cast<std::uint64_t>(std::llround(std::max(ms, 0.0) * 1e3)));
}

// Returns the probability that a standard normal variable is smaller.
double normal_chance(double value) { return 0.5 * std::erfc(-value / std::sqrt(2.0)); }

// Returns a quantile of the standard normal distribution, by bisection.
double normal_quantile(double chance) {
  double low = -kMostDeviations, high = kMostDeviations;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (normal_chance(middle) < chance ? low : high) = middle;
  }
  return low;
}

// Returns a quantile of netem's Pareto distribution: shape 3, centred at 0, scaled by 4/3.
double pareto_quantile(double chance) {
  return std::min((std::pow(1 - chance, -1.0 / 3) - 1.5) * 4 / 3, kMostDeviations);
}

double exponential(double mean, double chance) { return -mean * std::log1p(-chance); }

void set_rate(const ns3::Ptr<ns3::PointToPointNetDevice>& device, const Direction& direction) {
  const double mbps = std::min(*direction.now(now_s()).rate_mbps, kAtOnceMbps);
  device->SetDataRate(ns3::DataRate(static_cast<std::uint64_t>(std::llround(mbps * 1e6))));
}

void set_rate_each(const ns3::Ptr<ns3::PointToPointNetDevice>& device, const Direction& direction,
                   double every_s) {
  set_rate(device, direction);
  if (std::isfinite(every_s))
    Simulator::Schedule(ns3::Seconds(every_s), &set_rate_each, device, direction, every_s);
}

}  // namespace

Fades::Fades(const Described& path, std::shared_ptr<Recorder> recorder) : recorder_(std::move(recorder)) {
  draw_->SetStream(kHopFadeStream);
  for (const std::size_t side : {0, 1}) {
    const Direction& d = side ? path.forward : path.reverse;
    for (const Dated& fade : d.fades)
      Simulator::Schedule(ns3::Seconds(fade.at_s), &Fades::begin, this, side, fade);
    drawn_sides_[side] = d.drawn_fades;
  }
  if (!path.drawn) return;
  drawn_ = *path.drawn;
  pause();
}

void Fades::begin(std::size_t side, Dated fade) {
  ++faded_[side];
  if (std::isfinite(fade.lasts_s)) Simulator::Schedule(ns3::Seconds(fade.lasts_s), &Fades::end, this, side);
  if (std::isfinite(fade.every_s))
    Simulator::Schedule(ns3::Seconds(fade.every_s), &Fades::begin, this, side, fade);
}

void Fades::end(std::size_t side) {
  --faded_[side];
  recorder_->faded_until = Simulator::Now();
}

void Fades::pause() {
  const double chance = draw_->GetValue(0, 1);
  const double pause_s =
      drawn_.exponential ? exponential(drawn_.apart_s, chance) : drawn_.apart_s * (0.5 + chance);
  Simulator::Schedule(ns3::Seconds(pause_s), &Fades::draw, this);
}

void Fades::draw() {
  const auto [low, high] = drawn_.lasts_s;
  const double lasts_s = low * std::pow(high / low, draw_->GetValue(0, 1));
  for (const std::size_t side : {0, 1})
    if (drawn_sides_[side]) begin(side, Dated{0, lasts_s, kInfinite});
  Simulator::Schedule(ns3::Seconds(lasts_s), &Fades::pause, this);
}

ns3::TypeId HopChannel::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::HopChannel")
                              .SetParent<ns3::PointToPointChannel>()
                              .SetGroupName("PointToPoint")
                              .AddConstructor<HopChannel>();
  return id;
}

void HopChannel::choose(const Direction& direction, bool forward, std::uint32_t source,
                        std::shared_ptr<const Fades> fades, std::shared_ptr<Recorder> recorder) {
  d_ = direction;
  forward_ = forward;
  source_ = source;
  fades_ = std::move(fades);
  recorder_ = std::move(recorder);
  draw_->SetStream(kHopStream + forward);
  if (d_.policer) tokens_ = d_.policer->second;
  if (d_.bursts && d_.bursts->in_time)
    state_ends_ = milliseconds(exponential(d_.bursts->leave_good, uniform()));
}

bool HopChannel::lost_in_burst(const LossBursts& b) {
  if (b.in_time) {
    while (state_ends_ <= Simulator::Now()) {
      bad_ = !bad_;
      // at least 1 us, so that the loop ends
      state_ends_ += std::max(milliseconds(exponential(bad_ ? b.leave_bad : b.leave_good, uniform())),
                              ns3::MicroSeconds(1));
    }
    return uniform() < (bad_ ? b.loss_in_bad : b.loss_in_good);
  }
  // as in netem, the state before the transition decides on the loss
  const bool found_bad = bad_;
  if (uniform() < (bad_ ? b.leave_bad : b.leave_good)) bad_ = !bad_;
  return uniform() < (found_bad ? b.loss_in_bad : b.loss_in_good);
}

// Returns whether the policer drops a packet: its bucket has too few tokens.
bool HopChannel::over_rate(std::uint32_t bytes) {
  const auto [mbps, most] = *d_.policer;
  tokens_ = std::min(tokens_ + (Simulator::Now() - filled_).GetSeconds() * mbps * 1e6 / 8, most);
  filled_ = Simulator::Now();
  if (tokens_ < bytes) return true;
  tokens_ -= bytes;
  return false;
}

bool HopChannel::lost(double rate) {
  const bool by_chance = rate > 0 && uniform() < rate;
  const bool in_burst = d_.bursts && rate <= 0 && lost_in_burst(*d_.bursts);
  return by_chance || in_burst || fades_->now(forward_);
}

double HopChannel::jitter(double jitter_ms) {
  if (jitter_ms <= 0) return 0;
  double chance = uniform();
  if (d_.correlation > 0) {  // of normal variables, so that the distribution stays that of the path
    last_normal_ = d_.correlation * last_normal_ +
                   std::sqrt(1 - d_.correlation * d_.correlation) * normal_quantile(chance);
    chance = normal_chance(last_normal_);
  }
  if (d_.distribution == "uniform") return jitter_ms * (2 * chance - 1);
  if (d_.distribution == "uniform-above") return jitter_ms * 2 * chance;
  return jitter_ms * (d_.distribution == "pareto" ? pareto_quantile(chance) : normal_quantile(chance));
}

// Returns when a packet arrives if packets arrive together in slots (slot_ms): not before the current
// slot. As in netem, a slot that is over by then is drawn anew, from the packet's entry or the last arrival,
// and if that is over too, from the packet's own arrival.
Time HopChannel::in_slot(Time arrives) {
  if (slot_ < arrives) {
    const auto [least, most] = *d_.slot_ms;
    slot_ = std::max(Simulator::Now(), last_) + milliseconds(least + (most - least) * uniform());
    if (slot_ < arrives) slot_ = arrives + milliseconds(least + (most - least) * uniform());
  }
  return std::max(arrives, slot_);
}

bool HopChannel::TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from,
                               Time transmission) {
  if (from != GetSource(source_)) return ns3::PointToPointChannel::TransmitStart(packet, from, transmission);
  const Changed has = d_.now(now_s());
  if ((d_.policer && over_rate(packet->GetSize())) || lost(*has.loss)) {
    recorder_->drops->add(packet, DroppedBy::kChannel);
    return true;  // the device treats the packet as sent
  }
  double ms = std::max(*has.delay_ms + jitter(*has.jitter_ms), 0.0);
  if (d_.tail_ms > 0) ms += exponential(d_.tail_ms, uniform());
  Time arrives = Simulator::Now() + transmission + milliseconds(ms);
  if (d_.reorder > 0 && uniform() < d_.reorder) {
    arrives += milliseconds(d_.reorder_ms);
  } else {
    if (!d_.jitter_reorders) arrives = std::max(arrives, last_);
    if (d_.slot_ms) arrives = in_slot(arrives);
    last_ = arrives;
  }
  return ns3::PointToPointChannel::TransmitStart(packet, from, arrives - Simulator::Now());
}

void follow_rate(const ns3::Ptr<ns3::PointToPointNetDevice>& device, const Direction& direction) {
  set_rate(device, direction);
  for (const Changed& change : direction.changes) {
    if (!change.rate_mbps) continue;
    for (const double at_s : {change.at_s, change.at_s + change.lasts_s})
      if (std::isfinite(at_s))
        Simulator::Schedule(ns3::Seconds(at_s), &set_rate_each, device, direction, change.every_s);
  }
}

}  // namespace tcplearn
