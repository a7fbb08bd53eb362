// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Requests on a persistent connection, each answered with one byte, as linux/lab/guest/requests.c sends
// them. The server answers at once, or after a uniformly distributed time of zero to twice its mean. The
// next request is sent 0.5 to 1.5 think times after the answer, or, in a stream, after the previous
// request. Response times are measured at the application, from the first write.
#ifndef TCPLEARN_NS3_REQUEST_FLOW_H
#define TCPLEARN_NS3_REQUEST_FLOW_H

#include <memory>
#include <vector>

#include "flow_ends.h"
#include "ns3/random-variable-stream.h"

namespace tcplearn {

class RequestFlow {
 public:
  RequestFlow(std::shared_ptr<Recorder> recorder, std::uint32_t id, const Network& network, const Load& load);
  RequestFlow(const RequestFlow&) = delete;  // ns-3 has callbacks that point to it
  RequestFlow& operator=(const RequestFlow&) = delete;

 private:
  FlowRecord& record() { return recorder_->flows[id_]; }
  void start();
  void connected(ns3::Ptr<ns3::Socket> socket);
  void request();
  void write(ns3::Time asked);
  void answered(ns3::Ptr<ns3::Socket> socket);
  void finish();
  void accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
  void received(ns3::Ptr<ns3::Socket> socket);
  void answer(ns3::Ptr<ns3::Socket> socket);
  ns3::Time pause();

  std::shared_ptr<Recorder> recorder_;
  std::uint32_t id_;
  FlowEnds ends_;
  Load load_;
  ns3::Ptr<ns3::UniformRandomVariable> draw_ = ns3::CreateObject<ns3::UniformRandomVariable>();
  ns3::Ptr<ns3::UniformRandomVariable> answer_draw_ = ns3::CreateObject<ns3::UniformRandomVariable>();
  std::vector<ns3::Time> asked_;
  std::uint64_t answers_ = 0;  // answers by the server
};

}  // namespace tcplearn

#endif
