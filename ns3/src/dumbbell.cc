// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Makes the dumbbell topology: hosts on two sides of a bottleneck, which has a fixed rate or follows a
// link trace, with a drop-tail or CoDel queue.
#include "links.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/traffic-control-layer.h"
#include "scenario.h"

namespace tcplearn {

using namespace ns3;

Network make_dumbbell(const Dumbbell& d) {
  NodeContainer left, right, routers;
  left.Create(d.hosts_per_side);
  right.Create(d.hosts_per_side);
  routers.Create(2);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  for (const NodeContainer& part : {left, right, routers}) stack.Install(part);

  const bool codel = d.queue == "codel";
  const auto traced = d.trace.empty() ? nullptr : CreateObject<TraceChannel>();
  const NetDeviceContainer bottleneck =
      traced ? traced_link(traced, routers.Get(0), routers.Get(1), d.delay_ms, d.queue_packets, d.trace)
             : link(routers.Get(0), routers.Get(1), d.rate_mbps, d.delay_ms,
                    codel ? kRing : packets(d.queue_packets));
  QueueDiscContainer disciplines;
  if (codel) {
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue(packets(d.queue_packets)));
    disciplines = control.Install(bottleneck);
  }
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  addresses.Assign(bottleneck);
  // the studied queue is the device's own; a traced link has no queue discipline to remove
  if (!codel && !traced) TrafficControlHelper().Uninstall(bottleneck);

  Network out;
  const auto access = [&](const NodeContainer& side, Ptr<Node> router, std::vector<std::uint32_t>& role) {
    for (std::uint32_t i = 0; i < side.GetN(); ++i) {
      const NetDeviceContainer devices = link(side.Get(i), router, d.access_mbps, d.access_ms, kRoomy);
      addresses.NewNetwork();
      const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
      TrafficControlHelper().Uninstall(devices);
      role.push_back(out.hosts.GetN());
      out.hosts.Add(side.Get(i));
      out.addresses.push_back(interfaces.GetAddress(0));
    }
  };
  access(left, routers.Get(0), out.senders);
  access(right, routers.Get(1), out.receivers);
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  const auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
  const Ptr<QueueDisc> discipline = codel ? disciplines.Get(0) : nullptr;
  out.queued_bytes = [device, discipline, traced]() -> double {
    if (traced) return static_cast<double>(traced->queued_bytes());
    return device->GetQueue()->GetNBytes() + (discipline ? discipline->GetNBytes() : 0);
  };
  return out;
}

}  // namespace tcplearn
