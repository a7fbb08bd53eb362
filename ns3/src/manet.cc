// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Makes a mobile ad hoc network: 802.11b, AODV, and nodes that stand still or move by random waypoints.
#include <cmath>

#include "ns3/aodv-helper.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/pointer.h"
#include "ns3/position-allocator.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-helper.h"
#include "scenario.h"

namespace tcplearn {
namespace {

using namespace ns3;  // this file uses many names of ns-3

std::string uniform(double low, double high) {
  return "ns3::UniformRandomVariable[Min=" + std::to_string(low) + "|Max=" + std::to_string(high) + "]";
}

NetDeviceContainer install_wifi(const Manet& m, const NodeContainer& nodes) {
  Config::SetDefault("ns3::WifiMacQueue::MaxSize",
                     QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, m.queue_packets)));
  // the default of 0.5 s would drop packets at the end of long queues, and so the long RTTs under study
  Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(m.queue_delay_s)));
  YansWifiChannelHelper channel;
  channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
  channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(m.range_m));
  YansWifiPhyHelper phy;
  phy.SetChannel(channel.Create());
  WifiMacHelper mac;
  mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
  WifiHelper wifi;
  wifi.SetStandard(WIFI_STANDARD_80211b);
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(m.data_mode),
                               "ControlMode", StringValue(m.control_mode), "RtsCtsThreshold",
                               UintegerValue(m.rts_bytes), "MaxSsrc", UintegerValue(m.retries_short),
                               "MaxSlrc", UintegerValue(m.retries_long));
  return wifi.Install(phy, mac, nodes);
}

Ptr<PositionAllocator> anywhere(const Manet& m) {
  ObjectFactory factory("ns3::RandomRectanglePositionAllocator");
  factory.Set("X", StringValue(uniform(0, m.width_m)));
  factory.Set("Y", StringValue(uniform(0, m.height_m)));
  return factory.Create<PositionAllocator>();
}

// Places each node in the middle of a cell; the cells are as nearly square as the area permits.
Ptr<PositionAllocator> grid(const Manet& m) {
  const auto columns =
      static_cast<std::uint32_t>(std::lround(std::ceil(std::sqrt(m.nodes * m.width_m / m.height_m))));
  const std::uint32_t rows = (m.nodes + columns - 1) / columns;
  const double dx = m.width_m / columns, dy = m.height_m / rows;
  return CreateObjectWithAttributes<GridPositionAllocator>(
      "MinX", DoubleValue(dx / 2), "MinY", DoubleValue(dy / 2), "DeltaX", DoubleValue(dx), "DeltaY",
      DoubleValue(dy), "GridWidth", UintegerValue(columns), "LayoutType", StringValue("RowFirst"));
}

void place(const Manet& m, const NodeContainer& nodes) {
  MobilityHelper mobility;
  mobility.SetPositionAllocator(m.placement == "grid" ? grid(m) : anywhere(m));
  if (m.mobile)
    mobility.SetMobilityModel(
        "ns3::RandomWaypointMobilityModel", "Speed",
        StringValue(uniform(m.speed_mps.first, m.speed_mps.second)), "Pause",
        StringValue("ns3::ConstantRandomVariable[Constant=" + std::to_string(m.pause_s) + "]"),
        "PositionAllocator", PointerValue(anywhere(m)));
  else
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
  mobility.Install(nodes);
}

AodvHelper routing(const Manet& m) {
  AodvHelper aodv;
  aodv.Set("EnableHello", BooleanValue(m.hello));
  aodv.Set("ActiveRouteTimeout", TimeValue(Seconds(m.active_route_s)));
  aodv.Set("MaxQueueLen", UintegerValue(m.route_queue_packets));
  aodv.Set("MaxQueueTime", TimeValue(Seconds(m.route_queue_s)));
  return aodv;
}

}  // namespace

Network make_manet(const Manet& m) {
  // by default an unresponsive neighbour is not tried again for 100 s, which is long among moving nodes
  Config::SetDefault("ns3::ArpCache::DeadTimeout", TimeValue(Seconds(m.arp_dead_s)));
  Network out;
  out.hosts.Create(m.nodes);
  const NetDeviceContainer devices = install_wifi(m, out.hosts);
  place(m, out.hosts);
  InternetStackHelper stack;
  stack.SetRoutingHelper(routing(m));
  stack.SetIpv6StackInstall(false);
  stack.Install(out.hosts);
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
  const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
  TrafficControlHelper().Uninstall(devices);  // ns-3 would add FqCoDel; these radios have a single queue
  for (std::uint32_t i = 0; i < m.nodes; ++i) {
    out.addresses.push_back(interfaces.GetAddress(i));
    out.senders.push_back(i);
    out.receivers.push_back(i);
  }
  out.queued_bytes = [devices] {
    double bytes = 0;
    for (std::uint32_t i = 0; i < devices.GetN(); ++i)
      bytes += DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac()->GetTxopQueue(AC_BE_NQOS)->GetNBytes();
    return bytes / devices.GetN();
  };
  return out;
}

}  // namespace tcplearn
