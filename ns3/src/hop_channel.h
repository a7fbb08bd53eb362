// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A link with the delay and the losses of one direction of a described path (docs/paths.md). Packets of
// the other direction pass without delay. Random values come from separate streams. The fades (periods in
// which the path delivers nothing) have their own stream too, so every algorithm meets the same fades.
#ifndef TCPLEARN_NS3_HOP_CHANNEL_H
#define TCPLEARN_NS3_HOP_CHANNEL_H

#include <array>
#include <memory>

#include "described.h"
#include "ns3/net-device.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/random-variable-stream.h"
#include "scenario.h"

namespace tcplearn {

// Which directions are in a fade, a period in which they lose all packets.
class Fades {
 public:
  Fades(const Described& path, std::shared_ptr<Recorder> recorder);
  bool now(bool forward) const { return faded_[forward] > 0; }

 private:
  void begin(std::size_t side, Dated fade);
  void end(std::size_t side);
  void pause();
  void draw();

  std::shared_ptr<Recorder> recorder_;
  std::array<int, 2> faded_{};  // number of current fades in each direction
  std::array<bool, 2> drawn_sides_{};
  DrawnFades drawn_{};
  ns3::Ptr<ns3::UniformRandomVariable> draw_ = ns3::CreateObject<ns3::UniformRandomVariable>();
};

class HopChannel : public ns3::PointToPointChannel {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  // `source` is the attached device whose packets are delayed.
  void choose(const Direction& direction, bool forward, std::uint32_t source,
              std::shared_ptr<const Fades> fades, std::shared_ptr<Recorder> recorder);
  bool TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from,
                     ns3::Time transmission) override;

 private:
  double uniform() { return draw_->GetValue(0, 1); }
  bool over_rate(std::uint32_t bytes);
  bool lost(double rate);
  bool lost_in_burst(const LossBursts& bursts);
  double jitter(double jitter_ms);
  ns3::Time in_slot(ns3::Time arrives);

  Direction d_;
  bool forward_ = true;
  std::uint32_t source_ = 0;
  std::shared_ptr<const Fades> fades_;
  std::shared_ptr<Recorder> recorder_;
  bool bad_ = false;      // whether the loss model is in its bad state
  ns3::Time state_ends_;  // for a loss model whose states last for a time
  double tokens_ = 0;     // of the policer, in bytes
  ns3::Time filled_;      // when they were counted
  double last_normal_ = 0;
  ns3::Time last_, slot_;
  ns3::Ptr<ns3::UniformRandomVariable> draw_ = ns3::CreateObject<ns3::UniformRandomVariable>();
};

// Sets a device's rate to that of a direction, now and at each later change.
void follow_rate(const ns3::Ptr<ns3::PointToPointNetDevice>& device, const Direction& direction);

}  // namespace tcplearn

#endif
