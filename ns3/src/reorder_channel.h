// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A link on which some packets are delayed longer, so that later packets overtake them.
#ifndef TCPLEARN_NS3_REORDER_CHANNEL_H
#define TCPLEARN_NS3_REORDER_CHANNEL_H

#include "ns3/net-device.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/random-variable-stream.h"

namespace tcplearn {

// The channel reorders only packets from the first attached device to the second.
class ReorderChannel : public ns3::PointToPointChannel {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  void choose(double rate, ns3::Time longer);
  bool TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from,
                     ns3::Time transmission) override;

 private:
  double rate_ = 0;
  ns3::Time longer_;
  ns3::Ptr<ns3::UniformRandomVariable> draw_ = ns3::CreateObject<ns3::UniformRandomVariable>();
};

}  // namespace tcplearn

#endif
