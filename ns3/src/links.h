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

// a device's queue behind a queue discipline, like a driver's ring
constexpr const char* kRing = "2p";
constexpr const char* kRoomy = "100000p";  // access links never drop
constexpr double kAtOnceMbps = 100e3;      // of devices whose channel has the rate, or without a rate

std::string packets(std::uint32_t n);  // in ns-3's form of a queue size

ns3::NetDeviceContainer link(const ns3::Ptr<ns3::Node>& a, const ns3::Ptr<ns3::Node>& b, double rate_mbps,
                             double delay_ms, const std::string& queue);

// A link with another kind of channel.
ns3::NetDeviceContainer link_through(const ns3::Ptr<ns3::PointToPointChannel>& channel,
                                     const ns3::Ptr<ns3::Node>& a, const ns3::Ptr<ns3::Node>& b,
                                     double rate_mbps, double delay_ms, const std::string& queue);

// A link whose direction from a to b follows the trace at this path; packets wait in the channel, not in
// devices.
ns3::NetDeviceContainer traced_link(const ns3::Ptr<TraceChannel>& channel, const ns3::Ptr<ns3::Node>& a,
                                    const ns3::Ptr<ns3::Node>& b, double delay_ms,
                                    std::uint32_t queue_packets, const std::string& trace);

}  // namespace tcplearn

#endif
