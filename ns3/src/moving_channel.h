// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A link whose delay varies, packet by packet and in steps, and which loses every packet sent in a fade.
// Fades are intervals of time, so a retransmission does not end one. Delays and fades are drawn from
// separate random streams, so every algorithm meets the same fades. Packets keep their order.
#ifndef TCPLEARN_NS3_MOVING_CHANNEL_H
#define TCPLEARN_NS3_MOVING_CHANNEL_H

#include <array>
#include <memory>

#include "ns3/net-device.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/random-variable-stream.h"
#include "scenario.h"

namespace tcplearn {

class MovingChannel : public ns3::PointToPointChannel {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  void choose(const Moving& moving, std::shared_ptr<Recorder> recorder);
  bool TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from,
                     ns3::Time transmission) override;

 private:
  void fade();
  void clear();
  ns3::Time longer(bool forward);

  Moving moving_{};
  std::shared_ptr<Recorder> recorder_;
  bool faded_ = false;
  std::array<ns3::Time, 2> last_;  // last arrival in each direction
  ns3::Ptr<ns3::UniformRandomVariable> draw_ = ns3::CreateObject<ns3::UniformRandomVariable>();
  ns3::Ptr<ns3::ExponentialRandomVariable> tail_ = ns3::CreateObject<ns3::ExponentialRandomVariable>();
  ns3::Ptr<ns3::UniformRandomVariable> fade_draw_ = ns3::CreateObject<ns3::UniformRandomVariable>();
};

}  // namespace tcplearn

#endif
