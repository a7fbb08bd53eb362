// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "reorder_channel.h"

#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"

namespace tcplearn {

NS_OBJECT_ENSURE_REGISTERED(ReorderChannel);

ns3::TypeId ReorderChannel::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::ReorderChannel")
                              .SetParent<ns3::PointToPointChannel>()
                              .SetGroupName("PointToPoint")
                              .AddConstructor<ReorderChannel>();
  return id;
}

void ReorderChannel::choose(double rate, ns3::Time longer) {
  rate_ = rate;
  longer_ = longer;
}

bool ReorderChannel::TransmitStart(ns3::Ptr<const ns3::Packet> packet,
                                   ns3::Ptr<ns3::PointToPointNetDevice> from, ns3::Time transmission) {
  const bool late = rate_ > 0 && from == GetSource(0) && draw_->GetValue() < rate_;
  return ns3::PointToPointChannel::TransmitStart(packet, from, late ? transmission + longer_ : transmission);
}

}  // namespace tcplearn
