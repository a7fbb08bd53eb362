// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "moving_channel.h"

#include <algorithm>
#include <cmath>

#include "ns3/double.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

namespace tcplearn {

using ns3::Simulator;

NS_OBJECT_ENSURE_REGISTERED(MovingChannel);

namespace {
constexpr std::int64_t kDelayStream = 5000, kTailStream = 5001, kFadeStream = 5002;
}

ns3::TypeId MovingChannel::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::MovingChannel")
                              .SetParent<ns3::PointToPointChannel>()
                              .SetGroupName("PointToPoint")
                              .AddConstructor<MovingChannel>();
  return id;
}

void MovingChannel::choose(const Moving& moving, std::shared_ptr<Recorder> recorder) {
  moving_ = moving;
  recorder_ = std::move(recorder);
  draw_->SetStream(kDelayStream);
  tail_->SetStream(kTailStream);
  tail_->SetAttribute("Mean", ns3::DoubleValue(moving.tail_ms));
  fade_draw_->SetStream(kFadeStream);
  if (moving.fade_every_s > 0) clear();
}

// Ends a fade and schedules the next one. Pauses are exponential, durations of fades log-uniform.
void MovingChannel::clear() {
  faded_ = false;
  recorder_->faded_until = Simulator::Now();
  const double pause_s = -moving_.fade_every_s * std::log1p(-fade_draw_->GetValue(0, 1));
  Simulator::Schedule(ns3::Seconds(pause_s), &MovingChannel::fade, this);
}

void MovingChannel::fade() {
  faded_ = true;
  const auto [low, high] = moving_.fade_s;
  const double lasts_s = low * std::pow(high / low, fade_draw_->GetValue(0, 1));
  Simulator::Schedule(ns3::Seconds(lasts_s), &MovingChannel::clear, this);
}

ns3::Time MovingChannel::longer(bool forward) {
  double ms = draw_->GetValue(0, 2) * moving_.jitter_ms;
  if (moving_.tail_ms > 0) ms += tail_->GetValue();
  if (forward && moving_.step_ms > 0)
    ms += std::fmod(Simulator::Now().GetSeconds() / moving_.step_every_s, 2) >= 1 ? moving_.step_ms : 0;
  return ns3::MicroSeconds(static_cast<std::uint64_t>(std::llround(ms * 1e3)));
}

bool MovingChannel::TransmitStart(ns3::Ptr<const ns3::Packet> packet,
                                  ns3::Ptr<ns3::PointToPointNetDevice> from, ns3::Time transmission) {
  const bool forward = from == GetSource(0);
  if (faded_ || (!forward && draw_->GetValue(0, 1) < moving_.loss_back_rate)) {
    recorder_->drops->add(packet, DroppedBy::kChannel);
    return true;  // the device treats the packet as sent
  }
  const ns3::Time arrives = std::max(Simulator::Now() + transmission + longer(forward), last_[forward]);
  last_[forward] = arrives;
  return ns3::PointToPointChannel::TransmitStart(packet, from, arrives - Simulator::Now());
}

}  // namespace tcplearn
