// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "flow_ends.h"

#include "ns3/inet-socket-address.h"

namespace tcplearn {
namespace {

constexpr std::uint32_t kFirstPort = 2000;

std::uint16_t port_of(std::uint32_t flow) { return static_cast<std::uint16_t>(kFirstPort + flow); }

}  // namespace

FlowEnds::FlowEnds(const Network& network, const FlowRecord& record)
    : id_(record.id),
      from_(network.hosts.Get(record.source)),
      to_(network.hosts.Get(record.destination)),
      address_(network.addresses[record.destination]) {}

void FlowEnds::open(const Accepted& accepted) {
  listener_ = ns3::Socket::CreateSocket(to_, TcpSocketFactory::GetTypeId());
  listener_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port_of(id_)));
  listener_->Listen();
  listener_->SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                               accepted);
  socket_ = ns3::Socket::CreateSocket(from_, TcpSocketFactory::GetTypeId());
  ns3::DynamicCast<TcpSocket>(socket_)->record_as(id_);
}

bool FlowEnds::connect() {
  return socket_->Bind() == 0 && socket_->Connect(ns3::InetSocketAddress(address_, port_of(id_))) == 0;
}

}  // namespace tcplearn
