// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Point-to-point links as topologies build them.
#ifndef TCPLEARN_NS3_LINKS_H
#define TCPLEARN_NS3_LINKS_H

#include <cstdint>
#include <string>

#include "link_trace.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"

namespace tcplearn {

// a device may hold this much behind a queue discipline, as a driver's ring does
constexpr const char* kRing = "2p";
constexpr const char* kRoomy = "100000p";  // access links never drop
constexpr double kAtOnceMbps = 100e3;      // of devices whose channel has the rate, or that have none

std::string packets(std::uint32_t n);  // as ns-3 reads a queue's size

ns3::NetDeviceContainer link(const ns3::Ptr<ns3::Node>& a, const ns3::Ptr<ns3::Node>& b, double rate_mbps,
                             double delay_ms, const std::string& queue);

// By a channel of another kind.
ns3::NetDeviceContainer link_through(const ns3::Ptr<ns3::PointToPointChannel>& channel,
                                     const ns3::Ptr<ns3::Node>& a, const ns3::Ptr<ns3::Node>& b,
                                     double rate_mbps, double delay_ms, const std::string& queue);

// From a to b by the trace at this path: the channel holds packets, not the devices.
ns3::NetDeviceContainer traced_link(const ns3::Ptr<TraceChannel>& channel, const ns3::Ptr<ns3::Node>& a,
                                    const ns3::Ptr<ns3::Node>& b, double delay_ms,
                                    std::uint32_t queue_packets, const std::string& trace);

}  // namespace tcplearn

#endif
