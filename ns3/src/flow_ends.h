// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The two sockets of a flow: one listens at the destination, one sends from the source.
#ifndef TCPLEARN_NS3_FLOW_ENDS_H
#define TCPLEARN_NS3_FLOW_ENDS_H

#include "scenario.h"

namespace tcplearn {

class FlowEnds {
 public:
  using Accepted = ns3::Callback<void, ns3::Ptr<ns3::Socket>, const ns3::Address&>;
  FlowEnds(const Network& network, const FlowRecord& record);

  std::uint32_t from_node() const { return from_->GetId(); }
  void open(const Accepted& accepted);
  bool connect();                          // false if it fails at once
  void accepted() { listener_->Close(); }  // a flow has one connection
  const ns3::Ptr<ns3::Socket>& socket() const { return socket_; }

 private:
  std::uint32_t id_;
  ns3::Ptr<ns3::Node> from_, to_;
  ns3::Ipv4Address address_;
  ns3::Ptr<ns3::Socket> socket_, listener_;
};

}  // namespace tcplearn

#endif
