// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Functions that make point-to-point links for the topologies.
#ifndef TCPLEARN_NS3_LINKS_H
#define TCPLEARN_NS3_LINKS_H

#include <cstdint>
#include <string>

#include "link_trace.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"

namespace tcplearn {

// queue of a device behind a queue discipline, like a driver's ring
constexpr const char* kRing = "2p";
constexpr const char* kRoomy = "100000p";  // access links never drop packets
constexpr double kAtOnceMbps = 100e3;  // rate of devices whose channel limits the rate, or that have no limit

std::string packets(std::uint32_t n);  // a queue size in ns-3's syntax

ns3::NetDeviceContainer link(const ns3::Ptr<ns3::Node>& a, const ns3::Ptr<ns3::Node>& b, double rate_mbps,
                             double delay_ms, const std::string& queue);

// Makes a link with another kind of channel.
ns3::NetDeviceContainer link_through(const ns3::Ptr<ns3::PointToPointChannel>& channel,
                                     const ns3::Ptr<ns3::Node>& a, const ns3::Ptr<ns3::Node>& b,
                                     double rate_mbps, double delay_ms, const std::string& queue);

// Makes a link that follows the trace file `trace` from a to b. Packets wait in the channel.
ns3::NetDeviceContainer traced_link(const ns3::Ptr<TraceChannel>& channel, const ns3::Ptr<ns3::Node>& a,
                                    const ns3::Ptr<ns3::Node>& b, double delay_ms,
                                    std::uint32_t queue_packets, const std::string& trace);

}  // namespace tcplearn

#endif
