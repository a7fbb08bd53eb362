// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Makes the topology of Figure 3 in hwang2018: a sender and a competing one, two routers, a receiver
// behind a lossy hop and a competing one:
//
//   sender (N0) ---+                        +--- last hop --- receiver (N3)
//                  router (N1) --- router (N2)
//   beside (N4) ---+       bottleneck       +---------------- beside (N6)
//
// A described path (docs/paths.md) has the same topology, but the delay and the losses of each direction
// come after its queue: in the last hop in forward direction, in the first hop in reverse direction.
#include <algorithm>
#include <cmath>

#include "hop_channel.h"
#include "links.h"
#include "moving_channel.h"
#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/pointer.h"
#include "ns3/queue-item.h"
#include "ns3/queue-size.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/traffic-control-layer.h"
#include "reorder_channel.h"
#include "scenario.h"

namespace tcplearn {

using namespace ns3;

namespace {

constexpr double kPacketBits = 8 * 1500;
constexpr std::uint32_t kLeastQueue = 4;
constexpr double kEdge = 0.05, kMiddle = 0.4;  // one-way delays as shares of the RTT

std::uint32_t queue_packets(const Path& p) {
  if (p.queue_bdp <= 0) return p.queue_packets;
  const double bdp = p.rate_mbps * 1e3 * p.rtt_ms / kPacketBits;
  return std::max(kLeastQueue, static_cast<std::uint32_t>(std::lround(p.queue_bdp * bdp)));
}

Ptr<ErrorModel> error_model(double rate, double burst_packets) {
  if (burst_packets <= 1) {
    const auto out = CreateObject<RateErrorModel>();
    out->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    out->SetRate(rate);
    return out;
  }
  const auto out = CreateObject<BurstErrorModel>();
  const auto size = CreateObject<UniformRandomVariable>();
  size->SetAttribute("Min", DoubleValue(1));
  size->SetAttribute(
      "Max",
      DoubleValue(2 * burst_packets));  // truncated to whole packets, so that the mean is burst_packets
  out->SetBurstRate(rate / burst_packets);
  out->SetRandomBurstSize(size);
  return out;
}

void lose(const Ptr<NetDevice>& receiver, const Path& p, const std::shared_ptr<DropLog>& drops) {
  if (p.loss_rate <= 0) return;
  receiver->SetAttribute("ReceiveErrorModel", PointerValue(error_model(p.loss_rate, p.loss_burst_packets)));
  receiver->TraceConnectWithoutContext(
      "PhyRxDrop", Callback<void, Ptr<const Packet>>(
                       [drops](Ptr<const Packet> packet) { drops->add(packet, DroppedBy::kChannel); }));
}

// Counts the drops of a device's queue whose node has no queue discipline and no flow control for it.
void watch_device(const Ptr<NetDevice>& device, const std::shared_ptr<DropLog>& drops) {
  device->TraceConnectWithoutContext(
      "MacTxDrop", Callback<void, Ptr<const Packet>>(
                       [drops](Ptr<const Packet> packet) { drops->add(packet, DroppedBy::kQueue); }));
}

// Counts the drops of the bottleneck's queue: in a traced channel, in a queue discipline or in the
// device. The layer above drops packets in place of a full device.
void watch_queue(const Ptr<Node>& router, const Ptr<QueueDisc>& discipline, const Ptr<TraceChannel>& traced,
                 const std::shared_ptr<DropLog>& drops) {
  const auto of_packet = [drops](Ptr<const Packet> packet) { drops->add(packet, DroppedBy::kQueue); };
  if (traced)
    traced->on_drop(of_packet);
  else if (discipline)
    discipline->TraceConnectWithoutContext(
        "Drop", Callback<void, Ptr<const QueueDiscItem>>(
                    [of_packet](Ptr<const QueueDiscItem> item) { of_packet(item->GetPacket()); }));
  else
    router->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
        "TcDrop", Callback<void, Ptr<const Packet>>(of_packet));
}

Ptr<QueueDisc> discipline_of(const Path& p, const NetDeviceContainer& bottleneck, std::uint32_t limit) {
  if (p.queue == "droptail" || !p.trace.empty()) return nullptr;
  TrafficControlHelper control;
  const std::string kind = p.queue == "codel" ? "CoDel" : p.queue == "pie" ? "Pie" : "FqCoDel";
  control.SetRootQueueDisc("ns3::" + kind + "QueueDisc", "MaxSize", StringValue(packets(limit)));
  return control.Install(bottleneck.Get(0)).Get(0);
}

// Sets rate and queue limit of the bottleneck's devices to those of a described path.
void describe_queues(const Described& d, const NetDeviceContainer& bottleneck, bool forward_in_device,
                     bool traced) {
  for (const std::uint32_t i : {0u, 1u}) {
    const auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(i));
    const Direction& direction = i == 0 ? d.forward : d.reverse;
    if (i == 0 && traced) continue;
    follow_rate(device, direction);
    if (i == 1 || forward_in_device) device->GetQueue()->SetMaxSize(QueueSize(direction.queue_limit));
  }
}

