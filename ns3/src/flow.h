// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A file transfer: it sends as fast as TCP permits, from its start until the last packet has arrived.
#ifndef TCPLEARN_NS3_FLOW_H
#define TCPLEARN_NS3_FLOW_H

#include <memory>

#include "flow_ends.h"

namespace tcplearn {

class Flow {
 public:
  Flow(std::shared_ptr<Recorder> recorder, std::uint32_t id, const Network& network,
       std::uint32_t segment_bytes);
  Flow(const Flow&) = delete;  // ns-3 has callbacks that point to it
  Flow& operator=(const Flow&) = delete;

 private:
  FlowRecord& record() { return recorder_->flows[id_]; }
  void start();
  void connected(ns3::Ptr<ns3::Socket> socket);
  void fill(ns3::Ptr<ns3::Socket> socket, std::uint32_t room);
  void died(ns3::Ptr<ns3::Socket> socket);
  void accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
  void received(ns3::Ptr<ns3::Socket> socket);

  std::shared_ptr<Recorder> recorder_;
  std::uint32_t id_;
  FlowEnds ends_;
  std::uint32_t segment_bytes_;
  std::uint64_t left_;
};

}  // namespace tcplearn

#endif
