// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "links.h"

#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/mac48-address.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"

namespace tcplearn {

using namespace ns3;

namespace {
std::string mbps(double rate) { return std::to_string(static_cast<std::uint64_t>(rate * 1e6)) + "bps"; }
std::string ms(double delay) { return std::to_string(static_cast<std::uint64_t>(delay * 1e3)) + "us"; }
}  // namespace

std::string packets(std::uint32_t n) { return std::to_string(n) + "p"; }

NetDeviceContainer link(const Ptr<Node>& a, const Ptr<Node>& b, double rate_mbps, double delay_ms,
                        const std::string& queue) {
  PointToPointHelper helper;
  helper.SetDeviceAttribute("DataRate", StringValue(mbps(rate_mbps)));
  helper.SetChannelAttribute("Delay", StringValue(ms(delay_ms)));
  helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
  return helper.Install(a, b);
}

NetDeviceContainer link_through(const Ptr<PointToPointChannel>& channel, const Ptr<Node>& a,
                                const Ptr<Node>& b, double rate_mbps, double delay_ms,
                                const std::string& queue) {
  NetDeviceContainer out;
  channel->SetAttribute("Delay", StringValue(ms(delay_ms)));
  for (const Ptr<Node>& node : {a, b}) {
    const auto device = CreateObject<PointToPointNetDevice>();
    const auto waiting = CreateObject<DropTailQueue<Packet>>();
    waiting->SetMaxSize(QueueSize(queue));
    device->SetAddress(Mac48Address::Allocate());
    device->SetDataRate(DataRate(mbps(rate_mbps)));
    device->SetQueue(waiting);
    node->AddDevice(device);
    device->Attach(channel);
    out.Add(device);
  }
  return out;
}

NetDeviceContainer traced_link(const Ptr<TraceChannel>& channel, const Ptr<Node>& a, const Ptr<Node>& b,
                               double delay_ms, std::uint32_t queue_packets, const std::string& trace) {
  channel->follow(read_link_trace(trace), queue_packets);
  return link_through(channel, a, b, kAtOnceMbps, delay_ms, packets(100));
}

}  // namespace tcplearn