struct Edges {
  Ptr<PointToPointChannel> first, last;  // channel of the first and last hop; null for an ordinary link
};

Edges edges(const Path& p, const std::shared_ptr<Recorder>& recorder) {
  if (p.described) {
    const auto fades = std::make_shared<Fades>(*p.described, recorder);
    const auto first = CreateObject<HopChannel>(), last = CreateObject<HopChannel>();
    first->choose(p.described->reverse, false, 1, fades, recorder);
    last->choose(p.described->forward, true, 0, fades, recorder);
    return {first, last};
  }
  const auto moving = p.moving ? CreateObject<MovingChannel>() : nullptr;
  if (moving) moving->choose(*p.moving, recorder);
  const auto last = CreateObject<ReorderChannel>();
  last->choose(p.reorder_rate, MicroSeconds(std::llround(p.reorder_ms * 1e3)));
  return {moving, last};
}

}  // namespace

Network make_path(const Path& p, const std::shared_ptr<Recorder>& recorder) {
  const std::shared_ptr<DropLog>& drops = recorder->drops;
  NodeContainer hosts, routers;
  hosts.Create(4);  // sender, competing sender; receiver, competing receiver
  routers.Create(2);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(hosts);
  stack.Install(routers);

  const bool in_device = p.queue == "droptail";
  const std::uint32_t limit = in_device ? queue_packets(p) : p.queue_packets;
  const double access_mbps = std::max(100.0, 4 * p.rate_mbps);
  const double edge_ms = p.described ? 0 : p.rtt_ms * kEdge, middle_ms = p.described ? 0 : p.rtt_ms * kMiddle;
  const auto traced = p.trace.empty() ? nullptr : CreateObject<TraceChannel>();
  const NetDeviceContainer bottleneck =
      traced
          ? traced_link(traced, routers.Get(0), routers.Get(1), middle_ms, limit, p.trace)
          : link(routers.Get(0), routers.Get(1), p.rate_mbps, middle_ms, in_device ? packets(limit) : kRing);
  if (p.described) describe_queues(*p.described, bottleneck, in_device, traced != nullptr);
  const auto [first_hop, last_hop] = edges(p, recorder);
  const NetDeviceContainer first =
      first_hop ? link_through(first_hop, hosts.Get(0), routers.Get(0), access_mbps, edge_ms, kRoomy)
                : link(hosts.Get(0), routers.Get(0), access_mbps, edge_ms, kRoomy);
  const bool limits = p.last_hop_mbps > 0;
  const NetDeviceContainer last =
      link_through(last_hop, routers.Get(1), hosts.Get(2), limits ? p.last_hop_mbps : access_mbps, edge_ms,
                   limits ? packets(limit) : kRoomy);
  const NetDeviceContainer beside[] = {link(hosts.Get(1), routers.Get(0), access_mbps, edge_ms, kRoomy),
                                       link(routers.Get(1), hosts.Get(3), access_mbps, edge_ms, kRoomy)};

  const Ptr<QueueDisc> discipline = discipline_of(p, bottleneck, limit);
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  const auto assign = [&](const NetDeviceContainer& devices) {
    const Ipv4InterfaceContainer out = addresses.Assign(devices);
    addresses.NewNetwork();
    return out;
  };
  assign(bottleneck);
  // assigning addresses installs queue disciplines on links; keep only those chosen above
  if (!discipline && !traced) TrafficControlHelper().Uninstall(bottleneck.Get(0));
  if (p.described && !traced) TrafficControlHelper().Uninstall(bottleneck.Get(1));
  Network out;
  out.hosts = hosts;
  out.addresses = {assign(first).GetAddress(0), assign(beside[0]).GetAddress(0), assign(last).GetAddress(1),
                   assign(beside[1]).GetAddress(1)};
  // a link with one of this program's channels has no queue discipline
  for (const NetDeviceContainer& devices : {beside[0], beside[1]}) TrafficControlHelper().Uninstall(devices);
  if (!first_hop) TrafficControlHelper().Uninstall(first);
  out.senders = {0, 1};
  out.receivers = {2, 3};
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  watch_queue(routers.Get(0), discipline, traced, drops);
  if (p.described) watch_queue(routers.Get(1), nullptr, nullptr, drops);
  if (limits) watch_device(last.Get(0), drops);
  lose(p.loss_place == "first-hop"    ? first.Get(1)
       : p.loss_place == "bottleneck" ? bottleneck.Get(1)
                                      : last.Get(1),
       p, drops);
  const auto device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0));
  out.queued_bytes = [device, discipline, traced]() -> double {
    if (traced) return static_cast<double>(traced->queued_bytes());
    return device->GetQueue()->GetNBytes() + (discipline ? discipline->GetNBytes() : 0);
  };
  return out;
}

}  // namespace tcplearn
