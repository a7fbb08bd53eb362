// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "delaybox.h"

#include <algorithm>
#include <array>

#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

namespace tcplearn {

using ns3::Simulator;
using ns3::Time;

NS_OBJECT_ENSURE_REGISTERED(DelayBox);

namespace {

constexpr std::uint32_t kClient = 0, kServer = 1;  // index of the channel's devices
// offsets in a packet on the wire: PPP, then IPv4 without options
constexpr std::uint32_t kSourcePort = 22, kDestinationPort = 24, kOffset = 34, kFlags = 35, kEnd = 36;
constexpr std::uint32_t kIpEnd = 22;

struct Seen {
  std::uint16_t source, destination;
  bool syn;
  bool has_data;
};

Seen look(const ns3::Packet& packet) {
  std::array<std::uint8_t, kEnd> b{};
  packet.CopyData(b.data(), kEnd);
  const auto port = [&](std::uint32_t at) { return static_cast<std::uint16_t>(b[at] << 8 | b[at + 1]); };
  const std::uint32_t headers = kIpEnd + (b[kOffset] >> 4) * 4u;
  return {port(kSourcePort), port(kDestinationPort), (b[kFlags] & 2) != 0, packet.GetSize() > headers};
}

Time on_wire(std::uint32_t bytes, double bits_a_second) { return ns3::Seconds(bytes * 8 / bits_a_second); }

}  // namespace

Bottleneck::Second* Bottleneck::second(Time now) {
  if (now < from_ || now >= to_) return nullptr;
  const auto index = static_cast<std::size_t>((now - from_).GetSeconds());
  if (index >= seconds_.size()) seconds_.resize(index + 1);
  return &seconds_[index];
}

std::optional<Time> Bottleneck::take(std::uint32_t bytes) {
  const Time now = Simulator::Now();
  while (!leaving_.empty() && leaving_.front() <= now) leaving_.pop_front();
  Second* const second = this->second(now);
  if (second) ++second->arrived;
  if (leaving_.size() > queue_packets_) {  // one packet more than the queue holds is in transmission
    if (second) ++second->dropped;
    return std::nullopt;
  }
  const Time begins = leaving_.empty() ? now : leaving_.back();
  leaving_.push_back(begins + on_wire(bytes, bits_a_second_));
  if (second) second->sent_bytes += bytes;
  return leaving_.back() - now;
}

ns3::TypeId DelayBox::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::DelayBox")
                              .SetParent<ns3::PointToPointChannel>()
                              .SetGroupName("PointToPoint")
                              .AddConstructor<DelayBox>();
  return id;
}

bool DelayBox::TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from,
                             Time transmission) {
  const Seen seen = look(*packet);
  if (from == GetSource(kClient)) {
    Simulator::Schedule(transmission + path(seen.source).client_delay, &DelayBox::up, this, packet->Copy(),
                        seen.source, seen.syn);
    return true;
  }
  ConnectionPath& path = this->path(seen.destination);
  cloud_->data_segments += seen.has_data;
  path.server_free =
      std::max(path.server_free, Simulator::Now()) + on_wire(packet->GetSize(), path.server_bits_a_second);
  Simulator::Schedule(path.server_free - Simulator::Now() + path.server_delay, &DelayBox::down, this,
                      packet->Copy(), seen.destination, seen.syn);
  return true;
}

void DelayBox::down(ns3::Ptr<ns3::Packet> packet, std::uint16_t port, bool syn) {
  ConnectionPath& path = this->path(port);
  const bool forced = syn && path.loses_syn_ack;
  const bool lost = forced || (path.loss > 0 && cloud_->dice.uniform() < path.loss);
  const auto left = lost ? std::nullopt : cloud_->down.take(packet->GetSize());
  if (left) return deliver(packet, kClient, *left + path.client_delay);
  path.syn_acks_lost += syn;
  path.syn_acks_forced += forced;
  path.loses_syn_ack = path.loses_syn_ack && !forced;
}

void DelayBox::up(ns3::Ptr<ns3::Packet> packet, std::uint16_t port, bool syn) {
  ConnectionPath& path = this->path(port);
  const auto left = cloud_->up.take(packet->GetSize());
  if (left) return deliver(packet, kServer, *left + path.server_delay);
  path.syns_lost += syn;
}

void DelayBox::deliver(const ns3::Ptr<ns3::Packet>& packet, std::uint32_t to, Time after) {
  // the destination of a wire is the source of the other wire
  const ns3::Ptr<ns3::PointToPointNetDevice> device = GetSource(to);
  Simulator::ScheduleWithContext(device->GetNode()->GetId(), after, &ns3::PointToPointNetDevice::Receive,
                                 device, packet);
}

}  // namespace tcplearn
